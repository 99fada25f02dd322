"""`herma hygiene HOME`: what others of this machine can read or change in the home of an agent server."""

import argparse

from herma.cli.terminal import FINDINGS, FINE, USAGE, Terminal
from herma.posture import Flaw, HomeError, Report, Untidy, tidy

__all__ = ["add_arguments", "hygiene"]

_TOLD = {
    Flaw.OWNER: "belongs to another user than the home; give it to the home's owner, or find out who put it there",
    Flaw.LINK: "is a link; put the file itself there",
    Flaw.HARD_LINK: "has a second name somewhere; copy it, put the copy in its place and narrow that",
    Flaw.KIND: "is no regular file; find out who put it there",
    Flaw.UNSEEN: "could not be looked at in full",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("home", metavar="HOME", help="the home of the agent server, such as ~/.hermes")
    parser.add_argument("--fix", action="store_true", help="narrow modes that are too wide")
    parser.add_argument("--json", action="store_true", help="answer in JSON")


def hygiene(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Look, narrow if asked to, and tell."""

    def progress(looked: int) -> None:
        terminal.note(f"herma: looked at {looked} names")

    try:
        report = tidy(arguments.home, fix=arguments.fix, progress=progress)
    except HomeError as error:
        terminal.note(f"herma: {arguments.home} {error}")
        return USAGE
    if arguments.json:
        terminal.json(_answer(report))
    else:
        for one in report.found:
            terminal.out(f"{one.path}: {_line(one, fix=arguments.fix)}")
        repaired = len(report.found) - len(report.left)
        terminal.note(
            f"herma: {report.private} private files and directories, {repaired} repaired, {len(report.left)} left"
        )
    return FINDINGS if report.left else FINE


def _line(one: Untidy, *, fix: bool) -> str:
    if one.flaw is not Flaw.MODE:
        return _TOLD[one.flaw]
    if one.fixed:
        return f"mode {one.mode:04o} was made {one.wanted:04o}"
    return f"mode {one.mode:04o}, expected {one.wanted:04o}" + (
        "; it could not be changed" if fix else "; --fix narrows it"
    )


def _answer(report: Report) -> dict[str, object]:
    return {
        "ok": not report.left,
        "looked": report.looked,
        "private": report.private,
        "found": [
            {
                "path": one.path,
                "flaw": one.flaw,
                "mode": f"{one.mode:04o}",
                "wanted": f"{one.wanted:04o}",
                "fixed": one.fixed,
            }
            for one in report.found
        ],
    }
