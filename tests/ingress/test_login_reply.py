"""What the pages of a login answer with."""

from typing import Any, cast

from herma.ingress.answer import Answer
from herma.ingress.login_reply import landing, leave, say
from herma.ingress.record import Record
from herma.policy.decision import Deny
from support.inprocess import gated


class Kept:
    """An answer that keeps what it was given."""

    def __init__(self) -> None:
        self.status, self.headers, self.body = 0, {}, b""
        self.cookies: list[bytes] = []

    async def whole(self, status: int, headers: Any, body: bytes) -> None:
        self.status, self.headers, self.body = status, dict(headers), body
        self.cookies = [value for name, value in headers if name == b"set-cookie"]


async def test_a_browser_is_sent_on_with_its_cookies() -> None:
    """To where it is said, without a body that nobody reads, and kept by no cache."""
    kept = Kept()
    await leave(cast("Answer", kept), "/chat", b"a=b", b"c=d")
    assert (kept.status, kept.headers[b"location"], kept.cookies, kept.body) == (
        303,
        b"/chat",
        [b"a=b", b"c=d"],
        b"",
    )
    assert kept.headers[b"cache-control"] == b"no-store"
    assert b"content-type" not in kept.headers


async def test_a_page_that_says_what_is_wrong_is_a_refusal_in_the_audit() -> None:
    """With the headers that its status asks for."""
    for deny, name, value in (
        (Deny(401, "herma.x", "Wrong."), b"www-authenticate", b'Bearer realm="herma"'),
        (Deny(503, "herma.x", "Wrong.", retry_after_s=5), b"retry-after", b"5"),
    ):
        kept, record = Kept(), Record("x", 0.0)
        await say(cast("Answer", kept), record, deny, b"page", b"a=")
        assert (kept.status, kept.headers[name], kept.body, kept.cookies) == (
            deny.status,
            value,
            b"page",
            [b"a="],
        )
        assert (record.code, record.reason, record.outcome) == ("herma.x", "Wrong.", "denied")
    kept = Kept()
    await say(cast("Answer", kept), Record("x", 0.0), Deny(403, "herma.x", "Wrong."), b"page")
    assert {b"www-authenticate", b"retry-after", b"set-cookie"}.isdisjoint(kept.headers)


async def test_a_login_leads_to_nothing_that_acts() -> None:
    """Whoever made the link chose the place; what the dashboard does not know it does not do."""
    async with gated(profile="hermes-dashboard", surfaces={"file.read": {"scope": "admin"}}) as gate:
        generation = gate.plane.generation
        for back in ("/", "/chat?x=1", "/api/sessions", "/nothing/here", "/assets/x.js"):
            assert landing(generation, back) == back
        for back in (
            "/api/dashboard/plugins/rescan",
            "/api/skills/hub/preview?identifier=x",
            "/api/git/status?path=/x",
        ):
            assert landing(generation, back) == "/"
        assert landing(generation, "/%zz") == "/"
