r"""Words that are glued of several parts: `'ab'"cd"`, `a"b"c`, `'it'\''s'`, `"a" + 'b'`.

A view without the joints reads as one value, and it ends where the word ends: whatever quote closes the last part is written as
the one that opened the first. Otherwise the value would run to the next quote of its kind, over `;` and over the next command.
"""

import re
from collections.abc import Iterable
from typing import Final

__all__ = ["JOINTS", "ends_open", "glued"]

# What a part in quotes may begin and end with beside a joint; brackets, commas and colons are the structure around it.
_INSIDE: Final = r"A-Za-z0-9_./+=!@\#%^*~?$-"
# The search skips to the signs that begin a match: quotes, backslashes and dollars.
JOINTS: Final = re.compile(
    rf"""(["'\\$](?:
        (?<=["'])(?:(?<=[ {_INSIDE}].)(?:\$?["'](?=[{_INSIDE}])|\\["']["'](?=[{_INSIDE}])|"'"'|'"'")
          |(?<=[{_INSIDE}].)[ ]?\+[ ]?(?:\\?\r?\n)?[ ]{{0,16}}["'](?=[A-Za-z0-9_-])
          |(?<![^A-Za-z0-9_][bfruBFRU].)(?<=[A-Za-z0-9].)(?=[A-Za-z0-9_]))   # not b'…' of code
      | (?<=["'])\n[ \t]{{1,32}}["'](?=[A-Za-z0-9_./+-])
      | (?<=[A-Za-z0-9_]\$)["'](?=[A-Za-z0-9_]) | (?<=\\)\r?\n | (?<=\$)\{{?IFS\}}? | (?<=[A-Za-z0-9_-]\$)(?:[@*]|\{{[@*]\}})(?=[A-Za-z0-9_-]) ))""",
    re.VERBOSE | re.ASCII,
)
# What joins the part that a quote closes to the next one; its last sign opens that.
_JOINT: Final = re.compile(
    rf"""\$?["'](?=[{_INSIDE}])|\\["']["'](?=[{_INSIDE}])|"'"'|'"'"
      |[ ]?\+[ ]?(?:\\?\r?\n)?[ ]{{0,16}}["'](?=[A-Za-z0-9_-])|\n[ \t]{{1,32}}["'](?=[A-Za-z0-9_./+-])""",
    re.VERBOSE | re.ASCII,
)
_OPENS: Final = re.compile(rf"\$?[\"'](?=[{_INSIDE}])", re.ASCII)
_BARE: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./+=@%~^-]{0,1024}+", re.ASCII)
_TO_CLOSE: Final = {
    "'": re.compile(r"[^'\n\\]{0,16384}+(?:\\(?:\r?\n)?[^'\n\\]{0,16384}+){0,1024}+"),
    '"': re.compile(r"[^\"\n\\]{0,16384}+(?:\\(?:\r?\n|[^\n])?[^\"\n\\]{0,16384}+){0,1024}+"),
}
_QUOTES: Final = frozenset("\"'")
_APART: Final = re.compile(r"[\s;|&]")
# The value of an option may begin right behind it: `-p'a b'`.
_OPTION: Final = re.compile(r"(?<![\w-])-{1,2}[\w-]{1,40}$", re.ASCII)
# What stands inside a part and is no part of its value; the quote is the one around the word.
_DROPPED: Final = {quote: re.compile(rf"\\\r?\n|\$\{{?IFS\}}?|{quote}") for quote in _QUOTES}
# The first part of a word is looked for so far back; so many parts has the longest seen, a key that a script cuts into lines.
MAX_BEFORE: Final = 1024
MAX_PARTS: Final = 512
MAX_OPTION_CHARS: Final = 42
MAX_FIRST_CHARS: Final = 256

type _Sign = tuple[int, int, str]


def glued(text: str, joints: Iterable[re.Match[str]]) -> list[_Sign]:
    """Say which signs a view without joints writes otherwise, and how, in order."""
    signs: list[_Sign] = []
    done = 0
    for found in joints:
        start, end = found.span()
        if start < done:
            continue
        if text[end - 1] in _QUOTES:
            done = _word(text, start, end, done, signs)
        else:
            signs.append((start, end, " " if "IFS" in found.group() else ""))
            done = end
    return signs


