"""Texts that a program puts together out of a list: `'.'.join(map(str, [1, 2]))`, `['1', '2'].join('.')`, `'%d.%d' % (1, 2)`."""

import re

__all__ = ["assembled", "assembles"]

_PARTS = r"((?:\s*+(?:'[^'\n]*+'|\"[^\"\n]*+\"|[0-9]++)\s*+,?+){2,}+)"
_PYTHON = re.compile(rf"(['\"])([^'\"\n]{{0,8}})\1\.join\((?:map\(\w++\s*+,\s*+)?[\[(]{_PARTS}[\])]")
_SCRIPT = re.compile(rf"\[{_PARTS}\]\.join\((['\"])([^'\"\n]{{0,8}})\2\)")
_FILLED = re.compile(rf"(['\"])([^'\"\n]{{2,}}+)\1(?:\s*+%\s*+|\.format)\({_PARTS}\)")
_SLOT = re.compile(r"%[dsiu]|\{[0-9]?\}")
# A quotation mark before what joins, fills, reverses or follows.
_SIGN = re.compile(r"['\"]\s*+(?:[+.&%\])]|\|\||<>|\[::-1|['\"])|\]\.join\(")


def assembles(code: str) -> bool:
    """Tell whether a text may put strings together, in these ways or by writing them beside each other."""
    return _SIGN.search(code) is not None


def assembled(code: str) -> str:
    """Give a program's text with such expressions replaced by the text that they make."""
    code = _PYTHON.sub(lambda match: _quoted(match[2].join(_parts(match[3]))), code)
    code = _SCRIPT.sub(lambda match: _quoted(match[3].join(_parts(match[1]))), code)
    return _FILLED.sub(lambda match: _quoted(_filled(match[2], _parts(match[3]))), code)


def _parts(text: str) -> list[str]:
    return [part.strip(" '\"\t\r\n") for part in text.split(",")]


def _filled(text: str, values: list[str]) -> str:
    """Fill values into the places of a text in order, as far as there are any."""
    return _SLOT.sub(lambda _slot: values.pop(0) if values else "", text)


def _quoted(text: str) -> str:
    return f"'{text}'"
