"""The gate's side of the talk with an identity provider."""

import asyncio
import base64
from typing import Any
from urllib.parse import urlsplit

import pytest

from herma.config.openid import OpenId, RoleFor
from herma.config.values import ClientName, Domain, IssuerUrl, Label
from herma.identity import Member, NoSignIn, SignIn, Trouble
from herma.identity.sign_in import (
    KEYS_PAUSE_S,
    MAX_AT_ONCE,
    MAX_TOKENS_BYTES,
    PAUSE_S,
    REFRESH_S,
    STALE_S,
)
from herma.policy.browser.role import Role
from herma.policy.openid.answer import Answer, read_answer
from herma.policy.openid.pending import Pending
from herma.policy.secret import Secret
from support.issuer import CLIENT, CLIENT_SECRET, ISSUER, ScriptedIssuer
from support.shared_state import Clock
from support.tokens import signer

HERE = "https://agent.example.com/.herma/login/callback"
SETTINGS = OpenId(
    issuer=IssuerUrl(ISSUER),
    client_id=ClientName(CLIENT),
    client_secret=Secret(CLIENT_SECRET.encode()),
    allowed_domains=(Domain("good.com"),),
    roles=(RoleFor(Role.ADMIN, group=Label("agent-admins")),),
    default_role=Role.VIEWER,
)
KEY = Secret(b"fake key of the gate, 32 bytes ..")


class Talk:
    """One gate and one issuer."""

    def __init__(self, settings: OpenId = SETTINGS) -> None:
        self.issuer = ScriptedIssuer()
        self.clock = Clock()
        self.sign_in = SignIn(settings, KEY, self.issuer, clock=self.clock)

    async def begun(self) -> tuple[str, Pending]:
        url, cookie = await self.sign_in.begin("/chat", HERE)
        pending = self.sign_in.resume(cookie, HERE)
        assert pending is not None
        return url, pending

    async def login(self, **over: str | None) -> Member:
        url, pending = await self.begun()
        return await self.finish(pending, self.issuer.visit(url, **over))

    async def finish(self, pending: Pending, query: str) -> Member:
        answer = read_answer(query.encode())
        assert answer is not None
        return await self.sign_in.finish(pending, answer, HERE)

    async def trouble(self, **over: str | None) -> tuple[Trouble, str]:
        with pytest.raises(NoSignIn) as caught:
            await self.login(**over)
        return caught.value.trouble, caught.value.detail


async def test_a_login_goes_there_and_back() -> None:
    """The person who comes back is who the issuer says."""
    talk = Talk()
    url, pending = await talk.begun()
    assert url.startswith(f"{ISSUER}/auth?")
    assert pending.back == "/chat"
    member = await talk.finish(pending, talk.issuer.visit(url))
    assert member == Member("alice-1", "alice@good.com", Role.VIEWER, talk.sign_in.rules)
    assert talk.sign_in.member(member.user, member.binding) == member
    (authorization,) = talk.issuer.authorizations
    assert authorization is not None
    assert (
        base64.b64decode(authorization.reveal().removeprefix(b"Basic ")).decode()
        == f"{CLIENT}:{CLIENT_SECRET}"
    )


async def test_what_the_issuer_says_of_itself_is_read_once_an_hour() -> None:
    """And its keys when they are needed."""
    talk = Talk()
    assert talk.sign_in.sign_out(HERE) == ""
    for _ in range(3):
        await talk.login()
    assert talk.issuer.asked.count("/.well-known/openid-configuration") == 1
    assert talk.issuer.asked.count("/certs") == 1
    talk.clock.now += REFRESH_S
    await talk.login()
    assert talk.issuer.asked.count("/.well-known/openid-configuration") == 2
    assert urlsplit(talk.sign_in.sign_out(HERE)).path == urlsplit(f"{ISSUER}/logout").path
    talk.issuer.description = {"end_session_endpoint": None}
    talk.clock.now += REFRESH_S
    await talk.login()
    assert talk.sign_in.sign_out(HERE) == ""


async def test_many_wait_for_one_question() -> None:
    """A crowd in the morning is no crowd for the issuer."""
    talk = Talk()
    await asyncio.gather(*(talk.sign_in.begin("/", HERE) for _ in range(50)))
    assert talk.issuer.asked == ["/.well-known/openid-configuration"]


