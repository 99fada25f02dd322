"""Masked values that would be saved: what a page was shown in place of a secret must not take the secret's place."""

from typing import ClassVar, Final

from herma.policy.decision import Allow, Decision, Deny, Finding, Level
from herma.policy.exchange import Exchange, Phase
from herma.policy.jsondoc import strings
from herma.policy.message.html import STAND_IN
from herma.policy.redaction.fingerprint import PLACEHOLDER

__all__ = ["MaskGuard"]

_STAND_IN: Final = STAND_IN.decode("ascii")
_RULE: Final = "mask-written"


class MaskGuard:
    """Refuses placeholders of the redactor in what the upstream keeps; in a chat they may be quoted.

    What is not changed by a write was taken out, or put back, before (`herma.policy.change`).
    """

    id: ClassVar[str] = "mask_guard"
    phases: ClassVar[frozenset[Phase]] = frozenset({Phase.REQUEST_BODY})

    def decide(self, exchange: Exchange, phase: Phase) -> Decision:  # noqa: ARG002 - one phase only
        """Look at every string of the body, the names of members too; the first masked one refuses it."""
        document = exchange.document
        if document is None or not exchange.match.route.keeps:
            return Allow()
        for place, text in strings(document.value, keys=True):
            if PLACEHOLDER.search(text) or _STAND_IN in text:
                finding = Finding(_RULE, Level.HIGH, place)
                return Deny(
                    422, "herma.mask.written", _MESSAGE.format(place=finding.shown_place or "/"), (finding,)
                )
        return Allow()


_MESSAGE: Final = (
    "The value at {place} is masked, and saving it would lose the secret. Load the page again and leave the value as it is, "
    "take it out, or type a new one."
)
