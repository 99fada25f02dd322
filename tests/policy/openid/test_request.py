"""What goes to the issuer."""

import base64
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from herma.policy.openid.pending import begun
from herma.policy.openid.provider import Provider
from herma.policy.openid.request import Client, authorization_url, sign_out_url, token_request
from herma.policy.secret import Secret

ISSUER = "https://id.example.com"
PROVIDER = Provider(ISSUER, f"{ISSUER}/auth", f"{ISSUER}/token", f"{ISSUER}/certs", f"{ISSUER}/bye")
IN_FORM = Provider(ISSUER, f"{ISSUER}/auth?p=x", f"{ISSUER}/token", f"{ISSUER}/certs", secret_in_form=True)
HERE = "https://agent.example.com/.herma/login/callback"
SECRET = Secret(b"fake+secret/of:client=")
CLIENT = Client("agent gate", SECRET, ("openid", "email"))
PENDING, _ = begun(Secret(b"fake key"), "x", bytes(32), "/", 1_800_000_000)


@pytest.mark.parametrize("provider", [PROVIDER, IN_FORM])
def test_the_browser_is_sent_with_everything_the_code_is_bound_to(provider: Provider) -> None:
    """State, nonce and the challenge; the verifier stays here. A query of the endpoint stays."""
    url = urlsplit(authorization_url(provider, CLIENT, PENDING, HERE))
    assert f"{url.scheme}://{url.netloc}{url.path}" == f"{ISSUER}/auth"
    query = parse_qs(url.query, strict_parsing=True)
    assert query.pop("p", ["x"]) == ["x"]
    assert query == {
        "response_type": ["code"],
        "client_id": ["agent gate"],
        "redirect_uri": [HERE],
        "scope": ["openid email"],
        "state": [PENDING.state],
        "nonce": [PENDING.nonce],
        "code_challenge": [PENDING.challenge],
        "code_challenge_method": ["S256"],
    }
    assert PENDING.verifier not in url.query


def test_the_secret_goes_into_the_header() -> None:
    """Percent-encoded before it is joined, as the standard has it; then the form does not hold it."""
    body, header = token_request(PROVIDER, CLIENT, PENDING, "c&d", HERE)
    assert header is not None
    kind, _, value = header.reveal().partition(b" ")
    name, _, secret = base64.b64decode(value).decode().partition(":")
    assert (kind, unquote(name), unquote(secret)) == (b"Basic", "agent gate", "fake+secret/of:client=")
    assert parse_qs(body.decode(), strict_parsing=True) == {
        "grant_type": ["authorization_code"],
        "code": ["c&d"],
        "redirect_uri": [HERE],
        "code_verifier": [PENDING.verifier],
    }


def test_the_secret_goes_into_the_form_where_the_issuer_takes_it_only_there() -> None:
    """With the client's name."""
    body, header = token_request(IN_FORM, CLIENT, PENDING, "c", HERE)
    assert header is None
    fields = parse_qs(body.decode(), strict_parsing=True)
    assert (fields["client_id"], fields["client_secret"]) == (["agent gate"], ["fake+secret/of:client="])


@pytest.mark.parametrize("provider", [PROVIDER, IN_FORM])
def test_a_public_client_only_names_itself(provider: Provider) -> None:
    """What proves the code to be its own is the verifier."""
    body, header = token_request(provider, Client("agent"), PENDING, "c", HERE)
    assert header is None
    fields = parse_qs(body.decode(), strict_parsing=True)
    assert fields["client_id"] == ["agent"]
    assert "client_secret" not in fields


def test_who_signs_out_is_sent_to_the_issuer_and_back() -> None:
    """Where the issuer has a place for it."""
    url = sign_out_url(PROVIDER, CLIENT, "https://agent.example.com/.herma/login")
    assert (
        url
        == f"{ISSUER}/bye?client_id=agent%20gate&post_logout_redirect_uri=https%3A%2F%2Fagent.example.com%2F.herma%2Flogin"
    )
    assert sign_out_url(IN_FORM, CLIENT, HERE) == ""


def test_a_client_does_not_show_its_secret() -> None:
    """Nor does what is sent."""
    assert "fake+secret" not in repr((CLIENT, token_request(PROVIDER, CLIENT, PENDING, "c", HERE)[1]))
