"""The commands of `herma` and their options.

Each command is imported when it is called: `herma key new` does not load a server. A secret is never an argument: other users
of a machine can read the arguments of every process.
"""

import argparse
from collections.abc import Callable, Sequence

from herma import __version__
from herma.cli.terminal import FINDINGS, USAGE, Terminal

__all__ = ["main"]

type _Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001 - argparse gives it no public name
type _Command = Callable[[argparse.Namespace, Terminal], int]


def main(argv: Sequence[str] | None = None, terminal: Terminal | None = None) -> int:
    """Run one command; return its exit code: 0 fine, 1 findings, 2 usage, 78 configuration."""
    terminal = terminal or Terminal()
    try:
        arguments = _parser().parse_args(argv)
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else USAGE
    command: _Command = arguments.command
    try:
        code = command(arguments, terminal)
        terminal.flush()
    except ImportError as error:
        # Most of all the parsers: without one the gate does not start with a weaker one.
        terminal.note(
            f"herma: {error.name or 'a package'} cannot be loaded; install herma and its packages again"
        )
        return FINDINGS
    except BrokenPipeError:
        # Whoever read has gone, as `head` does; nothing is left to say, and nobody to say it to.
        terminal.abandon()
        return 141  # what a shell reports for SIGPIPE
    except KeyboardInterrupt:
        terminal.note("stopped")
        return 130  # what a shell reports for SIGINT
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="herma",
        description="A hardening gate in front of an agent server.",
        epilog="Exit codes: 0 fine, 1 findings, 2 usage, 78 configuration.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"herma {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    _add_init(commands)
    _add_run(commands)
    _add_check(commands)
    _add_status(commands)
    _add_console(commands)
    _add_key(commands)
    _add_token(commands)
    _add_schema(commands)
    _add_ioc(commands)
    _add_tools(commands)
    return parser


def _command(commands: _Subparsers, name: str, what: str, command: _Command) -> argparse.ArgumentParser:
    parser = commands.add_parser(
        name, help=what, description=f"{what[0].upper()}{what[1:]}.", allow_abbrev=False
    )
    parser.set_defaults(command=command)
    return parser


def _with_config(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--config", default="herma.yaml", metavar="FILE", help="the configuration (default: herma.yaml)"
    )
    _with_json(parser)


def _with_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="answer in JSON")


def _add_init(commands: _Subparsers) -> None:
    parser = _command(commands, "init", "write a configuration and a key", _init)
    _with_config(parser)
    parser.add_argument(
        "--upstream", metavar="URL", help="the agent server (default: look on 127.0.0.1:8642)"
    )
    parser.add_argument("--upstream-key-file", metavar="FILE", help="file that holds the agent server's key")
    parser.add_argument(
        "--listen",
        default="127.0.0.1:8643",
        metavar="ADDRESS",
        help="where to serve (default: 127.0.0.1:8643)",
    )
    parser.add_argument(
        "--public-name", action="append", default=[], metavar="NAME", help="name that callers use"
    )
    parser.add_argument("--yes", action="store_true", help="replace an existing configuration without asking")


def _add_run(commands: _Subparsers) -> None:
    parser = commands.add_parser("run", help="serve", add_help=False, prefix_chars="\0")
    # The options belong to the command, which brings the whole server along: it reads them itself.
    parser.add_argument("rest", nargs=argparse.REMAINDER)
    parser.set_defaults(command=_run)


def _add_ioc(commands: _Subparsers) -> None:
    what = "look at indicators, import, pin and sign them"
    parser = commands.add_parser("ioc", help=what, add_help=False, prefix_chars="\0")
    # As with `run`: the options stand where the command is.
    parser.add_argument("rest", nargs=argparse.REMAINDER)
    parser.set_defaults(command=_ioc)


def _add_check(commands: _Subparsers) -> None:
    parser = _command(commands, "check", "judge a configuration and tell every problem", _check)
    _with_config(parser)
    parser.add_argument("--insecure", action="store_true", help="accepted for compatibility; changes nothing")


def _add_status(commands: _Subparsers) -> None:
    parser = _command(commands, "status", "show the state of a running gate", _status)
    _with_config(parser)
    parser.add_argument("--admin", metavar="ADDRESS", help="the admin listener (default: as configured)")


def _add_console(commands: _Subparsers) -> None:
    parser = _command(commands, "console", "print a token that opens the console of a running gate", _console)
    _with_config(parser)
    parser.add_argument("--admin", metavar="ADDRESS", help="the admin listener (default: as configured)")


def _add_schema(commands: _Subparsers) -> None:
    _command(commands, "schema", "print the JSON Schema of the configuration", _schema)


def _add_key(commands: _Subparsers) -> None:
    keys = commands.add_parser("key", help="make and judge keys", allow_abbrev=False)
    actions = keys.add_subparsers(metavar="ACTION", required=True)
    new = _command(actions, "new", "make a key of 256 bits", _key_new)
    new.add_argument(
        "--out", metavar="FILE", help="write it to a new file (mode 0600) instead of standard output"
    )
    _with_json(new)
    password = _command(
        actions, "password", "hash a password for the login page, typed or from standard input", _key_password
    )
    password.add_argument(
        "--out", metavar="FILE", help="write the hash to a new file (mode 0600) instead of standard output"
    )
    _with_json(password)
    stored = _command(actions, "hash", "hash a key from standard input or a file", _key_hash)
    judged = _command(actions, "check", "estimate a key from standard input or a file", _key_check)
    for parser in (stored, judged):
        parser.add_argument(
            "--file", metavar="FILE", help="file that holds the key (default: standard input)"
        )
        _with_json(parser)
    judged.add_argument(
        "--floor", type=int, default=64, metavar="BITS", help="weakest key that is fine (default: 64)"
    )


