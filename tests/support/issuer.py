"""A scripted identity provider: it plays by the rules until a test tells it not to."""

import base64
import hashlib
import json
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

from herma.identity.remote import FetchError
from herma.policy.secret import Secret
from support.tokens import Signer, key_set, signer

__all__ = ["CLIENT", "CLIENT_SECRET", "ISSUER", "OIDC", "ScriptedIssuer"]

ISSUER = "https://id.example.com/realms/agents"
CLIENT = "herma"
CLIENT_SECRET = "fake-client-secret-0123456789"
# The section of the configuration that fits.
OIDC: dict[str, Any] = {
    "issuer": ISSUER,
    "client_id": CLIENT,
    "client_secret": CLIENT_SECRET,
    "label": "Example & Sons",
    "allowed_domains": ["good.com"],
    "roles": [{"group": "agent-admins", "role": "admin"}, {"subject": "olga-1", "role": "operator"}],
    "default_role": "viewer",
}


class ScriptedIssuer:
    """Answers what the gate asks, as a `Fetch` does.

    `claims` go over those of every ID token, None takes one out; `description` goes over what it says of itself. `away` are the ends of
    the addresses that do not answer, with the status that they answer with instead.
    """

    def __init__(self, url: str = ISSUER) -> None:
        self.url = url
        self.keys: list[Signer] = [signer("RS256", "first")]
        self.signs = self.keys[0]
        self.claims: dict[str, Any] = {}
        self.description: dict[str, Any] = {}
        self.answer: bytes | None = None
        self.user_info: bytes = b"{}"
        self.away: dict[str, int | None] = {}
        self.asked: list[str] = []
        self.authorizations: list[Secret | None] = []
        self._codes: dict[str, dict[str, str]] = {}

    def visit(self, url: str, **over: str | None) -> str:
        """Be the browser of somebody who logs in there; return the query that it brings back."""
        parts = urlsplit(url)
        assert f"{parts.scheme}://{parts.netloc}{parts.path}" == f"{self.url}/auth"
        query = {name: value for name, [value] in parse_qs(parts.query, strict_parsing=True).items()}
        assert query["response_type"] == "code"
        assert query["code_challenge_method"] == "S256"
        assert query["client_id"] == CLIENT
        code = f"code-{len(self._codes)}"
        self._codes[code] = query
        said = {"code": code, "state": query["state"], "iss": self.url} | over
        return "&".join(
            f"{name}={quote(value, safe='')}" for name, value in said.items() if value is not None
        )

    def came_from(self, query: str) -> dict[str, str]:
        """Return the request that a code was given out for."""
        return self._codes[parse_qs(query)["code"][0]]

    async def __call__(
        self, url: str, *, max_bytes: int, form: bytes | None = None, authorization: Secret | None = None
    ) -> bytes:
        """Answer the gate."""
        end = url.removeprefix(self.url)
        self.asked.append(end)
        if end in self.away:
            raise FetchError("away", self.away[end])
        if end == "/.well-known/openid-configuration":
            return json.dumps(self._description()).encode()
        if end == "/certs":
            return key_set(*self.keys)
        if end == "/me":
            assert authorization is not None
            assert authorization.matches(b"Bearer fake")
            return self.user_info
        assert end == "/token"
        assert form is not None
        self.authorizations.append(authorization)
        return self._tokens({name: value for name, [value] in parse_qs(form.decode()).items()})

    def _description(self) -> Mapping[str, Any]:
        whole = {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/auth",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/certs",
            "end_session_endpoint": f"{self.url}/logout",
        } | self.description
        return {name: value for name, value in whole.items() if value is not None}

    def _tokens(self, form: dict[str, str]) -> bytes:
        # A code is good for one time.
        query = self._codes.pop(form["code"], None)
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        if (
            query is None
            or query["code_challenge"] != challenge
            or query["redirect_uri"] != form["redirect_uri"]
        ):
            raise FetchError("refused", 400)
        if self.answer is not None:
            return self.answer
        now = int(time.time())
        made = {
            "iss": self.url,
            "aud": CLIENT,
            "sub": "alice-1",
            "iat": now,
            "exp": now + 300,
            "nonce": query["nonce"],
            "email": "alice@good.com",
            "email_verified": True,
        } | self.claims
        token = self.signs.token({name: value for name, value in made.items() if value is not None})
        return json.dumps(
            {"access_token": "fake", "token_type": "Bearer", "id_token": token.decode()}
        ).encode()
