"""What goes to nobody's platform and to no model: refused when it holds a secret or what stands in a watched file.

Looked at are the query, the path, the fields and the body, as they are and with everything packed and encoded in them.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from herma.policy.decision import Finding
from herma.policy.egress.blob import taken_out
from herma.policy.egress.git_pack import git_objects
from herma.policy.egress.hiding import WATCHED, watched_found
from herma.policy.egress.inside import View, inside
from herma.policy.egress.packed import TooLargeError
from herma.policy.egress.sealed import is_sealed, sealed_found
from herma.policy.egress.watched import Watched
from herma.policy.redaction.hit import UNJUDGED_ID
from herma.policy.redaction.redactor import Redactor
from herma.policy.text.unfold import unfold

__all__ = ["SECRET", "WATCHED", "Exfiltration"]

SECRET: Final = "egress-secret"  # noqa: S105 - the id of a rule

# Pieces in which a text is judged that is too much work as a whole; a key of 4,096 bits has some three thousand characters.
PIECE_CHARS: Final = 64 * 1024
OVERLAP_CHARS: Final = 4 * 1024
# Who looks inside reads them as base64 and hex, but not as a number of bits.
_LONG: Final = re.compile(r"[A-Za-z0-9+/_-]{4096,}+")


@dataclass(frozen=True, slots=True)
class Exfiltration:
    """Looks for what must not leave."""

    redactor: Redactor
    watched: Watched

    def of(self, place: str, raw: bytes) -> Iterator[Finding]:
        """Give a finding for each kind of thing that some bytes hold; `place` is where they stand."""
        return self._found(place, inside(raw))

    def pushed(self, place: str, raw: bytes) -> Iterator[Finding]:
        """Look for what is watched in a push of git; one that is too large to be looked through is told."""
        try:
            if any(self.holds_watched(View(part).text()) for part in git_objects(raw)):
                yield watched_found(place)
        except TooLargeError:
            yield sealed_found(place)

    def beneath(self, place: str, raw: bytes) -> Iterator[Finding]:
        """Look at what was masked as far as it can be read: at what is packed and encoded in it, and for what is watched."""
        return self._found(place, inside(raw), masked=True)

    def within(self, place: str, raw: bytes) -> Iterator[Finding]:
        """Look only at what is packed and encoded in credentials and handles; they themselves are what they are."""
        return self._found(place, (view for view in inside(raw) if view.layers and not view.signs))

    def watched_in(self, place: str, raw: bytes) -> Iterator[Finding]:
        """Look for what is watched, and nothing else."""
        if any(self.holds_watched(view.text()) for view in inside(raw)):
            yield watched_found(place)

    def _found(self, place: str, views: Iterable[View], *, masked: bool = False) -> Iterator[Finding]:
        secret, watched, sealed = False, False, False
        for view in views:
            if not sealed and is_sealed(view.raw):
                sealed = True
                yield sealed_found(place)
            text = view.text()
            # The redactor reads signs that stand for others by itself.
            seen = view.signs or (masked and not view.layers)
            if not (secret or seen) and self.holds_secret(text):
                secret = True
                yield Finding(SECRET, place=place, attack="T1041")
            if not watched and self.holds_watched(text):
                watched = True
                yield watched_found(place)

    def holds_secret(self, text: str) -> bool:
        """Tell whether a text holds a secret that the redactor knows.

        What is too much work as a whole is judged piece by piece: no text is a secret for its length alone.
        """
        text, _ = taken_out(text)
        found = self.redactor.json(text.encode("utf-8", "surrogatepass"))[1]
        if not found or any(finding.rule_id != UNJUDGED_ID for finding in found):
            return bool(found)
        return len(text) <= PIECE_CHARS or any(
            self.redactor.text(text[at : at + PIECE_CHARS + OVERLAP_CHARS]).findings
            for at in range(0, len(text), PIECE_CHARS)
        )

    def holds_watched(self, text: str) -> bool:
        """Tell whether a text holds what stands in a watched file, plain or encoded."""
        if not len(self.watched):
            return False
        if self.watched.found(text):
            return True
        # What long runs of letters hold is seen by who looks inside; unfolded, they are nothing but work.
        short, _ = taken_out(_LONG.sub(_kept_bits, text))
        return any(map(self.watched.found, unfold(short)))


def _kept_bits(run: re.Match[str]) -> str:
    return " " if run[0].strip("01") else run[0]