def _add_token(commands: _Subparsers) -> None:
    tokens = commands.add_parser("token", help="make what starts a job from outside", allow_abbrev=False)
    actions = tokens.add_subparsers(metavar="ACTION", required=True)
    job = _command(actions, "job", "make a key that starts one scheduled job", _token_job)
    job.add_argument("job_id", metavar="JOB_ID", help="the job, as the agent server names it")
    job.add_argument(
        "--out", metavar="FILE", help="write the key to a new file (mode 0600) instead of standard output"
    )
    _with_json(job)


def _add_tools(commands: _Subparsers) -> None:
    """Declare the commands that judge without a gate; each reads its options itself, as `run` does."""
    for name, what, command in (
        ("judge", "judge server entries, prompts or texts, a JSON line each", _judge),
        ("redact", "copy a stream without its secrets", _redact),
        ("explain", "show why one input is judged as it is", _explain),
        ("rules", "list, show and prove rules", _rules),
        ("ca", "what the agent needs to trust the egress gate and to go through it", _ca),
        ("hygiene", "find, and close, what others can read in an agent server's home", _hygiene),
    ):
        parser = commands.add_parser(name, help=what, add_help=False, prefix_chars="\0")
        parser.add_argument("rest", nargs=argparse.REMAINDER)
        parser.set_defaults(command=command, name=name, what=what)


def _judge(arguments: argparse.Namespace, terminal: Terminal) -> int:
    from herma.cli.judge import add_arguments, judge

    return _with_options(add_arguments, judge, arguments, terminal)


def _redact(arguments: argparse.Namespace, terminal: Terminal) -> int:
    from herma.cli.redact import add_arguments, redact

    return _with_options(add_arguments, redact, arguments, terminal)


def _explain(arguments: argparse.Namespace, terminal: Terminal) -> int:
    from herma.cli.explain import add_arguments, explain

    return _with_options(add_arguments, explain, arguments, terminal)


def _rules(arguments: argparse.Namespace, terminal: Terminal) -> int:
    from herma.cli.rules import add_arguments, rules

    return _with_options(add_arguments, rules, arguments, terminal)


def _ca(arguments: argparse.Namespace, terminal: Terminal) -> int:
    from herma.cli.ca import add_arguments, ca

    return _with_options(add_arguments, ca, arguments, terminal)


def _hygiene(arguments: argparse.Namespace, terminal: Terminal) -> int:
    from herma.cli.hygiene import add_arguments, hygiene

    return _with_options(add_arguments, hygiene, arguments, terminal)


def _with_options(
    declare: Callable[[argparse.ArgumentParser], None],
    command: _Command,
    arguments: argparse.Namespace,
    terminal: Terminal,
) -> int:
    what: str = arguments.what
    parser = argparse.ArgumentParser(
        prog=f"herma {arguments.name}", description=f"{what[0].upper()}{what[1:]}.", allow_abbrev=False
    )
    declare(parser)
    try:
        options = parser.parse_args(arguments.rest)
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else USAGE
    return command(options, terminal)


def _init(arguments: argparse.Namespace, terminal: Terminal) -> int:
    from herma.cli.init import init

    return init(arguments, terminal)


def _run(arguments: argparse.Namespace, _terminal: Terminal) -> int:
    from herma.cli.run import add_arguments, run

    parser = argparse.ArgumentParser(prog="herma run", description="Serve.", allow_abbrev=False)
    add_arguments(parser)
    try:
        options = parser.parse_args(arguments.rest)
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else USAGE
    return run(options)


def _ioc(arguments: argparse.Namespace, terminal: Terminal) -> int:
    from herma.cli.ioc import ioc

    return ioc(arguments.rest, terminal)


def _check(arguments: argparse.Namespace, terminal: Terminal) -> int:
    from herma.cli.check import check

    return check(arguments, terminal)


def _status(arguments: argparse.Namespace, terminal: Terminal) -> int:
    from herma.cli.status import status

    return status(arguments, terminal)


def _console(arguments: argparse.Namespace, terminal: Terminal) -> int:
    from herma.cli.console import console

    return console(arguments, terminal)


def _schema(_arguments: argparse.Namespace, terminal: Terminal) -> int:
    from herma.config.schema import schema

    terminal.json(schema())
    return 0


def _key_new(arguments: argparse.Namespace, terminal: Terminal) -> int:
    from herma.cli.key import key_new

    return key_new(arguments, terminal)


def _token_job(arguments: argparse.Namespace, terminal: Terminal) -> int:
    from herma.cli.token import token_job

    return token_job(arguments, terminal)


def _key_hash(arguments: argparse.Namespace, terminal: Terminal) -> int:
    from herma.cli.key import key_hash

    return key_hash(arguments, terminal)


def _key_password(arguments: argparse.Namespace, terminal: Terminal) -> int:
    from herma.cli.password import key_password

    return key_password(arguments, terminal)


def _key_check(arguments: argparse.Namespace, terminal: Terminal) -> int:
    from herma.cli.key import key_check

    return key_check(arguments, terminal)