async def test_while_the_issuer_is_away_people_are_told_at_once() -> None:
    """It is asked again after a pause; what it said before stands for a day."""
    talk = Talk()
    talk.issuer.away = {"/.well-known/openid-configuration": None}
    for _ in range(5):
        assert await talk.trouble() == (Trouble.UNREACHABLE, "")
    assert len(talk.issuer.asked) == 1
    talk.issuer.away = {}
    assert await talk.trouble() == (Trouble.UNREACHABLE, "")
    talk.clock.now += PAUSE_S
    await talk.login()
    talk.issuer.away = {"/.well-known/openid-configuration": 503}
    talk.clock.now += STALE_S - 10
    await talk.login()
    talk.clock.now += 20
    assert await talk.trouble() == (Trouble.UNREACHABLE, "")


@pytest.mark.parametrize(
    "description",
    [{"issuer": "https://evil.example"}, {"token_endpoint": "http://127.0.0.1:8644/"}, {"jwks_uri": None}],
)
async def test_a_description_that_cannot_be_used_is_another_trouble(description: dict[str, Any]) -> None:
    """Waiting does not help; the operator has to look."""
    talk = Talk()
    talk.issuer.description = description
    assert await talk.trouble() == (Trouble.DESCRIPTION, "")
    assert Trouble.DESCRIPTION.passing


async def test_new_keys_of_the_issuer_are_learned_at_the_login() -> None:
    """Also when it took the old ones back."""
    talk = Talk()
    await talk.login()
    talk.issuer.keys = [signer("RS256", "second")]
    talk.issuer.signs = talk.issuer.keys[0]
    talk.clock.now += KEYS_PAUSE_S
    await talk.login()
    talk.issuer.signs = signer("RS256", "first")
    talk.clock.now += KEYS_PAUSE_S
    assert await talk.trouble() == (Trouble.KEYS, "")


async def test_keys_that_are_not_known_are_not_asked_for_all_the_time() -> None:
    """Nor at all before something was signed with them."""
    talk = Talk()
    talk.issuer.signs = signer("ES256", "unknown")
    for _ in range(3):
        assert await talk.trouble() == (Trouble.KEYS, "")
    assert talk.issuer.asked.count("/certs") == 1


async def test_keys_that_cannot_be_had_verify_nothing() -> None:
    """The issuer may be away for its keys alone."""
    talk = Talk()
    talk.issuer.away = {"/certs": None}
    assert await talk.trouble() == (Trouble.KEYS, "")
    assert Trouble.KEYS.passing


LIES: list[tuple[str, dict[str, Any]]] = [
    ("issuer", {"iss": "https://evil.example"}),
    ("issuer", {"iss": ISSUER + "/"}),
    ("audience", {"aud": "another-client"}),
    ("audience", {"aud": ["another-client"]}),
    ("login", {"aud": [CLIENT, "another-client"]}),
    ("login", {"aud": [CLIENT, "another-client"], "azp": "another-client"}),
    ("login", {"azp": "another-client"}),
    ("login", {"nonce": "of another login"}),
    ("login", {"nonce": None}),
    ("login", {"iat": None}),
    ("expired", {"iat": 1_000_000_000, "exp": 1_000_000_300}),
    ("early", {"nbf": 9_000_000_000}),
    ("early", {"iat": 9_000_000_000, "exp": 9_000_000_300}),
    ("lifetime", {"exp": 9_000_000_000}),
    ("claims", {"sub": None}),
    ("claims", {"exp": None}),
]


@pytest.mark.parametrize(("detail", "claims"), LIES)
async def test_a_token_that_is_not_of_this_login_opens_nothing(detail: str, claims: dict[str, Any]) -> None:
    """Though the issuer signed it."""
    talk = Talk()
    talk.issuer.claims = claims
    assert await talk.trouble() == (Trouble.IDENTITY, detail)


async def test_a_token_that_another_key_signed_opens_nothing() -> None:
    """Though it has the name of a key of the issuer."""
    talk = Talk()
    talk.issuer.signs = signer("ES256", "first")
    assert (await talk.trouble())[0] in {Trouble.IDENTITY, Trouble.KEYS}
    talk.issuer.signs = signer("RS256", "other")
    object.__setattr__(talk.issuer.signs, "kid", "first")
    try:
        assert await talk.trouble() == (Trouble.IDENTITY, "signature")
    finally:
        object.__setattr__(talk.issuer.signs, "kid", "other")


