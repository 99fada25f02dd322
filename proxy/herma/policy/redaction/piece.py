"""Pieces of a text that are masked unseen: where one begins, and how far what began in it may reach."""

from typing import Final

from herma.policy.redaction.block import private_key

__all__ = ["piece_end", "piece_start"]

# The credential of a command may stand in front of the word that tells it, on the same line, within so many characters.
MAX_BEFORE: Final = 2048
# The longest value that is read as one: the bound of quoted values.
MAX_VALUE_CHARS: Final = 16 * 1024
_BLOCKS: Final = ("-----BEGIN", "Private-Lines:")
_TRIPLE: Final = ('"""', "'''")


def piece_start(text: str, at: int, first: int) -> int:
    """Find where the line of `at` begins, not before `first`."""
    return max(first, text.rfind("\n", first, at) + 1, at - MAX_BEFORE)


def piece_end(text: str, start: int, at: int) -> int:
    """Find where nothing goes on any more that began between `start` and `at`.

    A name may have its value on the next line, a quoted text of many lines ends at its quotes, a key at its footer.
    """
    end = _line_end(text, _line_end(text, min(at, len(text))))
    for quotes in _TRIPLE:
        if text.count(quotes, start, end) % 2:
            close = text.find(quotes, end, end + MAX_VALUE_CHARS)
            end = close if close >= 0 else min(len(text), end + MAX_VALUE_CHARS)
    for header in _BLOCKS:
        began = text.rfind(header, max(0, start - len(header)), end)
        if began >= 0:
            # One dash more or less in front changes nothing: the block is read from its word.
            for hit in private_key(text, began):
                end = max(end, hit.end)
    return end


def _line_end(text: str, at: int) -> int:
    stop = min(len(text), at + MAX_VALUE_CHARS)
    line_end = text.find("\n", at, stop)
    return line_end + 1 if line_end >= 0 else stop
