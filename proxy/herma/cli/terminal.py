"""What a person sees: plain lines, without a byte that a terminal would obey, whatever a file or a server said."""

import io
import json
import os
import sys
from typing import Any, BinaryIO, TextIO

__all__ = ["CONFIGURATION", "FINDINGS", "FINE", "USAGE", "Terminal", "plain"]

FINE, FINDINGS, USAGE, CONFIGURATION = 0, 1, 2, 78


def plain(text: str) -> str:
    """Write control and invisible characters as escapes; line ends stay."""
    return "".join(
        character
        if character.isprintable() or character == "\n"
        else character.encode("unicode_escape").decode()
        for character in text
    )


class Terminal:
    """Standard streams; `out` is what a script reads, `note` what a person reads."""

    def __init__(
        self, stdin: TextIO | None = None, stdout: TextIO | None = None, stderr: TextIO | None = None
    ) -> None:
        self.stdin = stdin or sys.stdin
        self._stdout = stdout or sys.stdout
        self._stderr = stderr or sys.stderr

    @property
    def input(self) -> BinaryIO:
        """Standard input as bytes."""
        # A text that stands in for a stream, in a test or another program, has no bytes below it.
        return getattr(self.stdin, "buffer", None) or io.BytesIO(self.stdin.read().encode())

    def write(self, data: bytes) -> None:
        """Write bytes of an answer that is no text for a person, as they are."""
        buffer = getattr(self._stdout, "buffer", None)
        if buffer is None:
            self._stdout.write(data.decode("utf-8", "surrogateescape"))
        else:
            buffer.write(data)

    def flush(self) -> None:
        """Let whoever reads have all that was written."""
        self._stdout.flush()

    def abandon(self) -> None:
        """Give standard output up: what is left in it would fail again when the process ends."""
        try:
            descriptor = self._stdout.fileno()
        except (OSError, ValueError):
            return
        with open(os.devnull, "wb") as nothing:  # noqa: PTH123 - a device, not a path of anybody
            os.dup2(nothing.fileno(), descriptor)

    def out(self, text: str) -> None:
        """Write a line of the answer."""
        self._stdout.write(plain(text) + "\n")

    def json(self, value: Any) -> None:
        """Write the answer as JSON, ASCII only."""
        self._stdout.write(json.dumps(value, indent=2) + "\n")

    def note(self, text: str) -> None:
        """Write a line about what happens."""
        self._stderr.write(plain(text) + "\n")

    def agrees(self, question: str) -> bool:
        """Ask for a yes; no terminal to ask on means no."""
        if not self.stdin.isatty():
            return False
        self._stderr.write(f"{plain(question)} [y/N] ")
        self._stderr.flush()
        return self.stdin.readline(16).strip().lower() in {"y", "yes"}
