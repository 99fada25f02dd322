"""Explains requests that the agent sent or would send: who the destination is, what becomes of each, why, and what would change that.

The judge is the one of the egress gate. Nothing that is shown holds a secret, neither one that would be masked nor one that is in
use; where what stands in a watched file was found, nothing of the request is shown, because nobody but the gate knows those lines.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from herma.cli.reason import Reason
from herma.content.library import FAMILIES, Library
from herma.egress.judges import Judges
from herma.egress.recorded import Recorded
from herma.egress.rehearsal import Rehearsal, Rehearsed
from herma.policy.decision import Deny, Finding
from herma.policy.egress.exfiltration import WATCHED
from herma.policy.egress.outward import Kind, Outbound, Sent
from herma.policy.egress.platform import InUse
from herma.policy.message.form import FormError
from herma.policy.redaction.redactor import Redactor

__all__ = ["HINTS", "Becomes", "Outgoing", "Outgoings"]

MAX_SHOWN_CHARS: Final = 4000
# A step of a path that a person gave a name; all others may be what opens the door.
_PLAIN_STEP: Final = re.compile(r"[\w.~:@!$&'()*+,;=-]{0,16}|[A-Za-z_.-]{0,64}", re.ASCII)

# In the place of a kind: a name may hold a line of a file, too.
_HIDDEN: Final = "hidden"

HINTS: Final[Mapping[str, str]] = {
    "herma.egress.private": "name the network in `egress.near` if the agent may reach it",
    "herma.egress.unlisted": "name the host in `egress.hosts` if the agent may reach it",
    "herma.egress.metadata": "nothing lets it pass but mode `observe`: it gives credentials to whoever asks",
    "herma.egress.indicator": "if the indicator is wrong, suppress it in `content.ioc_suppress`",
    "herma.egress.fronting": "the host of the URL and the field Host must be the same",
    "herma.egress.secret": "if people read there, name it in `egress.platforms`; if it is a model, in `egress.models`; `egress.exfiltration: monitor` reports only",
    "herma.egress.watched": "if it is the host's own key in a field, name the host in `egress.services`; else take the file out of `egress.watch` if its lines may leave",
    "herma.egress.sealed": "send it plain, or let it pass with `egress.sealed: pass`",
    "herma.egress.too_large": "raise `egress.max_body_bytes`, or let larger bodies pass unread with `egress.beyond: pass`",
    "herma.egress.encoding": "let the program send it plain, with gzip or with deflate",
}


# Who is told no secret.
_JUDGED: Final = (Kind.SERVICE, Kind.OTHER)
# What is refused on its way to people only where it cannot be masked.
_MASKED_IN_TEXT: Final = ("herma.egress.secret", "herma.egress.watched")


class Becomes(StrEnum):
    """What becomes of a request."""

    PASSED = "allow"
    MASKED = "mask"
    REFUSED = "block"


@dataclass(frozen=True, slots=True)
class Outgoing:
    """What is known of one request; `url` and `body` are what would be sent, without any secret.

    `kept` counts what the platform gave out and gets back as it is; `held` are the rules that know the secrets on the way to a stranger.
    """

    becomes: Becomes
    code: str
    message: str
    hint: str
    method: str
    url: str
    body: str
    kind: str
    platform: str
    reasons: tuple[Reason, ...]
    notes: tuple[str, ...]
    kept: int
    held: tuple[str, ...]


class Outgoings:
    """Explains by what the gate judges by."""

    def __init__(self, judges: Judges, rehearsal: Rehearsal, redactor: Redactor, library: Library) -> None:
        self._judges = judges
        self._rehearsal = rehearsal
        self._redactor = redactor
        self._library = library

    def of(self, request: Recorded) -> Outgoing:
        """Explain one."""
        rehearsed = self._rehearsal.of(request)
        judged, asked = rehearsed.judged, rehearsed.asked
        target = judged.target if isinstance(judged, Sent) else request.target
        sent = judged.body if isinstance(judged, Sent) else b"" if asked is None else asked.body
        if asked is not None and rehearsed.kind == Kind.SERVICE:
            asked = self._judges.outward.unkeyed(asked)
            target, sent = asked.target, asked.body
        silent = any(finding.rule_id == WATCHED for finding in rehearsed.findings)
        body, kept = "", 0
        if asked is not None and not silent:
            body, kept = self._body(sent, asked)
        url, in_url = self._url(request.authority, target, _HIDDEN if silent else rehearsed.kind)
        refused = judged if isinstance(judged, Deny) else None
        return Outgoing(
            becomes=_becomes(rehearsed),
            code=refused.code if refused else "",
            message=refused.message if refused else "",
            hint=_hint(refused.code, rehearsed.kind) if refused else "",
            method=request.method,
            url=url,
            body=body,
            kind=rehearsed.kind,
            platform=rehearsed.platform,
            reasons=tuple(map(self._reason, dict.fromkeys(rehearsed.findings))),
            notes=tuple(_notes(request, rehearsed)),
            kept=kept + in_url if rehearsed.kind == Kind.PLATFORM and refused is None else 0,
            held=self._held(target, asked) if rehearsed.kind in _JUDGED and asked and not silent else (),
        )

    def _url(self, authority: str, target: bytes, kind: str) -> tuple[str, int]:
        """Write where it goes; the query of a platform may hold what is in use, its path does."""
        if kind == _HIDDEN:
            return "*", 0
        path, mark, query = target.decode("utf-8", "replace").partition("?")
        try:
            shown, kept = self._judges.masker.pairs(query.encode(), InUse(()))
        except FormError:
            return f"{authority}/*", 0
        masked = self._redactor.text(f"{authority}{path}{mark}{shown.decode('utf-8', 'replace')}").text
        if kind != Kind.PLATFORM:
            return masked, len(kept)
        path, mark, query = masked.partition("?")
        steps = [step if _PLAIN_STEP.fullmatch(step) else "*" for step in path.split("/")]
        return "/".join(steps) + mark + query, len(kept)

    def _body(self, body: bytes, asked: Outbound) -> tuple[str, int]:
        """Write a body; what is masked of it only here is what is in use."""
        try:
            shown, kept = self._judges.masker.body(body, asked.content_type, InUse(()))
        except FormError:
            return "", 0
        text = self._redactor.text(shown.decode("utf-8", "replace")).text
        return text[:MAX_SHOWN_CHARS], len(kept)

    def _reason(self, finding: Finding) -> Reason:
        rule = self._redactor.finder.rules.get(finding.rule_id)
        if rule is None or rule.family not in FAMILIES:
            return Reason(finding, None, "")
        return Reason(finding, rule, self._library.file_of(rule))

    def _held(self, target: bytes, asked: Outbound) -> tuple[str, ...]:
        texts = (target.decode("utf-8", "replace"), asked.body.decode("utf-8", "replace"))
        found = (finding.rule_id for text in texts for finding in self._redactor.text(text).findings)
        return tuple(dict.fromkeys(found))


def _hint(code: str, kind: str) -> str:
    if kind == Kind.PLATFORM and code in _MASKED_IN_TEXT:
        return "write it in the text of the message, where it is masked; a mask does not reach what is packed, nor a path or a field"
    return HINTS.get(code, "")


def _becomes(rehearsed: Rehearsed) -> Becomes:
    judged, asked = rehearsed.judged, rehearsed.asked
    if isinstance(judged, Deny):
        return Becomes.REFUSED
    changed = asked is not None and (judged.target, judged.body) != (asked.target, asked.body)
    return Becomes.MASKED if changed else Becomes.PASSED


def _notes(request: Recorded, rehearsed: Rehearsed) -> Iterator[str]:
    if rehearsed.unread and rehearsed.kind == Kind.MODEL:
        yield "a model: what goes there is not looked at"
    elif rehearsed.unread:
        yield "not looked at: the host is pinned, or the body is larger than what is looked at"
    if request.body is None:
        yield "its body was not recorded; it was judged as if there were none"
    refused = isinstance(rehearsed.judged, Deny)
    if not refused and rehearsed.place is not None and not (rehearsed.place.address or request.addresses):
        yield "the addresses of the host were not recorded; the gate judges them, too"
    if rehearsed.kind == Kind.SERVICE:
        yield "a service: it is shown the agent's key where it asks for one, and told no other secret"
    if rehearsed.findings and not refused and rehearsed.kind in _JUDGED:
        yield "what was found is reported only"
