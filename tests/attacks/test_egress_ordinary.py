"""What programs show to their hosts every day, and what is refused in the same places."""

import base64
import json

import pytest

from herma.content.library import Library
from herma.policy.decision import Deny
from herma.policy.egress.destination import Destination
from herma.policy.egress.exfiltration import Exfiltration
from herma.policy.egress.masking import Masker
from herma.policy.egress.outward import Outbound, Outward
from herma.policy.egress.platform import Platforms
from herma.policy.egress.service import Services
from herma.policy.egress.watched import Watched
from support.redactor import GITHUB, KEY, redactor

# A value of the agent's file of keys, which looks like no vendor's.
VALUE = "Q7k3yF0rTh3t3stOfIt0"
DIGITS = "0123456789abcdef"
UUID = "f4e0c0ff-fee1-4ead-f4e0-c0fffee1dea0"
FORM = "application/x-www-form-urlencoded"
JSON = "application/json"


def part(text: str) -> str:
    """A part of a signed token."""
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


TOKEN = f"{part('{"alg":"RS256","kid":"x1"}')}.{part('{"iss":"agent","aud":"x"}')}.{part(DIGITS * 8)}"


@pytest.fixture(scope="module")
def outward() -> Outward:
    """All that is shipped, and one watched file."""
    library = Library()
    look = Exfiltration(redactor(), Watched.of(KEY, [f"SERVICE_KEY={VALUE}\nGITHUB_TOKEN={GITHUB}\n"]))
    services = Services(library.services())
    return Outward(
        Platforms(library.platforms({})), library.models(), Masker(redactor()), look, services=services
    )


def passes(outward: Outward, host: str, target: str, body: str, kind: str) -> bool:
    """Tell whether it goes out."""
    fields = ((b"content-type", kind.encode()),)
    place = Destination(host, 443)
    return not isinstance(
        outward.request(Outbound(place, "POST", target.encode(), fields, body.encode())), Deny
    )


@pytest.mark.parametrize(
    ("host", "target", "body", "kind"),
    [
        (
            "b.s3.amazonaws.com",
            "/a?AWSAccessKeyId=AKIAQWERTYUIOPASDFGH&Expires=1&Signature=vjbyPxybdZaNmGa%2ByT272YEAiv4%3D",
            "",
            "",
        ),
        ("serpapi.com", f"/search?q=x&api_key={VALUE}", "", ""),
        ("api.openweathermap.org", f"/data/2.5/weather?q=Berlin&appid={VALUE}", "", ""),
        ("o1.ingest.sentry.io", f"/api/1/envelope/?sentry_key={DIGITS * 2}", '{"event_id":"1"}\n{}', ""),
        ("api.stripe.com", "/v1/payment_intents/pi_3/confirm", f"client_secret=pi_3_secret_{DIGITS}x", FORM),
        ("connect.browserbase.com", f"/?apiKey=bb_live_{VALUE}", "", ""),
        ("api.pushover.net", "/1/messages.json", f"token={VALUE}&user=u{DIGITS}x&message=done", FORM),
        ("app.example.com", "/api/login", json.dumps({"user": "a", "password": f"Zq8{DIGITS}Xy"}), JSON),
        (
            "vault.example.com",
            "/v1/auth/approle/login",
            json.dumps({"role_id": UUID, "secret_id": UUID}),
            JSON,
        ),
        ("forum.example.com", "/login", f"username=a&password=Zq8{DIGITS}Xy&csrf_token={DIGITS * 4}", FORM),
        (
            "sts.amazonaws.com",
            "/",
            f"Action=AssumeRoleWithWebIdentity&RoleArn=arn:aws:iam::1:role/x&WebIdentityToken={TOKEN}",
            FORM,
        ),
        (
            "acme-v02.api.letsencrypt.org",
            "/acme/new-order",
            json.dumps(
                {
                    "protected": part('{"alg":"ES256","nonce":"x","url":"https://x.example/"}'),
                    "payload": part('{"identifiers":[{"type":"dns","value":"a.example"}]}'),
                    "signature": part(DIGITS * 4),
                }
            ),
            "application/jose+json",
        ),
        (
            "securetoken.googleapis.com",
            f"/v1/token?key=AIzaSyA{DIGITS * 2}",
            f"grant_type=refresh_token&refresh_token=AMf-vB{DIGITS * 6}",
            FORM,
        ),
        (
            "auth.example.com",
            "/token",
            f"grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer&assertion={TOKEN}",
            FORM,
        ),
    ],
)
def test_a_host_is_shown_what_it_asks_for(
    outward: Outward, host: str, target: str, body: str, kind: str
) -> None:
    """A query that is signed, a key in its place, a login."""
    assert passes(outward, host, target, body, kind)


@pytest.mark.parametrize("secret", [VALUE, GITHUB])
@pytest.mark.parametrize(
    ("host", "target", "body", "kind"),
    [
        ("b.s3.amazonaws.com", "/a?AWSAccessKeyId={}", "", ""),
        ("o1.ingest.sentry.io", "/api/1/envelope/?sentry_key={}", "", ""),
        ("api.pushover.net", "/1/messages.json", "token=x&message={}", FORM),
        ("app.example.com", "/api/login", '{{"password": "{}"}}', JSON),
        ("auth.example.com", "/token", "grant_type=x&assertion={}", FORM),
        ("serpapi.com", "/search?q={}", "", ""),
    ],
)
def test_the_same_places_are_no_way_out(
    outward: Outward, secret: str, host: str, target: str, body: str, kind: str
) -> None:
    """What is watched, or shows what it is, stays in."""
    assert not passes(outward, host, target.format(secret), body.format(secret), kind)


@pytest.mark.parametrize("inner", [VALUE, GITHUB])
def test_a_token_that_holds_a_secret_is_none(outward: Outward, inner: str) -> None:
    """A signature is not verified, and so anything may stand before it."""
    token = f"{part('{"alg":"none"}')}.{part(json.dumps({'x': inner}))}.{part(DIGITS)}"
    assert not passes(outward, "auth.example.com", "/token", f"assertion={token}", FORM)
