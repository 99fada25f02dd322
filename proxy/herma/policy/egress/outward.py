"""What becomes of a request or a message that the agent sends: masked for people, looked through for strangers and services.

Models get what the agent tells them, and are not looked at here. A platform gets it masked, in its query and its body; what a mask
does not reach there is refused, since anybody can have a chat of their own. A service is shown the key that it asks for. Everybody
else gets no secret at all: there is nobody to read a mask.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final, assert_never

from herma.policy.decision import Deny, Finding, Mode
from herma.policy.egress.credential_field import divided_fields
from herma.policy.egress.destination import Destination
from herma.policy.egress.divided import divided
from herma.policy.egress.exfiltration import WATCHED, Exfiltration
from herma.policy.egress.handed_on import handed_on
from herma.policy.egress.host_pattern import HostPattern, covered
from herma.policy.egress.masking import Masker
from herma.policy.egress.outbound import Outbound
from herma.policy.egress.packed import TooLargeError
from herma.policy.egress.platform import InUse, Platform, Platforms
from herma.policy.egress.sealed import SEALED
from herma.policy.egress.service import FORM, Services, Shown, kept_apart
from herma.policy.egress.told import Told
from herma.policy.message.form import FormError, form_decoded

__all__ = ["Kind", "Outbound", "Outward", "Sent"]


class Kind(StrEnum):
    """Who a destination is."""

    MODEL = "model"
    PLATFORM = "platform"
    SERVICE = "service"
    OTHER = "other"


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
        self._told = Told(exfiltration)
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
                return self._judged(
                    Sent(request.target, request.body),
                    self._told.request(request, self._shown(request.place)),
                )
            case never:
                assert_never(never)

    def unkeyed(self, request: Outbound) -> Outbound:
        """Give a request without the keys that its query and its body show to a service."""
        shown = self._shown(request.place)
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
                return self._judged(Sent(path, raw), self._told.held(("body", raw)))
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
        # What the platform gave out in the path is its own; all other steps are shown to somebody.
        steps = self._platforms.unkeyed(request.place.name, request.place.port, path)
        yield from self._exfiltration.of("path", form_decoded(steps).replace(b"/", b"\n"))
        yield from self._exfiltration.within("path", path)
        for secret in self._handed_on(request):
            yield from self._exfiltration.of("body", secret)
        for place, raw, kind in (("query", query, FORM), ("body", body, request.content_type)):
            text, left = divided(raw, kind, in_use)
            yield from self._exfiltration.beneath(place, text)
            yield from self._exfiltration.within(place, left)

    def _handed_on(self, request: Outbound) -> Iterator[bytes]:
        platform = self._platforms.at(request.place.name, request.place.port)
        path, _, query = request.target.partition(b"?")
        handed = () if platform is None else self._platforms.handed_on(platform, path.decode("latin-1"))
        yield from handed_on(query, FORM, handed, self._is_named)
        yield from handed_on(request.body, request.content_type, handed, self._is_named)

    def _is_named(self, name: str, port: int) -> bool:
        return self._services.at(name, port) is not None

    def _shown(self, place: Destination) -> Shown | None:
        return self._services.at(place.name, place.port)

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
