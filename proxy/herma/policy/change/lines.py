"""Masked values put back in a text: lines that were shown with a placeholder, and are written again as they were shown.

Rule: the text that comes out holds a secret only where the text that is held does. A line that was moved below another key would
take its secret along; then nothing is put back, and `MaskGuard` refuses the text.
"""

from typing import Any, Final, NamedTuple

from herma.policy.entry.yamltext import YamlError, read_yaml
from herma.policy.jsondoc import strings
from herma.policy.redaction.fingerprint import PLACEHOLDER

__all__ = ["RestoredText", "restored_text"]

# A secret of several lines is shown as one; a key has thirty.
MAX_SECRET_LINES: Final = 200


class RestoredText(NamedTuple):
    """The text with what was put back, and the numbers of its lines."""

    text: str
    lines: tuple[int, ...]


def restored_text(new: str, shown: str, held: str) -> RestoredText:
    """Put back the lines that were masked; the same text where that cannot be done with certainty."""
    unchanged = RestoredText(new, ())
    if shown == held or not PLACEHOLDER.search(new):
        return unchanged
    masked = _masked_lines(shown, held)
    lines = new.split("\n")
    back = {number: masked[line] for number, line in enumerate(lines, 1) if line in masked}
    if not back:
        return unchanged
    text = "\n".join(back.get(number, line) for number, line in enumerate(lines, 1))
    return RestoredText(text, tuple(back)) if _stays(text, new, held) else unchanged


def _masked_lines(shown: str, held: str) -> dict[str, str]:
    """Give what each masked line stands for; none at all where the two texts do not run side by side."""
    found: dict[str, str] = {}
    below, above = held.split("\n"), shown.split("\n")
    at = 0
    for number, line in enumerate(above):
        if at < len(below) and below[at] == line:
            at += 1
            continue
        if not PLACEHOLDER.search(line):
            return {}
        end = at + 1
        following = above[number + 1] if number + 1 < len(above) else None
        if following is None:
            end = len(below)
        elif not PLACEHOLDER.search(following):
            while end < min(len(below), at + MAX_SECRET_LINES) and below[end] != following:
                end += 1
        original = "\n".join(below[at:end])
        if not original or found.setdefault(line, original) != original:
            return {}
        at = end
    return found if at == len(below) else {}


def _stays(text: str, new: str, held: str) -> bool:
    """Tell whether each value that was put back stands where it is held."""
    try:
        before, after, now = read_yaml(held), read_yaml(text), _read(new)
    except YamlError:
        return False
    values, written = dict(strings(before)), dict(strings(now))
    return all(values.get(place) == value for place, value in strings(after) if written.get(place) != value)


def _read(text: str) -> Any:
    """Read a text with placeholders, of which the brackets would begin a list."""
    return read_yaml(PLACEHOLDER.sub("masked", text))
