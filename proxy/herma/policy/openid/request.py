"""What goes to the issuer: where the browser is sent, the form that turns a code into tokens, and where to sign out."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from herma.policy.browser.local_target import encoded
from herma.policy.openid.pending import Pending
from herma.policy.openid.provider import Provider
from herma.policy.secret import Secret

__all__ = ["Client", "authorization_url", "sign_out_url", "token_request"]


@dataclass(frozen=True, slots=True)
class Client:
    """The gate, as the issuer knows it; a public client has no secret."""

    ident: str
    secret: Secret | None = None
    scopes: Sequence[str] = ("openid",)


def authorization_url(provider: Provider, client: Client, pending: Pending, come_back_to: str) -> str:
    """Return where the browser is sent to log in (OpenID Connect Core section 3.1.2.1; RFC 7636)."""
    return _with_query(
        provider.authorization,
        {
            "response_type": "code",
            "client_id": client.ident,
            "redirect_uri": come_back_to,
            "scope": " ".join(client.scopes),
            "state": pending.state,
            "nonce": pending.nonce,
            "code_challenge": pending.challenge,
            "code_challenge_method": "S256",
        },
    )


def token_request(
    provider: Provider, client: Client, pending: Pending, code: str, come_back_to: str
) -> tuple[bytes, Secret | None]:
    """Return the form that asks for the tokens of a code, and the `Authorization` that goes with it, if any."""
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": come_back_to,
        "code_verifier": pending.verifier,
    }
    if client.secret is not None and not provider.secret_in_form:
        # RFC 6749 section 2.3.1: both are percent-encoded before they are joined.
        pair = f"{encoded(client.ident)}:{encoded(client.secret.reveal().decode('ascii'))}"
        return _form(form), Secret(b"Basic " + base64.b64encode(pair.encode("ascii")))
    form["client_id"] = client.ident
    if client.secret is not None:
        form["client_secret"] = client.secret.reveal().decode("ascii")
    return _form(form), None


def sign_out_url(provider: Provider, client: Client, come_back_to: str) -> str:
    """Return where a person signs out at the issuer too (RP-Initiated Logout section 2); empty where that cannot be done.

    The gate keeps no token of anybody's, so it names itself instead of giving a hint; an issuer may ask the person once more.
    """
    if not provider.end_session:
        return ""
    return _with_query(
        provider.end_session, {"client_id": client.ident, "post_logout_redirect_uri": come_back_to}
    )


def _with_query(url: str, fields: Mapping[str, str]) -> str:
    return url + ("&" if "?" in url else "?") + _form(fields).decode("ascii")


def _form(fields: Mapping[str, str]) -> bytes:
    return "&".join(f"{name}={encoded(value)}" for name, value in fields.items()).encode("ascii")
