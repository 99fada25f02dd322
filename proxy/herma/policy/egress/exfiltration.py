"""What goes to nobody's platform and to no model: refused when it holds a secret or what stands in a watched file.

Looked at are the query, the path, the fields and the body, as they are and unpacked: gzip, archives, base64, hex and percent of
them. A header is not: the credential in it is what the host asks for; only what is watched is looked for there.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from herma.policy.decision import Finding
from herma.policy.egress.packed import unpacked
from herma.policy.egress.watched import Watched
from herma.policy.redaction.redactor import Redactor
from herma.policy.text.unfold import unfold

__all__ = ["SECRET", "WATCHED", "Exfiltration"]

SECRET: Final = "egress-secret"  # noqa: S105 - the id of a rule
WATCHED: Final = "egress-watched"

# Runs of text in bytes that are none, as `strings` shows them.
_READABLE: Final = re.compile(rb"[\t\n\r\x20-\x7e]{8,}")


@dataclass(frozen=True, slots=True)
class Exfiltration:
    """Looks for what must not leave."""

    redactor: Redactor
    watched: Watched

    def of(self, place: str, raw: bytes) -> Iterator[Finding]:
        """Give a finding for each kind of thing that some bytes hold; `place` is where they stand."""
        secret, watched = False, False
        for text in _texts(raw):
            if not secret and self.redactor.json(text.encode("utf-8", "surrogatepass"))[1]:
                secret = True
                yield Finding(SECRET, place=place, attack="T1041")
            if not watched and self.holds_watched(text):
                watched = True
                yield Finding(WATCHED, place=place, attack="T1041")

    def holds_watched(self, text: str) -> bool:
        """Tell whether a text holds what stands in a watched file, plain or encoded."""
        return len(self.watched) > 0 and any(map(self.watched.found, (text, *unfold(text))))


def _texts(raw: bytes) -> Iterator[str]:
    for part in unpacked(raw):
        try:
            yield part.decode("utf-8")
        except UnicodeDecodeError:
            yield "\n".join(match.decode("ascii") for match in _READABLE.findall(part))
