"""The console on the admin listener."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp.test_utils import TestClient, TestServer
from yarl import URL

from herma.console import Console, Explained, View, make_app
from herma.console.live import MAX_STREAMS
from herma.console.page import HEADERS
from herma.console.pages import MAX_FORM_BYTES
from herma.console.token_file import read_token
from herma.policy.secret import Secret
from support.console_view import EXCHANGE, EXPLAINED, FULL
from support.markup import read_page

KEY = "fake-admin-key-of-a-test"


class Gate:
    """All that the console asks a gate for."""

    def __init__(self) -> None:
        self.key = KEY
        self.wait = 0.0

    def admin(self, key: Secret, address: str) -> str:
        return "laptop" if key.reveal().decode() == self.key else ""

    async def wait_s(self) -> float:
        return self.wait

    async def failed(self) -> None:
        pass

    async def view(self) -> View:
        return FULL

    async def explained(self, exchange: str) -> Explained | None:
        return EXPLAINED if exchange == EXCHANGE else None

    def ready(self) -> tuple[bool, str]:
        return True, ""

    async def status(self) -> dict[str, Any]:
        return {}

    async def metrics(self) -> bytes:
        return b""


type Client = TestClient[Any, Any]


class Visit:
    """A browser at the console, and a program."""

    def __init__(self, client: Client, gate: Gate) -> None:
        self.client = client
        self.gate = gate

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.client.port}"

    async def get(self, path: str, **headers: str) -> Any:
        lines = {name.replace("_", "-"): value for name, value in {"Accept": "text/html", **headers}.items()}
        return await self.client.get(path, headers=lines, allow_redirects=False)

    async def post(self, path: str, data: object = None, origin: str | None = "", **headers: str) -> Any:
        sent = {} if origin is None else {"Origin": origin or self.origin}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.client.post(path, data=data, headers=sent, allow_redirects=False)

    async def token(self) -> str:
        offer = await (await self.client.post("/console/token")).json()
        found = read_token(offer["file"])
        assert found is not None
        return found.reveal().decode()

    async def enter(self, secret: str | None = None) -> Any:
        return await self.post("/console/login", {"token": secret or await self.token()})


@asynccontextmanager
async def visiting(directory: Path) -> AsyncIterator[Visit]:
    gate = Gate()
    console = Console(gate, gate, {"RUNTIME_DIRECTORY": str(directory)})
    async with TestClient(TestServer(make_app(gate, lambda: None, console))) as client:
        yield Visit(client, gate)
        console.stop()
    console.close()


@pytest.fixture
async def visit(tmp_path: Path) -> AsyncIterator[Visit]:
    async with visiting(tmp_path) as visit:
        yield visit


async def test_the_address_alone_leads_to_the_form(visit: Visit) -> None:
    """Who types the address arrives, and is asked who they are."""
    home = await visit.get("/")
    assert (home.status, home.headers["Location"]) == (303, "/console")
    page = await visit.get("/console")
    assert (page.status, page.headers["Location"]) == (303, "/console/login")
    form = await visit.get("/console/login")
    assert form.status == 200
    assert read_page(await form.text()).all("form") == [{"method": "post", "action": "/console/login"}]


SEEN = ["/console", "/console/live", f"/console/refusals/{EXCHANGE}"]


@pytest.mark.parametrize("path", SEEN)
async def test_nothing_is_shown_without_a_credential(visit: Visit, path: str) -> None:
    """A program is told what is missing, and no name of anything."""
    answer = await visit.client.get(path, allow_redirects=False)
    assert answer.status == 401
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")
    assert (await answer.json())["code"] == "herma.auth.required"
    assert "laptop" not in await answer.text()


async def test_a_token_of_this_machine_opens_it_once(visit: Visit) -> None:
    """The cookie is for the console's pages alone, and no script reads it."""
    token = await visit.token()
    answer = await visit.enter(token)
    assert (answer.status, answer.headers["Location"]) == (303, "/console")
    cookie, *attributes = answer.headers["Set-Cookie"].split("; ")
    assert set(attributes) == {"Path=/console", "HttpOnly", "SameSite=Strict"}
    assert token not in cookie
    page = await visit.get("/console")
    assert page.status == 200
    assert "signed in as local token" in read_page(await page.text()).text
    again = await visit.enter(token)
    assert again.status == 403
    assert "neither a token" in read_page(await again.text()).text