@pytest.mark.parametrize(
    ("answer", "detail"),
    [
        (b"", "answer"), (b"{", "answer"), (b"[]", "missing"), (b"{}", "missing"), (b'{"id_token": 1}', "missing"), (b'{"id_token": "\xc3\xa9"}', "missing"),
        (b'{"id_token": "x"}', "form"), (b'{"id_token": "a", "id_token": "b"}', "answer"), (b'{"id_token": "eyJhbGciOiJub25lIn0.e30."}', "form"),
        (b'{"id_token": "eyJhbGciOiJub25lIn0.e30.eA"}', "algorithm"),
    ],
)  # fmt: skip
async def test_an_answer_without_a_token_opens_nothing(answer: bytes, detail: str) -> None:
    """Nor one that can be read in two ways."""
    talk = Talk()
    talk.issuer.answer = answer
    assert await talk.trouble() == (Trouble.IDENTITY, detail)


@pytest.mark.parametrize(
    ("claims", "detail"),
    [
        ({"email": "alice@evil.com"}, "email"),
        ({"email": "a@evil.com@good.com"}, "email"),
        ({"email_verified": False}, "email"),
        ({"email_verified": "true"}, "email"),
        ({"sub": "a b"}, "subject"),
    ],
)
async def test_who_is_not_of_the_house_does_not_come_in(claims: dict[str, Any], detail: str) -> None:
    """Whatever else the issuer vouches for."""
    talk = Talk()
    talk.issuer.claims = claims
    assert await talk.trouble() == (Trouble.UNWELCOME, detail)


async def test_groups_give_the_role() -> None:
    """As the configuration says."""
    talk = Talk()
    talk.issuer.claims = {"groups": ["agent-admins"]}
    assert (await talk.login()).role is Role.ADMIN


async def test_a_code_is_redeemed_once_and_by_whom_it_was_made_for() -> None:
    """Again, or in another login, it is refused by the issuer."""
    talk = Talk()
    url, pending = await talk.begun()
    query = talk.issuer.visit(url)
    await talk.finish(pending, query)
    with pytest.raises(NoSignIn) as caught:
        await talk.finish(pending, query)
    assert caught.value.trouble is Trouble.CODE
    _, other = await talk.begun()
    with pytest.raises(NoSignIn) as caught:
        await talk.finish(other, talk.issuer.visit(url))
    assert caught.value.trouble is Trouble.CODE


@pytest.mark.parametrize(
    ("names_itself", "said", "fine"),
    [
        (False, None, True), (False, ISSUER, True), (False, "https://evil.example", False), (True, None, False), (True, ISSUER, True), (True, ISSUER + "/", False),
    ],
)  # fmt: skip
async def test_an_answer_of_another_issuer_is_not_looked_at(
    names_itself: bool, said: str | None, fine: bool
) -> None:
    """The code would go to the wrong place (RFC 9207)."""
    talk = Talk()
    talk.issuer.description = {"authorization_response_iss_parameter_supported": names_itself}
    if fine:
        await talk.login(iss=said)
    else:
        assert await talk.trouble(iss=said) == (Trouble.ANSWER, "issuer")
        assert "/token" not in talk.issuer.asked


async def test_an_error_of_the_issuer_ends_the_login() -> None:
    """Whatever it says, nothing is asked for."""
    talk = Talk()
    assert await talk.trouble(code=None, error="access_denied") == (Trouble.DECLINED, "")
    assert "/token" not in talk.issuer.asked


@pytest.mark.parametrize(
    ("status", "trouble"),
    [
        (400, Trouble.CODE),
        (401, Trouble.CODE),
        (500, Trouble.UNREACHABLE),
        (302, Trouble.UNREACHABLE),
        (None, Trouble.UNREACHABLE),
    ],
)
async def test_a_refusal_is_told_from_an_issuer_that_is_away(status: int | None, trouble: Trouble) -> None:
    """Only the one is somebody's guess."""
    talk = Talk()
    talk.issuer.away = {"/token": status}
    assert await talk.trouble() == (trouble, "")
    assert trouble.passing is (trouble is Trouble.UNREACHABLE)


