"""Logging in at an identity provider: the gate's side of the talk with it.

Rules of the file:

1. What the issuer says about itself is read when somebody wants to log in, and kept. While it cannot be read again, what it said
   before stands for a day.
2. A try that failed is not repeated for some seconds: while an issuer is away, people are told so at once.
3. Only those who log in wait for the issuer; nothing else does. Few talk to it at the same time.
"""

import asyncio
import hashlib
import json
import re
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from time import monotonic
from typing import Any, Protocol

from herma.config.openid import OpenId
from herma.identity.jwks import MAX_SET_BYTES, KeySetError
from herma.identity.key_set import KeySet
from herma.identity.member import Member
from herma.identity.remote import FetchError
from herma.identity.token import TokenVerifier
from herma.policy.jsondoc import JsonError, parse
from herma.policy.openid.admission import Admitted, Unwelcome, admit
from herma.policy.openid.answer import Answer
from herma.policy.openid.endpoint import discovery_url
from herma.policy.openid.id_token import is_for_this_login
from herma.policy.openid.pending import RANDOM_BYTES, Pending, begun, resumed
from herma.policy.openid.provider import Provider, ProviderError, read_provider
from herma.policy.openid.request import Client, authorization_url, sign_out_url, token_request
from herma.policy.openid.user_info import completed, lacking
from herma.policy.secret import Secret
from herma.policy.token.claims import Claims, Expected
from herma.policy.token.form import IDENTITY_TYPES, Flaw

__all__ = ["Fetch", "NoSignIn", "SignIn", "Trouble"]

MAX_DESCRIPTION_BYTES = 256 * 1024
# An access token, a refresh token and an ID token.
MAX_TOKENS_BYTES = 64 * 1024
REFRESH_S = 3600.0
STALE_S = 24 * 3600.0
PAUSE_S = 5.0
KEYS_PAUSE_S = 1.0
# RFC 6750 section 2.1, and the compact form of a token: what can stand in a header.
_WORD = re.compile(r"[A-Za-z0-9._~+/=-]+")
# People who come back from the issuer at the same moment; each waits for one answer, ten seconds at most.
MAX_AT_ONCE = 16
# An ID token is looked at once, when it is made; some issuers make them for the length of a session.
MAX_LIFETIME_S = 7 * 24 * 3600.0


class Fetch(Protocol):
    """How the issuer is asked; raises `FetchError`."""

    async def __call__(
        self, url: str, *, max_bytes: int, form: bytes | None = None, authorization: Secret | None = None
    ) -> bytes:
        """Return the body of the answer."""
        ...


class Trouble(StrEnum):
    """Why a login does not go on; for the counters and for the choice of the page."""

    UNREACHABLE = "unreachable"
    DESCRIPTION = "description"
    BUSY = "busy"
    KEYS = "keys"
    CODE = "code"
    IDENTITY = "identity"
    UNWELCOME = "unwelcome"
    ANSWER = "answer"
    DECLINED = "declined"

    @property
    def passing(self) -> bool:
        """Tell whether it lies with the issuer or the gate and may be over soon."""
        return self in _PASSING


_PASSING = frozenset({Trouble.UNREACHABLE, Trouble.DESCRIPTION, Trouble.BUSY, Trouble.KEYS})


class NoSignIn(Exception):  # noqa: N818 - it carries a decision, it does not report an error
    """A login does not go on; `detail` is a word of a closed set that says more of the trouble."""

    def __init__(self, trouble: Trouble, detail: str = "") -> None:
        super().__init__(trouble)
        self.trouble = trouble
        self.detail = detail


@dataclass(frozen=True, slots=True)
class _Tokens:
    identity: bytes = field(repr=False)
    access: Secret


@dataclass(slots=True)
class _Known:
    provider: Provider
    keys: KeySet
    verifier: TokenVerifier
    read_at: float
    keys_at: float = float("-inf")


