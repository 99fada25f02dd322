"""Where one event's string ended and the next event's begins, at the same place of both.

Not every stream says which of its strings are pieces of a text. A string at the same place of the next event may go on where
the last one stopped, so the two words at the border are looked at together. What was shown before is shown; the rest of a
secret that began there is masked.
"""

from collections import OrderedDict
from typing import Final

from herma.policy.redaction.redactor import Redactor

__all__ = ["Tails"]

# Members of one kind of event; what is beyond is forgotten, the oldest first.
MAX_PLACES: Final = 128
# The longest token of a vendor whose halves would still be worth something has some 200 characters.
MAX_WORD_CHARS: Final = 512


class Tails:
    """The last words of the strings of a stream, by place."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._last: OrderedDict[tuple[str, str], str] = OrderedDict()

    def carried(self, name: str, pointer: str, text: str) -> int:
        """Tell how many characters at the front of `text` belong to a secret that began in the string before it."""
        place = (name, pointer)
        before = self._last.get(place, "")
        word = _first_word(text)
        # The same value again is a value, not a continuation: an id, a model's name.
        goes_on = before and word and before != text[-MAX_WORD_CHARS:]
        carried = self._carried(before, word) if goes_on else 0
        # A string without a break goes on the word that was there.
        tail = before + text if goes_on and word == text else text
        self._last[place] = _last_word(tail)
        self._last.move_to_end(place)
        if len(self._last) > MAX_PLACES:
            self._last.popitem(last=False)
        return carried

    def _carried(self, before: str, word: str) -> int:
        border = len(before)
        return max(
            (
                edit.end - border
                for edit in self._redactor.edits(before + word)
                if edit.start < border < edit.end
            ),
            default=0,
        )


def _first_word(text: str) -> str:
    return (
        text[: MAX_WORD_CHARS + 1].split(maxsplit=1)[0][:MAX_WORD_CHARS]
        if text and not text[0].isspace()
        else ""
    )


def _last_word(text: str) -> str:
    return text[-MAX_WORD_CHARS:].rsplit(maxsplit=1)[-1] if text and not text[-1].isspace() else ""