async def test_a_key_with_the_scope_admin_opens_it(visit: Visit) -> None:
    """In the form for a person, in the header for a program."""
    assert (await visit.enter(KEY)).status == 303
    assert "signed in as laptop" in await (await visit.get("/console")).text()
    visit.client.session.cookie_jar.clear()
    bearer = {"Authorization": f"Bearer {KEY}"}
    assert (await visit.get("/console", **bearer)).status == 200
    for wrong in ("Bearer wrong", "Bearer ", "Basic eDp5", f"Bearer  {KEY}", "Bearer \u00e9"):
        assert (await visit.get("/console", Authorization=wrong)).status == 401


async def test_a_key_that_does_not_hold_is_not_made_good_by_a_cookie(visit: Visit) -> None:
    """Whoever shows a key is judged by it."""
    await visit.enter()
    assert (await visit.get("/console")).status == 200
    assert (await visit.get("/console", Authorization="Bearer wrong")).status == 401


async def test_leaving_ends_the_session(visit: Visit) -> None:
    """A copy of the cookie is worth nothing afterwards."""
    cookie = (await visit.enter()).headers["Set-Cookie"].split(";")[0]
    left = await visit.post("/console/logout")
    assert (left.status, left.headers["Location"]) == (303, "/console/login")
    assert "Max-Age=0" in left.headers["Set-Cookie"]
    visit.client.session.cookie_jar.clear()
    assert (await visit.get("/console", Cookie=cookie)).status == 303
    assert (await visit.post("/console/logout")).status == 303


async def test_a_new_session_ends_the_one_before(visit: Visit) -> None:
    """A cookie that somebody planted is worth nothing after a login."""
    planted = (await visit.enter()).headers["Set-Cookie"].split(";")[0]
    await visit.enter()
    visit.client.session.cookie_jar.clear()
    assert (await visit.get("/console", Cookie=planted)).status == 303


async def test_two_cookies_are_none(visit: Visit) -> None:
    """They would be two answers to who asks."""
    cookie = (await visit.enter()).headers["Set-Cookie"].split(";")[0]
    visit.client.session.cookie_jar.clear()
    assert (await visit.get("/console", Cookie=f"a=b; {cookie}")).status == 200
    for wrong in (f"{cookie}; {cookie}", "herma-console=", "herma-console=../x", f"{cookie}x"):
        assert (await visit.get("/console", Cookie=wrong)).status == 303


async def test_wrong_keys_are_slowed_down(visit: Visit) -> None:
    """The person is told to wait, or to use a token."""
    visit.gate.wait = 30
    answer = await visit.enter("wrong")
    assert answer.status == 429
    assert "Wait a minute" in await answer.text()
    assert (await visit.enter()).status == 303


FORMS: dict[str, tuple[object, dict[str, str]]] = {
    "empty": (b"", {}),
    "another field": ({"key": KEY}, {}),
    "twice": (b"token=a&token=b", {}),
    "with another": (f"token={KEY}&next=/".encode(), {}),
    "no token": ({"token": ""}, {}),
    "not ASCII": ({"token": "\u00e9" * 20}, {}),
    "a control character": ({"token": "a\x00b"}, {}),
    "bytes that are no text": (b"token=\xff\xfe", {}),
    "too long": ({"token": "x" * (MAX_FORM_BYTES + 1)}, {}),
    "too long a key": ({"token": "x" * 5000}, {}),
    "JSON": (b'{"token":"x"}', {"Content-Type": "application/json"}),
    "plain text": (f"token={KEY}".encode(), {"Content-Type": "text/plain"}),
}


@pytest.mark.parametrize("case", FORMS)
async def test_a_form_that_is_none_opens_nothing(visit: Visit, case: str) -> None:
    """One field, once, of a type that other pages cannot send unseen."""
    data, headers = FORMS[case]
    if isinstance(data, bytes):
        headers = {"Content-Type": "application/x-www-form-urlencoded", **headers}
    answer = await visit.post("/console/login", data, **headers)
    assert answer.status == 400
    assert "Set-Cookie" not in answer.headers


@pytest.mark.parametrize("origin", ["https://evil.example", "http://127.0.0.1:9119", "null", None])
@pytest.mark.parametrize("path", ["/console/login", "/console/logout"])
async def test_no_other_page_signs_in_or_out(visit: Visit, path: str, origin: str | None) -> None:
    """Another site, another port of this machine, a frame without an origin, and nobody."""
    await visit.enter()
    answer = await visit.post(path, {"token": KEY}, origin=origin)
    assert (answer.status, (await answer.json())["code"]) == (403, "herma.admin.cross_site")
    assert (await visit.get("/console")).status == 200


@pytest.mark.parametrize("path", SEEN)
async def test_no_other_page_reads_with_the_cookie(visit: Visit, path: str) -> None:
    """What a page of another port fetches or frames is refused, whatever its cookie."""
    await visit.enter()
    foreign = {"Sec_Fetch_Site": "same-site", "Sec_Fetch_Mode": "no-cors", "Sec_Fetch_Dest": "image"}
    assert (await visit.get(path, **foreign)).status == 403
    assert (await visit.get(path, Origin="http://127.0.0.1:9119")).status == 403