def ends_open(text: str, at: int) -> bool:
    """Tell whether the text leaves a part open of the word that goes on at `at`, behind its first part or at its letters."""
    for _ in range(MAX_PARTS):
        joint = _JOINT.match(text, at)
        if joint is None and (bare := _BARE.match(text, at)) is not None:
            joint = _OPENS.match(text, bare.end())
        if joint is None:
            return False
        quote = joint.group()[-1]
        at = _close(text, joint.end(), quote)
        if at == len(text):
            return True
        if text[at] != quote:
            return False
        at += 1
    return False


def _word(text: str, start: int, end: int, done: int, signs: list[_Sign]) -> int:
    """Take apart the word that has its first joint at `start`, behind what is done; return where the last sign of it ends."""
    quote = text[start]
    # The quote around the value in the view, none when the word begins without; and the one around the part at hand.
    around, inside = quote, text[end - 1]
    if end - start == 1 or quote == "$":
        if quote != "$" and _closes(text, start, quote):
            inside = ""
        else:
            close = _close(text, end, inside)
            apart = _APART.search(text, end, close) is not None
            if apart and _behind_option(text, start):
                # The quote opens the value of an option.
                return end
            first = text.rfind("=", max(0, start - MAX_FIRST_CHARS), start) + 1
            if (
                text[close : close + 1] in {"", inside}
                and done < first
                and _BARE.fullmatch(text, first, start)
            ):
                around = inside
                signs.append((first, first, around))
            elif apart:
                # An apostrophe, and not the beginning of a part.
                signs.append((start, end, ""))
                return end
            else:
                around = ""
    elif text[start - 1] == " " and not _closes(text, start, quote):
        return end
    signs.append((start, end, ""))
    for _ in range(MAX_PARTS):
        if inside:
            close = _close(text, end, inside)
            _within(text, end, close, around, inside, signs)
            if text[close : close + 1] != inside:
                return max(close, end)
            joint = _JOINT.match(text, close + 1)
            if joint is not None:
                end, inside = joint.end(), joint.group()[-1]
                signs.append((close, end, ""))
                continue
            end = close + 1
            if _BARE.match(text, end) is None:
                if around not in {"", inside}:
                    signs.append((close, end, around))
                return end
            signs.append((close, end, ""))
        bare = _BARE.match(text, end)
        end = bare.end() if bare is not None else end
        opened = _OPENS.match(text, end)
        if opened is None:
            if around:
                signs.append((end, end, around))
            return end
        signs.append((end, opened.end(), ""))
        end, inside = opened.end(), opened.group()[-1]
    return end


def _close(text: str, at: int, quote: str) -> int:
    """Find where the part ends that begins at `at`: at its quote, or where its line ends."""
    return _TO_CLOSE[quote].match(text, at).end()  # type: ignore[union-attr]  # the pattern matches the empty string


def _closes(text: str, at: int, quote: str) -> bool:
    """Tell whether a quote closes what an earlier one on its line opened."""
    line = max(0, at - MAX_BEFORE)
    line = max(line, text.rfind("\n", line, at) + 1)
    before = text.rfind(quote, line, at)
    if before < 0 or (text[max(line, before - 1) : before].isalnum() and not _behind_option(text, before)):
        # Nothing opened, or an apostrophe did.
        return False
    return _APART.search(text, before, at) is None or text.count(quote, line, at) % 2 == 1


def _behind_option(text: str, at: int) -> bool:
    """Tell whether a place is right behind an option, as values of options of one letter are: `-p'a b'`."""
    before = text[max(0, at - MAX_OPTION_CHARS) : at]
    return "-" in before and _OPTION.search(before) is not None


def _within(text: str, at: int, close: int, around: str, inside: str, signs: list[_Sign]) -> None:
    """Drop from a part what would end the value in the view, and continued lines."""
    signs.extend(
        (*found.span(), " " if "IFS" in found.group() else "")
        for found in _DROPPED[around or inside].finditer(text, at, close)
        if found.group() != inside
    )
    ending = text[at:close]
    if around == '"' and inside == "'" and (len(ending) - len(ending.rstrip("\\"))) % 2:
        # Between single quotes it is a letter; before a double quote it would be a sign.
        signs.append((close - 1, close, ""))
