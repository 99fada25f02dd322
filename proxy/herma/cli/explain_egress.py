"""`herma explain egress`: what would become of requests that the agent sent or would send."""

import argparse
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from herma.cli.outgoing import Becomes, Outgoing, Outgoings
from herma.cli.reason import reason_lines, rules_as_json
from herma.cli.recorded_json import EXPECTED, recorded_json
from herma.cli.sources import Sources, open_sources, report
from herma.cli.terminal import FINDINGS, FINE, USAGE, Terminal
from herma.config.egress import Egress
from herma.config.settings import Settings
from herma.config.upstream import Upstream
from herma.config.values import Tcp, UpstreamUrl
from herma.egress.judges import read_judges
from herma.egress.recorded import Recorded
from herma.egress.rehearsal import Rehearsal
from herma.egress.watching import WatchedFiles
from herma.errors import ConfigError, ContentError, Problem, Source
from herma.policy.egress.watched import Watched

__all__ = ["MAX_RECORD_BYTES", "MAX_REQUESTS", "explain_egress"]

# A recording of some minutes.
MAX_RECORD_BYTES: Final = 16 * 1024 * 1024
MAX_REQUESTS: Final = 1000


def explain_egress(raw: bytes, arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Explain each request; 1 when one of them would be refused."""
    try:
        requests = _requests(raw)
    except ValueError as problem:
        text = str(problem)
        terminal.note(f"herma: {arguments.file}:{'' if text[:1].isdigit() else ' '}{text}")
        return USAGE
    try:
        outgoings = _outgoings(open_sources(arguments))
    except (ConfigError, ContentError) as error:
        return report(error, arguments, terminal)
    explained = [outgoings.of(request) for request in requests]
    if arguments.json:
        terminal.json({"requests": [_as_json(one) for one in explained]})
    else:
        for index, one in enumerate(explained):
            if len(explained) > 1:
                terminal.out(f"request {index + 1} of {len(explained)}")
            for line in _lines(one):
                terminal.out(line)
            if index + 1 < len(explained):
                terminal.out("")
    return FINDINGS if any(one.becomes is Becomes.REFUSED for one in explained) else FINE


def _requests(raw: bytes) -> list[Recorded]:
    """Read what was recorded, by what it begins with.

    Raises:
        ValueError: it is none of the forms that are known, or too much.
    """
    if raw.lstrip()[:1] in {b"{", b"["}:
        found = recorded_json(raw)
    elif raw[:1].isdigit():
        # A flow is written as a netstring: its length comes first.
        found = _flows(raw)
    else:
        raise ValueError(f"expected {EXPECTED}, a HAR file, or flows of mitmproxy")
    requests: list[Recorded] = []
    for request in found:
        requests.append(request)
        if len(requests) > MAX_REQUESTS:
            raise ValueError(f"more than {MAX_REQUESTS} requests; explain fewer at a time")
    if not requests:
        raise ValueError("no requests in it")
    return requests


def _flows(raw: bytes) -> Iterator[Recorded]:
    try:
        from herma.egress.flow_file import recorded_flows
    except ModuleNotFoundError:
        raise ValueError(
            "flows of mitmproxy are read where it is installed: pip install 'herma[egress]'"
        ) from None
    return recorded_flows(raw)


def _outgoings(sources: Sources) -> Outgoings:
    settings = sources.settings or Settings(Upstream(UpstreamUrl(Tcp("127.0.0.1", 8642))))
    egress = settings.egress or Egress()
    # The key that was named for this command goes before the one of the configuration.
    settings = replace(settings, redaction=replace(settings.redaction, fingerprint_key=sources.key))
    judges = read_judges(settings, egress, sources.key, _watched(sources, egress))
    return Outgoings(judges, Rehearsal(judges, egress), sources.redactor(), sources.library)


def _watched(sources: Sources, egress: Egress) -> Watched:
    try:
        return WatchedFiles(sources.key, egress.watch).read()
    except (OSError, ValueError) as error:
        # Without them an answer would be a guess.
        text = f"a watched file cannot be read: {error.strerror if isinstance(error, OSError) else error}"
        place = sources.settings.path if sources.settings is not None else ""
        raise ConfigError([Problem(Source(place), "egress.watch", text)]) from None


def _as_json(explained: Outgoing) -> dict[str, Any]:
    return {
        "verdict": explained.becomes,
        "code": explained.code,
        "message": explained.message,
        "hint": explained.hint,
        "kind": explained.kind,
        "platform": explained.platform,
        "method": explained.method,
        "url": explained.url,
        "body": explained.body,
        "in_use": explained.kept,
        "findings": [
            {
                "rule": reason.finding.rule_id,
                "level": reason.finding.level,
                "attack": reason.finding.attack,
                "where": reason.finding.shown_place,
            }
            for reason in explained.reasons
        ],
        "rules": rules_as_json(explained.reasons),
        "held": list(explained.held),
        "notes": list(explained.notes),
    }


def _lines(explained: Outgoing) -> Iterator[str]:
    yield f"verdict: {explained.becomes}" + (f" ({explained.code})" if explained.code else "")
    if explained.message:
        yield f"    {explained.message}"
    if explained.hint:
        yield f"    {explained.hint}"
    yield f"to: {_KINDS.get(explained.kind, 'nowhere')}{f' {explained.platform}' if explained.platform else ''}"
    yield from (f"    {note}" for note in explained.notes)
    yield (
        "without its secrets:"
        if explained.becomes is Becomes.REFUSED
        else "sent, here without what is in use:"
    )
    yield f"    {explained.method} {explained.url}"
    yield from (f"    {line}" for line in explained.body.split("\n") if explained.body)
    if explained.kept:
        yield f"in use, and sent as they are: {explained.kept}"
    if explained.held:
        yield f"held: {', '.join(explained.held)}; `herma rules show ID` tells what each is"
    for reason in explained.reasons:
        yield ""
        yield from reason_lines(reason)


_KINDS: Final = {
    "model": "a model",
    "platform": "the platform",
    "service": "a service that asks for a key",
    "other": "a stranger",
}
