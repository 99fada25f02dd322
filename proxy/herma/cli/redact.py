"""`herma redact`: a filter that takes the secrets out of a terminal's output or a log.

Text leaves as soon as it cannot become a secret any more, at the latest after the deadline of the channel, also when nothing
follows it. Bytes that are no UTF-8 pass as they are; text in two or four bytes a character is read as that. What is held is bounded, whatever comes.
"""

import argparse
import codecs
import json
import select
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Final

from herma.cli.line_reader import MAX_LINE_BYTES, TooLong, line_batches
from herma.cli.sources import add_source_options, open_sources, report
from herma.cli.terminal import FINDINGS, FINE, Terminal
from herma.errors import ConfigError, ContentError
from herma.policy.decision import Finding
from herma.policy.redaction.charset import wide_encoding
from herma.policy.redaction.redactor import Redactor
from herma.policy.redaction.stream import StreamRedactor

__all__ = ["add_arguments", "redact"]

# As much as a pipe holds. A larger piece would be redacted in one go, while nothing leaves.
CHUNK_BYTES: Final = 64 * 1024
# Bytes that are no UTF-8 become one stand-in character each, and the same bytes again.
_ANY_BYTES: Final = "surrogateescape"
# What is no text among characters of two bytes.
_STAND_IN: Final = "replace"
_WITHHELD: Final = json.dumps({"herma": f"a line of more than {MAX_LINE_BYTES} bytes was withheld"}).encode()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="what to read, `-` for standard input (default: standard input)",
    )
    parser.add_argument(
        "--json-lines",
        action="store_true",
        help="each line is JSON and stays JSON: strings are judged with their names",
    )
    parser.add_argument(
        "--json", action="store_true", help="at the end, say on standard error in JSON what was masked"
    )
    add_source_options(parser, fingerprints=True)


def redact(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Copy the input without its secrets; 1 when a file could not be read or a line was withheld."""
    try:
        redactor = open_sources(arguments).redactor()
    except (ConfigError, ContentError) as error:
        return report(error, arguments, terminal)
    copy = _Lines(redactor, terminal) if arguments.json_lines else _Text(redactor, terminal)
    code = FINE
    for name in arguments.files or ["-"]:
        try:
            if name == "-":
                copy(terminal.input)
            else:
                with Path(name).open("rb", buffering=0) as stream:
                    copy(stream)
        except BrokenPipeError:
            raise
        except OSError as error:
            terminal.note(f"herma: cannot read {name}: {error.strerror}")
            code = FINDINGS
    if arguments.json:
        terminal.note(json.dumps({"masked": dict(sorted(copy.masked.items())), "withheld": copy.withheld}))
    return FINDINGS if copy.withheld else code


class _Copy:
    """Copies streams to standard output; counts what was masked, by rule."""

    def __init__(self, redactor: Redactor, terminal: Terminal) -> None:
        self._redactor = redactor
        self._terminal = terminal
        self.masked: Counter[str] = Counter()
        self.withheld = 0

    def __call__(self, stream: BinaryIO) -> None:
        raise NotImplementedError

    def _count(self, findings: Iterable[Finding]) -> None:
        self.masked.update(finding.rule_id for finding in findings)


class _Text(_Copy):
    """Copies text, whatever its lines."""

    def __call__(self, stream: BinaryIO) -> None:
        encoding, errors = "utf-8", _ANY_BYTES
        decoder = codecs.getincrementaldecoder(encoding)(errors)
        begun = False
        channel = StreamRedactor(self._redactor)
        try:
            for chunk in _pieces(stream, channel.deadline):
                now = time.monotonic()
                if chunk is not None:
                    if not begun and (wide := wide_encoding(chunk)):
                        encoding, errors = wide, _STAND_IN
                        decoder = codecs.getincrementaldecoder(encoding)(errors)
                    begun = True
                    self._release(channel.feed(decoder.decode(chunk), now), encoding, errors)
                self._release(channel.tick(now), encoding, errors)
        finally:
            # Also when somebody stops it: what was read has been read by nobody else.
            rest = channel.feed(decoder.decode(b"", final=True), time.monotonic())
            self._release(rest + channel.finish(), encoding, errors)
            self._count(channel.take_findings())

    def _release(self, text: str, encoding: str, errors: str) -> None:
        if text:
            self._terminal.write(text.encode(encoding, errors))
            self._terminal.flush()


class _Lines(_Copy):
    """Copies lines of JSON; a line that is none is masked as text."""

    def __call__(self, stream: BinaryIO) -> None:
        for batch in line_batches(stream):
            self._terminal.write(b"".join(self._masked(line) + b"\n" for line in batch))
            self._terminal.flush()

    def _masked(self, line: bytes | TooLong) -> bytes:
        if isinstance(line, TooLong):
            self.withheld += 1
            return _WITHHELD
        masked, findings = self._redactor.json(line)
        self._count(findings)
        return masked


def _pieces(stream: BinaryIO, deadline: Callable[[], float | None]) -> Iterator[bytes | None]:
    """Give what arrives, as it arrives; None when the deadline has come and nothing has."""
    read = getattr(stream, "read1", stream.read)
    descriptor = _descriptor(stream)
    while True:
        due = deadline()
        if descriptor is not None and due is not None:
            ready, _, _ = select.select([descriptor], [], [], max(0.0, due - time.monotonic()))
            if not ready:
                yield None
                continue
        chunk = read(CHUNK_BYTES)
        if not chunk:
            return
        yield chunk


def _descriptor(stream: BinaryIO) -> int | None:
    """Give what can be waited for; a stream in memory never lets anybody wait."""
    try:
        return stream.fileno()
    except (OSError, ValueError):
        return None
