"""What plain text tools print, as far as that can be known from their arguments and input."""

import base64
import binascii
import codecs
import re
from collections.abc import Callable, Sequence

from herma.policy.command.argv import basename

__all__ = ["OutputError", "ansi_c", "run_tool"]

_ESCAPES = re.compile(r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|([0-7]{1,3})|(.))", re.DOTALL)
_SIMPLE = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "v": "\v",
    "e": "\x1b",
    "E": "\x1b",
}
# What one tool prints of what it is given; a longer text is refused.
MAX_OUTPUT_CHARS = 16 * 1024


class OutputError(ValueError):
    """A tool prints more than is read."""


def ansi_c(text: str) -> str:
    r"""Read the escapes of `$'…'`, `echo -e` and `printf`."""
    return _ESCAPES.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    if match[1] or match[2]:
        return chr(int(match[1] or match[2], 16)) if not (match[2] or "").lower().startswith("d") else "?"
    if match[3]:
        return chr(int(match[3], 8) & 0xFF)
    return _SIMPLE.get(match[4], match[4])


def run_tool(argv: Sequence[str], stdin: str | None) -> str | None:
    """Give what a tool prints; None when it is not one of the few known here, or depends on anything else.

    Raises:
        OutputError: it prints more than is read.
    """
    tool = _TOOLS.get(basename(argv[0])) if argv and argv[0] else None
    return tool(list(argv[1:]), stdin) if tool is not None else None


def _echo(args: list[str], _stdin: str | None) -> str:
    options = ""
    while args and re.fullmatch(r"-[neE]{1,3}", args[0]):
        options += args[0]
        args = args[1:]
    text = " ".join(args)
    spoken = _spoken(text)
    if "e" in options or "E" in options or spoken == text:
        return (spoken if "e" in options else text) + "\n"
    # Some shells read escapes without being asked, some do not.
    return f"{text}\n{spoken}\n"


def _printf(args: list[str], _stdin: str | None) -> str | None:
    if args[:1] == ["--"]:
        args = args[1:]
    if not args:
        return None
    pattern, values = ansi_c(args[0]), args[1:]
    slots = sum(match[4] != "%" for match in _SLOT.finditer(pattern))
    output = ""
    while True:
        batch = iter([*values[:slots], *[""] * slots])
        output += _SLOT.sub(lambda match: "%" if match[4] == "%" else _formatted(match, next(batch)), pattern)  # noqa: B023 - used at once
        values = values[slots:]
        if len(output) > MAX_OUTPUT_CHARS:
            raise OutputError
        if not values or not slots:
            return output


_SLOT = re.compile(r"%([-+# 0]{0,8})([0-9]{0,3})(?:\.([0-9]{0,3}))?([sbdiouxXqc%])")


def _formatted(match: re.Match[str], value: str) -> str:
    """Write a value as its slot says: escapes for `%b`, a character for `%c`, numbers in their base."""
    kind = match[4]
    form = f"%{match[1]}{match[2]}"
    if kind in "diouxX":
        # What stands behind a quote is a character, and counts as its number.
        whole = ord(value[1]) if value[:1] in {"'", '"'} and value[1:] else _number(value)
        return (form + {"i": "d", "u": "d"}.get(kind, kind)) % whole
    text = _spoken(value) if kind == "b" else value[:1] if kind == "c" else value
    precision = f".{match[3] or 0}" if match[3] is not None else ""
    return (form + precision + "s") % text


def _number(value: str) -> int:
    match = _NUMBER.fullmatch(value)
    if match is None:
        return 0
    digits = next(digits for digits in match.groups()[1:] if digits)
    return int(match[1] + digits, 16 if match[2] else 8 if match[3] else 10)


_NUMBER = re.compile(r"([-+]?)(?:0[xX]([0-9a-fA-F]{1,16})|(0[0-7]{0,16})|([0-9]{1,16}))")


def _spoken(text: str) -> str:
    r"""Read the escapes of `echo -e` and `%b`, where an octal number has a zero before its three digits."""
    return ansi_c(
        _OCTAL.sub(lambda match: match[0] if match[1] is None else f"\\{int(match[1], 8):03o}", text)
    )


_OCTAL = re.compile(r"\\\\|\\0([0-7]{1,3})")


def _cat(args: list[str], stdin: str | None) -> str | None:
    return stdin if not [arg for arg in args if arg != "-"] else None


def _rev(_args: list[str], stdin: str | None) -> str | None:
    return None if stdin is None else "\n".join(line[::-1] for line in stdin.split("\n"))


def _tr(args: list[str], stdin: str | None) -> str | None:
    if stdin is None or not args:
        return None
    if args[0].startswith("-") and "d" in args[0] and len(args) == 2:
        gone = _range(args[1])
        return "".join(character for character in stdin if character not in gone)
    if len(args) != 2:
        return None
    old, new = _range(args[0]), _range(args[1])
    if not new:
        return stdin
    new += new[-1] * (len(old) - len(new))
    return stdin.translate({ord(a): b for a, b in zip(old, new, strict=False)})


def _range(text: str) -> str:
    text = ansi_c(text).replace("[:lower:]", "a-z").replace("[:upper:]", "A-Z").replace("[:space:]", " \t\n")
    return re.sub(
        r"(.)-(.)",
        lambda match: "".join(map(chr, range(ord(match[1]), min(ord(match[2]), ord(match[1]) + 255) + 1))),
        text,
        flags=re.DOTALL,
    )


def _base64(args: list[str], stdin: str | None) -> str | None:
    if stdin is None or not any(arg in {"-d", "-D", "--decode", "-di", "-id"} for arg in args):
        return None
    try:
        return base64.b64decode(re.sub(r"[^A-Za-z0-9+/]", "", stdin) + "==").decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return None


def _openssl(args: list[str], stdin: str | None) -> str | None:
    plain = args[:1] == ["base64"] or (args[:1] == ["enc"] and "-base64" in args)
    return _base64(["-d"], stdin) if plain and "-d" in args else None


def _xxd(args: list[str], stdin: str | None) -> str | None:
    if stdin is None or not any("r" in arg for arg in args if arg.startswith("-")):
        return None
    try:
        return bytes.fromhex("".join(re.findall(r"[0-9a-fA-F]{2}", stdin))).decode("utf-8")
    except UnicodeDecodeError:
        return None


def _which(args: list[str], _stdin: str | None) -> str | None:
    names = [arg for arg in args if not arg.startswith("-")]
    return names[-1] if names else None


def _rot13(_args: list[str], stdin: str | None) -> str | None:
    return None if stdin is None else codecs.encode(stdin, "rot13")


def _command(args: list[str], stdin: str | None) -> str | None:
    return _which(args, stdin) if args[:1] in (["-v"], ["-V"]) else None


_TOOLS: dict[str, Callable[[list[str], str | None], str | None]] = {
    "echo": _echo,
    "printf": _printf,
    "cat": _cat,
    "rev": _rev,
    "tr": _tr,
    "base64": _base64,
    "gbase64": _base64,
    "openssl": _openssl,
    "xxd": _xxd,
    "which": _which,
    "command": _command,
    "rot": _rot13,  # `basename` takes version digits off
    "true": lambda _args, _stdin: "",
}