async def test_few_talk_to_the_issuer_at_the_same_time() -> None:
    """While it is slow, more are told to come again; when it answers, it goes on."""
    talk = Talk()
    await talk.login()
    going, waiting = asyncio.Event(), asyncio.Event()
    held = 0

    async def slow(
        url: str, *, max_bytes: int, form: bytes | None = None, authorization: Secret | None = None
    ) -> bytes:
        nonlocal held
        held += 1
        if held == MAX_AT_ONCE:
            waiting.set()
        await going.wait()
        assert max_bytes == MAX_TOKENS_BYTES
        return await talk.issuer(url, max_bytes=max_bytes, form=form, authorization=authorization)

    talk.sign_in._fetch = slow
    _, pending = await talk.begun()
    tasks = [
        asyncio.get_running_loop().create_task(talk.sign_in.finish(pending, Answer("s", f"x{n}"), HERE))
        for n in range(MAX_AT_ONCE)
    ]
    await waiting.wait()
    assert await talk.trouble() == (Trouble.BUSY, "")
    going.set()
    assert all(isinstance(one, NoSignIn) for one in await asyncio.gather(*tasks, return_exceptions=True))
    await talk.login()


async def test_a_login_resumes_only_under_the_rules_it_was_begun_under() -> None:
    """A reload that changes them ends it, and the sessions of those who came in before."""
    from dataclasses import replace

    talk = Talk()
    _, cookie = await talk.sign_in.begin("/", HERE)
    member = await talk.login()
    assert talk.sign_in.resume(cookie, HERE.replace("agent.", "other.")) is None
    changes: list[dict[str, Any]] = [
        {"issuer": IssuerUrl("https://other.example")}, {"client_id": ClientName("x")}, {"allowed_domains": ()}, {"allowed_groups": (Label("x"),)},
        {"allowed_subjects": ("x",)}, {"groups_claim": Label("x")}, {"roles": ()}, {"default_role": Role.OPERATOR},
    ]  # fmt: skip
    for change in changes:
        settings = replace(SETTINGS, **({"allowed_groups": (Label("y"),)} | change))
        other = SignIn(settings, KEY, talk.issuer)
        assert other.resume(cookie, HERE) is None
        assert other.member(member.user, member.binding) is None
    for same in ({"label": Label("x")}, {"client_secret": None}):
        other = SignIn(replace(SETTINGS, **same), KEY, talk.issuer)
        assert other.resume(cookie, HERE) is not None
        assert other.member(member.user, member.binding) == member


async def test_the_client_may_have_no_secret() -> None:
    """Then it names itself, and the verifier proves that the code is its own."""
    from dataclasses import replace

    talk = Talk(replace(SETTINGS, client_secret=None))
    await talk.login()
    assert talk.issuer.authorizations == [None]
    assert "fake-client-secret" not in repr(SETTINGS)


SAID = b'{"sub": "alice-1", "email": "alice@good.com", "email_verified": true, "groups": ["agent-admins"]}'


async def test_what_the_token_lacks_is_asked_for() -> None:
    """Where the issuer says it beside the token, and only of the same person."""
    talk = Talk()
    talk.issuer.description = {"userinfo_endpoint": f"{ISSUER}/me"}
    talk.issuer.claims = {"email": None, "email_verified": None}
    talk.issuer.user_info = SAID
    assert await talk.login() == Member("alice-1", "alice@good.com", Role.ADMIN, talk.sign_in.rules)
    for other in (SAID.replace(b"alice-1", b"bob-1"), b"[]", b"{", b"{}", b"eyJhbGciOiJub25lIn0.e30."):
        talk.issuer.user_info = other
        assert await talk.trouble() == (Trouble.IDENTITY, "user_info")


async def test_an_issuer_that_says_no_more_leaves_it_to_the_rules() -> None:
    """One that is away does not; and where nothing is lacking, nothing is asked."""
    talk = Talk()
    talk.issuer.description = {"userinfo_endpoint": f"{ISSUER}/me"}
    talk.issuer.claims = {"groups": []}
    await talk.login()
    assert "/me" not in talk.issuer.asked
    talk.issuer.claims = {"email": None}
    talk.issuer.away = {"/me": 403}
    assert await talk.trouble() == (Trouble.UNWELCOME, "email")
    talk.issuer.away = {"/me": None}
    assert await talk.trouble() == (Trouble.UNREACHABLE, "")
