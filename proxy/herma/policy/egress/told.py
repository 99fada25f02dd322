"""What strangers and services are told by a request, judged place by place: path, query, fields and body."""

from collections.abc import Iterator
from dataclasses import dataclass

from herma.policy.decision import Finding
from herma.policy.egress.credential_field import divided_fields
from herma.policy.egress.divided import form_of
from herma.policy.egress.exfiltration import Exfiltration
from herma.policy.egress.git_pack import is_git_pack
from herma.policy.egress.login import SCOPE, SIGNED, login_apart, signed_apart
from herma.policy.egress.outbound import Outbound
from herma.policy.egress.service import FORM, Shown, kept_apart
from herma.policy.message.form import form_decoded

__all__ = ["Told"]


@dataclass(frozen=True, slots=True)
class Told:
    """Looks for what must not leave in requests and messages that no people read."""

    exfiltration: Exfiltration

    def request(self, request: Outbound, shown: Shown | None) -> Iterator[Finding]:
        """Look at a whole request; `shown` is where a service is shown its key.

        A credential that stands in a watched file is another one's, but at a service.
        """
        look = self.exfiltration
        places = () if shown is None else shown.places
        path, _, written = request.target.partition(b"?")
        query = kept_apart(written, FORM, places)
        body = kept_apart(request.body, request.content_type, places)
        fields = divided_fields(request.headers)
        signed = signed_apart(query.rest)
        for signature in signed.keys:
            judge = look.watched_in if SCOPE.fullmatch(signature) else look.of
            yield from judge("query", signature)
        yield from self.held(
            ("path", path), ("query", signed.rest), ("query", _lines(signed.rest)), ("header", fields.text)
        )
        credentials = fields if shown is None else divided_fields(shown.others(request.headers))
        yield from look.watched_in("header", credentials.credentials)
        yield from look.within("header", fields.encoded)
        for place, keys in (("query", query.keys), ("body", body.keys)):
            for key in keys:
                yield from look.within(place, key)
        if is_git_pack(request.body):
            yield from look.pushed("body", request.body)
        login = login_apart(body.rest, request.content_type)
        for key in login.keys:
            yield from (look.watched_in if SIGNED.fullmatch(key) else look.of)("body", key)
        yield from self.held(("body", login.rest))
        # What is sent as a form may be none: a program that is not told what it sends calls it one.
        if form_of(request.content_type) == FORM:
            yield from self.held(("body", _lines(login.rest)))

    def held(self, *places: tuple[str, bytes]) -> Iterator[Finding]:
        """Look at some bytes, each with where they stand."""
        for place, raw in places:
            if raw:
                yield from self.exfiltration.of(place, raw)


def _lines(pairs: bytes) -> bytes:
    """Write the fields of a query or a form as lines, as a file of settings has them."""
    return b"\n".join(form_decoded(pair) for pair in pairs.split(b"&"))