class SignIn:
    """The identity provider of one version of the configuration.

    `key` is what only the gate has, `clock` gives seconds that never go back.
    """

    def __init__(
        self, settings: OpenId, key: Secret, fetch: Fetch, *, clock: Callable[[], float] = monotonic
    ) -> None:
        self._settings = settings
        self._client = Client(settings.client_id, settings.client_secret, settings.scopes)
        self._admission = settings.admission()
        self._key = key
        self._fetch = fetch
        self._clock = clock
        self._known: _Known | None = None
        self._failed: tuple[float, Trouble] | None = None
        self._one = asyncio.Lock()
        self._talking = 0
        self.rules = _digest(settings)

    @property
    def label(self) -> str:
        """What people know the provider as."""
        return self._settings.label

    def member(self, user: str, binding: str) -> Member | None:
        """Return whose session it is, if it was opened by this provider under the rules of now."""
        return Member.of_session(user, binding, self.rules)

    async def begin(self, back: str, come_back_to: str) -> tuple[str, Secret]:
        """Begin a login that leads to `back` on this host; return where the browser goes, and what its cookie holds.

        Raises:
            NoSignIn: the issuer cannot be asked, or says nothing usable.
        """
        provider = (await self._provider()).provider
        random = secrets.token_bytes(RANDOM_BYTES)
        pending, cookie = begun(self._key, self._purpose(come_back_to), random, back, time.time())
        return authorization_url(provider, self._client, pending, come_back_to), cookie

    def resume(self, cookie: Secret, come_back_to: str) -> Pending | None:
        """Return the login that a cookie holds, if this gate began it for this address less than ten minutes ago."""
        return resumed(self._key, self._purpose(come_back_to), cookie, time.time())

    async def finish(self, pending: Pending, answer: Answer, come_back_to: str) -> Member:
        """Turn the issuer's answer into a person.

        Raises:
            NoSignIn: the answer is another issuer's, was declined, cannot be redeemed or verified, or the person may not come in.
        """
        known = await self._provider()
        # RFC 9207 section 2.4, before anything else of the answer is believed.
        missing = known.provider.names_itself and not answer.issuer
        if missing or answer.issuer not in {"", known.provider.issuer}:
            raise NoSignIn(Trouble.ANSWER, "issuer")
        if answer.error:
            raise NoSignIn(Trouble.DECLINED)
        if self._talking >= MAX_AT_ONCE:
            raise NoSignIn(Trouble.BUSY)
        self._talking += 1
        try:
            tokens = await self._redeem(known.provider, pending, answer.code, come_back_to)
            claims = (await self._verified(known, tokens.identity)).members
            if not is_for_this_login(claims, self._client.ident, pending.nonce):
                raise NoSignIn(Trouble.IDENTITY, "login")
            if lacking(claims, self._admission):
                claims = await self._completed(known.provider, claims, tokens.access)
        finally:
            self._talking -= 1
        match admit(claims, self._admission):
            case Admitted(subject=subject, shown=shown, role=role):
                return Member(subject, shown, role, self.rules)
            case Unwelcome() as why:
                raise NoSignIn(Trouble.UNWELCOME, why)

    def sign_out(self, come_back_to: str) -> str:
        """Return where a person signs out at the issuer too; empty where that cannot be done.

        Whoever logged in made the gate read what the issuer says of itself: nobody waits for it to log out.
        """
        return sign_out_url(self._known.provider, self._client, come_back_to) if self._known else ""

    def _purpose(self, come_back_to: str) -> str:
        return f"{self.rules} {come_back_to}"

    async def _provider(self) -> _Known:
        """Return the issuer as it describes itself; one reads, the others wait for it."""
        if self._known is not None and self._clock() - self._known.read_at < REFRESH_S:
            return self._known
        async with self._one:
            now = self._clock()
            if self._known is not None and now - self._known.read_at < REFRESH_S:
                return self._known
            if self._failed is None or now - self._failed[0] >= PAUSE_S:
                await self._read()
            if self._known is not None and now - self._known.read_at < STALE_S:
                return self._known
            raise NoSignIn(self._failed[1] if self._failed else Trouble.UNREACHABLE)

    async def _read(self) -> None:
        try:
            raw = await self._fetch(discovery_url(self._settings.issuer), max_bytes=MAX_DESCRIPTION_BYTES)
            provider = read_provider(_json(raw), self._settings.issuer)
        except (ProviderError, JsonError):
            self._failed = (self._clock(), Trouble.DESCRIPTION)
        except FetchError:
            self._failed = (self._clock(), Trouble.UNREACHABLE)
        else:
            self._failed = None
            if self._known is not None and self._known.provider == provider:
                self._known.read_at = self._clock()
            else:
                self._known = self._new(provider)

    def _new(self, provider: Provider) -> _Known:
        async def read() -> bytes:
            try:
                return await self._fetch(provider.keys, max_bytes=MAX_SET_BYTES)
            except FetchError as error:
                raise KeySetError(str(error)) from None

        keys = KeySet(read, clock=self._clock)
        expected = Expected(provider.issuer, self._client.ident, MAX_LIFETIME_S)
        return _Known(provider, keys, TokenVerifier(expected, keys, types=IDENTITY_TYPES), self._clock())

    async def _redeem(self, provider: Provider, pending: Pending, code: str, come_back_to: str) -> _Tokens:
        form, authorization = token_request(provider, self._client, pending, code, come_back_to)
        try:
            raw = await self._fetch(
                provider.token, max_bytes=MAX_TOKENS_BYTES, form=form, authorization=authorization
            )
        except FetchError as error:
            raise NoSignIn(Trouble.CODE if _refused(error) else Trouble.UNREACHABLE) from None
        try:
            tokens = _json(raw)
        except JsonError:
            raise NoSignIn(Trouble.IDENTITY, "answer") from None
        found = [
            tokens.get(name) if isinstance(tokens, dict) else None for name in ("id_token", "access_token")
        ]
        identity, access = (one if isinstance(one, str) and _WORD.fullmatch(one) else "" for one in found)
        if not identity:
            raise NoSignIn(Trouble.IDENTITY, "missing")
        return _Tokens(identity.encode("ascii"), Secret(access.encode("ascii")))

    async def _completed(
        self, provider: Provider, claims: Mapping[str, Any], access: Secret
    ) -> Mapping[str, Any]:
        """Ask for what the ID token does not say; an issuer that says no more is no trouble: the rules decide then."""
        if not provider.user_info or not access.reveal():
            return claims
        try:
            raw = await self._fetch(
                provider.user_info,
                max_bytes=MAX_TOKENS_BYTES,
                authorization=Secret(b"Bearer " + access.reveal()),
            )
            whole = completed(claims, _json(raw), self._admission)
        except FetchError as error:
            if _refused(error):
                return claims
            raise NoSignIn(Trouble.UNREACHABLE) from None
        except JsonError:
            whole = None
        if whole is None:
            raise NoSignIn(Trouble.IDENTITY, "user_info")
        return whole

    async def _verified(self, known: _Known, token: bytes) -> Claims:
        """Verify a token; keys that are due are read before, and once more for a key that is not known.

        Nobody can make the gate read them without a code that the issuer gave out, so that a short pause will do.
        """
        if known.keys.due_in() <= 0:
            await self._read_keys(known)
        found = known.verifier.verify(token, time.time())
        if found is Flaw.KEY:
            await self._read_keys(known)
            found = known.verifier.verify(token, time.time())
        if found is Flaw.KEY:
            raise NoSignIn(Trouble.KEYS)
        if isinstance(found, Flaw):
            raise NoSignIn(Trouble.IDENTITY, found)
        return found

    async def _read_keys(self, known: _Known) -> None:
        async with self._one:
            if self._clock() - known.keys_at >= KEYS_PAUSE_S:
                await known.keys.refresh()
                known.keys_at = self._clock()


def _refused(error: FetchError) -> bool:
    return error.status is not None and 400 <= error.status < 500


def _json(raw: bytes) -> Any:
    return parse(raw, max_depth=16, max_keys=10_000).value


def _digest(settings: OpenId) -> str:
    """Return what stands for the rules of who may come in: a session ends when any of them changes."""
    said = [
        settings.issuer,
        settings.client_id,
        sorted(settings.allowed_domains),
        sorted(settings.allowed_groups),
        sorted(settings.allowed_subjects),
        settings.groups_claim,
        [[one.role, one.group, one.email, one.subject] for one in settings.roles],
        settings.default_role,
    ]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()
