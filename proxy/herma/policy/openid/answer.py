"""What the browser brings back from the issuer, in the query of the address it is sent to (RFC 6749 section 4.1.2)."""

import re
from dataclasses import dataclass, field

from herma.policy.message.form import FormError, urlencoded

__all__ = ["Answer", "read_answer"]

# RFC 6749 appendix A: visible characters. The longest codes in use have 2 KiB; a target has 8 KiB.
_WORD = re.compile(r"[!-~]{1,4096}")

_OURS = ("state", "code", "error", "iss")


@dataclass(frozen=True, slots=True)
class Answer:
    """A code, or an error; `issuer` is empty where the answer does not say whose it is (RFC 9207)."""

    state: str = field(repr=False)
    code: str = field(default="", repr=False)
    error: str = ""
    issuer: str = ""


def read_answer(query: bytes) -> Answer | None:
    """Read the answer; None when it is not exactly one. Parameters that are not known are not looked at (section 4.1.2)."""
    try:
        fields = urlencoded(query)
    except FormError:
        return None
    found = {name: fields[name] for name in _OURS if name in fields}
    if any(len(values) != 1 or not _WORD.fullmatch(values[0]) for values in found.values()):
        return None
    said = {name: values[0] for name, values in found.items()}
    if "state" not in said or ("code" in said) == ("error" in said):
        return None
    return Answer(said["state"], said.get("code", ""), said.get("error", ""), said.get("iss", ""))
