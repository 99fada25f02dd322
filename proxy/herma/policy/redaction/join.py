"""How a name and the value beside it are joined: `=`, `:`, `=>`, a comma, a tag, a cell, a call, "is", a blank.

A sign joins a name to its value whatever they are. Looser joins (a comma, an arrow, a cell of a table) stand between many
things, so that the value has to prove more.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

__all__ = ["Join", "Joint", "joint_at"]


class Join(StrEnum):
    """The kinds of joints."""

    SIGN = "sign"
    # A comma before a quote, `value=`, `default=`: a pair of arguments.
    COMMA = "comma"
    # A cell of comma-separated values.
    CELL = "cell"
    # An arrow, a cell of a table, an alternative behind `||`, the argument of a call.
    LOOSE = "loose"
    ELEMENT = "element"
    PROSE = "prose"
    # Some words of a sentence stand between: "the password of the router is …".
    FAR_PROSE = "far prose"
    BLANK = "blank"


@dataclass(frozen=True, slots=True)
class Joint:
    """A joint: where the value behind it begins, and what the joint is made of."""

    end: int
    join: Join
    sign: str = ""
    # What closed the name: a quote, a bracket.
    close: str = ""
    spaced: bool = False


# What closes the name, and the type that some languages write between name and sign.
_CLOSE: Final = re.compile(
    r"""(?P<close>["'`]?[\])]{0,2}\*{0,2}["'`]?|&quot;)
    (?:[ \t]{0,4}\??:[ \t]{0,2}(?:str|string|String|text|&str|&'static[ ]str|Optional\[str\]|SecretStr)[ \t]{0,2}(?==)|[ ](?:string|text|(?i:n?(?:var)?char)(?:\(\w{1,5}\))?)(?=[ ]:?=))?
    (?P<blank>[ \t]{0,40}+)""",
    re.VERBOSE,
)
_SIGN: Final = re.compile(
    r"""(?P<sign>=>|!={1,2}|:{1,3}=|\?{1,2}=|\|\|=|[+.]=|={1,3}|:|\uff1a)\*{0,2}
    (?P<gap>[ \t\u00a0\u2000-\u200a\u202f\u3000]{0,16}+(?:!!(?:str|binary)[ \t]{1,4}|\n[ \t]{1,32}(?:value|Value)[ \t]{0,4}:[ \t]{0,8}|[|>][+-]?[ \t]{0,4}\n[ \t]{1,32}
        |\(?\r?\n[ \t]{1,32}(?=[bfru]{0,2}(?:"[^"\n]{1,1024}"|'[^'\n]{1,1024}')(?![ ]?:)))?)""",
    re.VERBOSE,
)
_COMMA: Final = re.compile(r",[ \t]{0,2}(?:(?i:value|content|default)[ \t]{0,2}[=:][ \t]{0,2})?(?=[\"'`@<])")
_CELL: Final = re.compile(r",(?=[A-Za-z0-9])")
_LOOSE: Final = re.compile(
    r"(?:->|<-|\u2192|-->|\|\||\?\?|or|\?:)[ \t]{1,8}(?=\S)|[|\u2502\u2503][ \t]{1,40}(?=[^\s|\u2502\u2503])|[({](?=[\"'`@])"
)
_ELEMENT: Final = re.compile(
    r"""(?:[\w:.-]{1,40}="[^"<>\n]{0,80}"[ \t]{0,4}){0,3}>[ \t]{0,8}(?:\n[ \t]{0,40})?(?=[^<>\s]{4,1024}\s{0,40}<)
      | </(?:key|name|string|code|td|th|dt|b|strong)>\s{0,40}<(?:string|value|td|dd|code|span)(?:[ ][^<>\n]{0,60})?>(?:<code>)?(?=[^<>\s])""",
    re.VERBOSE,
)
_ATTRIBUTE: Final = re.compile(r"(?i:value|content)[ \t]{0,2}=[ \t]{0,2}(?=[\"'])")
_PROSE: Final = re.compile(
    r"(?:is|was|are|(?:would|will|should|must)[ ]be|has[ ]been|ist|war|est|es|è|é|là|är|lautet)(?:[ ](?:now|(?:set|changed|reset|rotated|updated)[ ]to|still|just|jetzt|ahora))?:?[ ]"
    r"|(?:は|是|为|為|가|는|은)[\uff1a:]?[ ]{0,2}"
)
# "The key id is …", "the password file is …" tell something else.
_FAR: Final = re.compile(
    r"""(?:et[ ])?
    (?!(?i:ids?|identifier|algorithm|names?|files?|path|length|size|policy|type|count|format|version|fields?|param\w*|manager|prompt|rotation|expir\w*
        |ttl|limit|usage|generator|strength|hash|fingerprint|prefix|url|endpoint|pair|ring|store|server|vault|bucket)\b)
    (?:[^\s:=|,;<>(){}]{1,40}[ ]){0,5}?
    (?:(?:[^\W\d]{2,20}|[\w.-]{1,32}@[\w.-]{1,40})(?::|[ ](?:->|\u2192|=))[ ](?=\S{6})|(?:is|was|are|ist|war|lautet|est|sont|es|é|è|era|là|är|er|jest|este|adalah|kini|to|por|par|auf|zu)(?:[ ]now)?:?[ ](?=\S{6}))""",
    re.VERBOSE,
)
# A password told in a sentence holds a digit; where none is near, no sentence is read.
_DIGIT: Final = re.compile(r"[^\n0-9]{0,140}[0-9]")
_YAML_LATER: Final = re.compile(
    r"[\"']?[ \t]{0,8}\r?\n[ \t]{1,40}[\"']?(?:value|Value)[\"']?[ \t]{0,4}:[ \t]{0,8}"
)
# The sign on a line of its own, or at the head of the next one.
_TALL: Final = re.compile(
    r"\r?\n[ \t]{0,40}(?P<sign>[=:])(?:[ \t]{1,16}|[ \t]{0,16}\r?\n[ \t]{0,40})(?=[^\s=:])"
)
# A word as long as a key that has the next line, or the one below it, for itself.
_BELOW: Final = re.compile(
    r"\r?\n(?:[ \t]{0,8}\r?\n)?[ \t]{0,16}(?=[A-Za-z0-9_.+/-]{20,512}+={0,2}[ \t]{0,4}(?:\r?\n|$))", re.ASCII
)


def joint_at(text: str, end: int) -> Joint | None:
    """Read the joint behind the name that ends at `end`; None when the name stands alone."""
    following, at, close, blank = text[end : end + 1], end, "", ""
    if following in _CLOSES:
        closed = _CLOSE.match(text, end)
        if closed is None:  # pragma: no cover - the pattern matches the empty text
            return None
        at, close, blank = closed.end(), closed["close"], closed["blank"]
        following = text[at : at + 1]
    sign = _SIGN.match(text, at) if following in _SIGNS and following else None
    if sign is not None:
        spaced = bool(sign["gap"]) and sign["sign"] not in {":", "\uff1a"}
        return Joint(sign.end(), Join.SIGN, sign["sign"], close, spaced)
    if following in _MARKS:
        return _mark(text, at, end, close, blank=blank)
    if blank or text.startswith("et ", at):
        return _words(text, at, following, close)
    # Languages that write no blanks join with a word of their own; without it, the sentence goes on.
    told = _PROSE.match(text, at) if following > "\x7f" else None
    return Joint(told.end(), Join.PROSE, close=close) if told is not None else None


# What a sign begins with, and what the other joints begin with; the end of a text begins nothing.
_SIGNS: Final = "=:?|+.!\uff1a"
_CLOSES: Final = frozenset("\"'`)]*& \t:?")
_MARKS: Final[Mapping[str, tuple[tuple[re.Pattern[str], Join], ...]]] = {
    ",": ((_COMMA, Join.COMMA), (_CELL, Join.CELL)),
    "<": ((_ELEMENT, Join.ELEMENT), (_LOOSE, Join.LOOSE)),
    ">": ((_ELEMENT, Join.ELEMENT),),
    "-": ((_ELEMENT, Join.ELEMENT), (_LOOSE, Join.LOOSE)),
    "|": ((_LOOSE, Join.LOOSE),),
    "?": ((_LOOSE, Join.LOOSE),),
    "(": ((_LOOSE, Join.LOOSE),),
    "{": ((_LOOSE, Join.LOOSE),),
    "\u2192": ((_LOOSE, Join.LOOSE),),
    "\u2502": ((_LOOSE, Join.LOOSE),),
    "\u2503": ((_LOOSE, Join.LOOSE),),
    "\n": (),
    "\r": (),
}
_LINE_ENDS: Final = frozenset("\n\r")
_ATTRIBUTES: Final = frozenset("vVcC")
_VERBS: Final = frozenset("iwaelsmh\u00e8\u00e9")
_LOOSELY: Final = frozenset("-<|?(o\u2192")


def _mark(text: str, at: int, end: int, close: str, *, blank: str) -> Joint | None:
    for pattern, join in _MARKS[text[at]]:
        found = pattern.match(text, at)
        # A call has no blank before its bracket, an arrow and an alternative have.
        if found is None or (join == Join.LOOSE and bool(blank) == (text[at] in "({")):
            continue
        if join != Join.CELL or not blank:
            return Joint(found.end(), join, close=close)
    if text[at] in _LINE_ENDS:
        later = _YAML_LATER.match(text, end)
        if later is not None:
            return Joint(later.end(), Join.SIGN, ":")
        tall = _TALL.match(text, at)
        if tall is not None:
            return Joint(tall.end(), Join.SIGN, tall["sign"], close, spaced=True)
        below = _BELOW.match(text, at)
        if below is not None:
            return Joint(below.end(), Join.LOOSE, close=close)
    return Joint(at, Join.BLANK, close=close) if blank else None


def _words(text: str, at: int, following: str, close: str) -> Joint | None:
    attribute = _ATTRIBUTE.match(text, at) if following in _ATTRIBUTES else None
    if attribute is not None:
        return Joint(attribute.end(), Join.COMMA, close=close)
    element = _ELEMENT.match(text, at) if close == "" and text.find(">", at, at + 200) >= 0 else None
    if element is not None:
        return Joint(element.end(), Join.ELEMENT, close=close)
    told = _PROSE.match(text, at) if following in _VERBS or following > "\x7f" else None
    if told is not None:
        return Joint(told.end(), Join.PROSE, close=close)
    alternative = _LOOSE.match(text, at) if following in _LOOSELY else None
    if alternative is not None:
        return Joint(alternative.end(), Join.LOOSE, close=close)
    far = _FAR.match(text, at) if _DIGIT.match(text, at) else None
    if far is not None:
        return Joint(far.end(), Join.FAR_PROSE, close=close)
    return Joint(at, Join.BLANK, close=close)
