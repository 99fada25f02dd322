"""What becomes of a request or a message that the agent sends: masked for people, looked through for strangers and services.

Models get what the agent tells them, and are not looked at here. A platform gets it masked, in its query and its body; what a mask
does not reach there is refused, since anybody can have a chat of their own. A service is shown the key that it asks for. Everybody
else gets no secret at all: there is nobody to read a mask.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final, assert_never

from herma.policy.decision import Deny, Finding, Mode
from herma.policy.egress.credential_field import divided_fields
from herma.policy.egress.destination import Destination
from herma.policy.egress.divided import divided, form_of
from herma.policy.egress.exfiltration import WATCHED, Exfiltration
from herma.policy.egress.git_pack import is_git_pack
from herma.policy.egress.host_pattern import HostPattern, covered
from herma.policy.egress.masking import Masker
from herma.policy.egress.packed import TooLargeError
from herma.policy.egress.platform import InUse, Platform, Platforms
from herma.policy.egress.sealed import SEALED
from herma.policy.egress.service import FORM, Services, kept_apart
from herma.policy.message.form import FormError, form_decoded

__all__ = ["Kind", "Outbound", "Outward", "Sent"]


class Kind(StrEnum):
    """Who a destination is."""

    MODEL = "model"
    PLATFORM = "platform"
    SERVICE = "service"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Outbound:
    """A request that the agent sends: `target` in origin form, `body` without its content coding."""

    place: Destination
    method: str
    target: bytes = field(repr=False)
    headers: Sequence[tuple[bytes, bytes]] = field(repr=False, default=())
    body: bytes = field(repr=False, default=b"")

    @property
    def content_type(self) -> bytes:
        """The value of Content-Type; of several, all, which is none that anybody knows."""
        return b", ".join(value for name, value in self.headers if name.lower() == b"content-type")


@dataclass(frozen=True, slots=True)
class Sent:
    """What is sent in place of it: the same objects where nothing changes."""

    target: bytes = field(repr=False)
    body: bytes = field(repr=False)
    findings: tuple[Finding, ...] = ()


# The findings of a body that could not be looked through, and of a form with two meanings.
UNREAD: Final = Finding("egress-unread", attack="T1041")
_UNREAD: Final = Deny(
    413, "herma.egress.unread", "The body unpacks to more than can be looked through.", (UNREAD,)
)
_TWO_WAYS: Final = Deny(400, "herma.egress.form", "The form can be read in more than one way.")

_WATCHED_MESSAGE: Final = "The request holds what stands in a watched file; if it is the host's own key in a field, name the host in `egress.services`."
# What proves that somebody allowed one request (AWS Signature Version 4, its likes, and SAS of Azure): it is judged without its name,
# which would make a secret of every value.
_SIGNATURES: Final = InUse(
    (
        "/X-Amz-Signature",
        "/X-Amz-Credential",
        "/X-Amz-Security-Token",
        "/X-Goog-Signature",
        "/X-Goog-Credential",
        "/Signature",
        "/Key-Pair-Id",
        "/sig",
    )
)
# The name of a key, and for what it is used there: no secret.
_SCOPE: Final = re.compile(rb"A[A-Z2-7]{19}/[0-9]{8}/[a-z0-9-]{2,20}/[a-z0-9-]{2,20}/aws4_request")
_SEALED_MESSAGE: Final = "The request holds what nobody can look into; `egress.sealed` decides about it."


class Outward:
    """Judges what is sent; holds no state.

    `mode` is that of the look for secrets, and `pass_sealed` lets out what nobody can look into.
    """

    def __init__(
        self,
        platforms: Platforms,
        models: Sequence[HostPattern],
        masker: Masker,
        exfiltration: Exfiltration,
        mode: Mode = Mode.ENFORCE,
        *,
        services: Services | None = None,
        pass_sealed: bool = True,
    ) -> None:
        self._platforms = platforms
        self._models = tuple(models)
        self._masker = masker
        self._exfiltration = exfiltration
        self._mode = mode
        self._services = services or Services()
        self._pass_sealed = pass_sealed
        # What is only reported is not masked either.
        self._people = masker.knowing(exfiltration.watched) if mode is Mode.ENFORCE else masker

    def kind(self, place: Destination) -> Kind:
        """Say who a destination is. A platform's host is one, whatever else is listed."""
        if self._platforms.at(place.name, place.port) is not None:
            return Kind.PLATFORM
        if covered(self._models, place.name, place.port):
            return Kind.MODEL
        return Kind.OTHER if self._services.at(place.name, place.port) is None else Kind.SERVICE

    def request(self, request: Outbound) -> Sent | Deny:
        """Judge a whole request."""
        match self.kind(request.place):
            case Kind.MODEL:
                return Sent(request.target, request.body)
            case Kind.PLATFORM:
                return self._to_people(request)
            case Kind.SERVICE | Kind.OTHER:
                return self._judged(Sent(request.target, request.body), self._told(request))
            case never:
                assert_never(never)

    def unkeyed(self, request: Outbound) -> Outbound:
        """Give a request without the keys that its query and its body show to a service."""
        shown = self._services.at(request.place.name, request.place.port)
        if shown is None or self.kind(request.place) is not Kind.SERVICE:
            return request
        path, mark, query = request.target.partition(b"?")
        rest = kept_apart(query, FORM, shown.places).rest
        body = kept_apart(request.body, request.content_type, shown.places).rest
        return replace(request, target=path + mark + rest, body=body)

    def message(self, place: Destination, path: bytes, raw: bytes) -> Sent | Deny:
        """Judge one whole message of a WebSocket that was opened at a path."""
        match self.kind(place):
            case Kind.MODEL:
                return Sent(path, raw)
            case Kind.PLATFORM:
                return self._to_people(Outbound(place, "MESSAGE", path, (), raw))
            case Kind.SERVICE | Kind.OTHER:
                return self._judged(Sent(path, raw), self._held(("body", raw)))
            case never:
                assert_never(never)

    def _to_people(self, request: Outbound) -> Sent | Deny:
        path, mark, query = request.target.partition(b"?")
        in_use = self._in_use(request.place, path)
        try:
            masked, told = self._people.pairs(query, in_use)
            body, found = self._people.body(request.body, request.content_type, in_use)
            target = path + mark + masked if told else request.target
            hidden = self._hidden(request, (path, masked, body), in_use)
            return self._judged(Sent(target, body, (*told, *found)), hidden)
        except FormError:
            return _TWO_WAYS

    def _hidden(
        self, request: Outbound, sent: tuple[bytes, bytes, bytes], in_use: InUse
    ) -> Iterator[Finding]:
        """Give what a mask does not reach: fields, steps of the path, and what is packed and encoded in all of it."""
        path, query, body = sent
        fields = divided_fields(request.headers)
        yield from self._exfiltration.of("header", fields.text)
        yield from self._exfiltration.within("header", fields.encoded)
        steps = form_decoded(path).split(b"/")
        # A step with a blank in it is no handle of the platform's.
        yield from self._exfiltration.of("path", b"\n".join(step for step in steps if b" " in step))
        yield from self._exfiltration.within("path", path)
        for place, raw, kind in (("query", query, FORM), ("body", body, request.content_type)):
            text, left = divided(raw, kind, in_use)
            yield from self._exfiltration.beneath(place, text)
            yield from self._exfiltration.within(place, left)

    def _in_use(self, place: Destination, path: bytes) -> InUse:
        platform: Platform | None = self._platforms.at(place.name, place.port)
        return InUse(()) if platform is None else self._platforms.in_use(platform, path.decode("latin-1"))

    def _judged(self, sent: Sent, found: Iterator[Finding]) -> Sent | Deny:
        """Refuse what holds what must not leave, or report it, by the mode."""
        if self._mode is Mode.OFF:
            return sent
        try:
            findings = tuple(dict.fromkeys(found))
        except TooLargeError:
            if self._mode is Mode.ENFORCE:
                return _UNREAD
            findings = (UNREAD,)
        only_sealed = all(finding.rule_id == SEALED for finding in findings)
        if self._mode is Mode.MONITOR or not findings or (only_sealed and self._pass_sealed):
            return Sent(sent.target, sent.body, (*sent.findings, *findings))
        if only_sealed:
            return Deny(403, "herma.egress.sealed", _SEALED_MESSAGE, findings)
        if any(finding.rule_id == WATCHED for finding in findings):
            return Deny(403, "herma.egress.watched", _WATCHED_MESSAGE, findings)
        return Deny(403, "herma.egress.secret", "The request holds a secret.", findings)

    def _told(self, request: Outbound) -> Iterator[Finding]:
        """Give what a stranger or a service is told; a credential that stands in a watched file is another one's, but at a service."""
        shown = self._services.at(request.place.name, request.place.port)
        places = () if shown is None else shown.places
        path, _, written = request.target.partition(b"?")
        query, body = (
            kept_apart(written, FORM, places),
            kept_apart(request.body, request.content_type, places),
        )
        fields = divided_fields(request.headers)
        signed = kept_apart(query.rest, FORM, (_SIGNATURES,))
        for signature in signed.keys:
            judge = self._exfiltration.watched_in if _SCOPE.fullmatch(signature) else self._exfiltration.of
            yield from judge("query", signature)
        yield from self._held(
            ("path", path), ("query", signed.rest), ("query", _lines(signed.rest)), ("header", fields.text)
        )
        credentials = fields if shown is None else divided_fields(shown.others(request.headers))
        yield from self._exfiltration.watched_in("header", credentials.credentials)
        yield from self._exfiltration.within("header", fields.encoded)
        for place, keys in (("query", query.keys), ("body", body.keys)):
            for key in keys:
                yield from self._exfiltration.within(place, key)
        if is_git_pack(request.body):
            yield from self._exfiltration.pushed("body", request.body)
        yield from self._held(("body", body.rest))
        # What is sent as a form may be none: a program that is not told what it sends calls it one.
        if form_of(request.content_type) == FORM:
            yield from self._held(("body", _lines(body.rest)))

    def _held(self, *places: tuple[str, bytes]) -> Iterator[Finding]:
        for place, raw in places:
            if raw:
                yield from self._exfiltration.of(place, raw)


def _lines(pairs: bytes) -> bytes:
    """Write the fields of a query or a form as lines, as a file of settings has them."""
    return b"\n".join(form_decoded(pair) for pair in pairs.split(b"&"))