@pytest.mark.parametrize(
    "path", [*SEEN, "/", "/console/login", "/console/token", "/console/style.css", "/console/none"]
)
async def test_a_rebound_name_is_refused(visit: Visit, path: str) -> None:
    """A page on a name that leads here reads nothing, not even the form."""
    for host in ("evil.example", f"evil.example:{visit.client.port}", "127.0.0.1.evil.example", "0.0.0.0"):
        answer = await visit.get(path, Host=host, Origin=f"http://{host}")
        assert (answer.status, (await answer.json())["code"]) == (421, "herma.admin.host")


WAYS = [
    "/console/../status",
    "/console/%2e%2e/status",
    "/console/..%2fstatus",
    "//status",
    "/console//../metrics",
    "/%2e/status",
]


@pytest.mark.parametrize("path", WAYS)
async def test_no_way_round_leads_a_page_to_what_programs_read(visit: Visit, path: str) -> None:
    """The console's pages are judged by their own guard; nothing else is reached through it."""
    await visit.enter()
    answer = await visit.client.session.get(
        URL(f"{visit.origin}{path}", encoded=True), headers={"Origin": visit.origin}, allow_redirects=False
    )
    assert answer.status in {404, 421}


async def test_a_stream_is_not_asked_for_by_its_head(visit: Visit) -> None:
    """It would be held open for nobody."""
    await visit.enter()
    assert (await visit.client.head("/console/live")).status == 405


async def test_no_page_asks_for_a_token(visit: Visit) -> None:
    """Only programs do, and what they get is a file's name."""
    for headers in ({"Origin": visit.origin}, {"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}):
        answer = await visit.client.post("/console/token", headers=headers)
        assert (answer.status, (await answer.json())["code"]) == (403, "herma.admin.cross_site")
    assert (await visit.get("/console/token")).status == 405
    offer = await (await visit.client.post("/console/token")).json()
    assert set(offer) == {"file", "expires_in_s"}
    assert 120 <= offer["expires_in_s"] <= 300


async def test_without_a_place_to_write_there_is_no_token(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An admin key is the way in then."""

    def refuse(*_: object, **__: object) -> str:
        raise OSError

    monkeypatch.setattr("herma.console.token_file.tempfile.mkdtemp", refuse)
    answer = await visit.client.post("/console/token")
    assert (answer.status, (await answer.json())["code"]) == (503, "herma.admin.token")


async def test_an_explanation_is_a_page_of_its_own(visit: Visit) -> None:
    """One that is not remembered is told to be in the audit."""
    await visit.enter()
    page = await visit.get(f"/console/refusals/{EXCHANGE}")
    assert page.status == 200
    assert "mcp-download-run" in await page.text()
    for unknown in ("00000000000000ab", "x", EXCHANGE.upper(), "..%2fetc"):
        gone = await visit.get(f"/console/refusals/{unknown}")
        assert (gone.status, "the audit has it" in await gone.text()) == (404, True)


async def test_every_page_holds_the_browser_to_the_policy(visit: Visit) -> None:
    """Pages, redirects, style and script."""
    await visit.enter()
    for path in (
        "/",
        "/console",
        "/console/login",
        "/console/style.css",
        "/console/live.js",
        SEEN[2],
        SEEN[2] + "0",
    ):
        answer = await visit.get(path)
        assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS, path
    assert (await visit.get("/console/style.css")).content_type == "text/css"
    assert (await visit.get("/console/live.js")).content_type == "text/javascript"


async def test_the_stream_is_for_who_is_signed_in(visit: Visit) -> None:
    """It ends when the session does, and there are few of them."""
    await visit.enter()
    answer = await visit.get("/console/live")
    assert answer.status == 200
    assert b"event: parts" in await answer.content.readuntil(b"\n\n")
    more = [await visit.get("/console/live") for _ in range(MAX_STREAMS - 1)]
    full = await visit.get("/console/live")
    assert (full.status, full.headers["Retry-After"]) == (503, "30")
    await visit.post("/console/logout")
    assert b"event: ended" in await answer.content.read()
    for one in more:
        one.close()


async def test_a_stream_of_a_key_ends_with_the_key(visit: Visit) -> None:
    """A program's stream is judged as often as a page's."""
    answer = await visit.get("/console/live", Authorization=f"Bearer {KEY}")
    await answer.content.readuntil(b"\n\n")
    visit.gate.key = "another"
    assert b"event: ended" in await answer.content.read()
