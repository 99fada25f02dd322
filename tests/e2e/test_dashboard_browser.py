"""A person with a real browser at the real dashboard, through a gate on a public address that asks for a password.

All of it stands in a network of its own, so that the address is a public one to the gate and the browser, and to nobody else.
"""

import itertools
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from support.browser import browsing, missing_browser
from support.edge import EDGES, NAME
from support.gate import Gate
from support.hermes import Dashboard
from support.login import COOKIE, PASSWORDS, USERS
from support.network import PUBLIC, own_network
from support.stub_model import StubModel
from support.wire_tls import make_pair

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(bool(missing_browser()), reason=f"not installed: {missing_browser()}"),
]

PATIENCE_S = 60
KEY = "ghp_F4keK3yF0rT3stF4keK3yF0rT3stF4keK3yF"
PAGES = (
    "/sessions",
    "/analytics",
    "/models",
    "/logs",
    "/cron",
    "/skills",
    "/plugins",
    "/mcp",
    "/channels",
    "/webhooks",
    "/pairing",
    "/profiles",
    "/config",
    "/env",
    "/system",
)


@dataclass(frozen=True)
class Site:
    """Where a person finds the dashboard: its address, the gate behind it, and what a browser has to know to get there."""

    url: str
    gate: Gate
    hosts: str = ""


@pytest.fixture(scope="module")
def network() -> Iterator[None]:
    """A network with a public address."""
    with own_network():
        yield


@pytest.fixture(scope="module")
def model(network: None) -> Iterator[StubModel]:
    """The model, in that network."""
    with StubModel() as running:
        yield running


@pytest.fixture(scope="module")
def dashboard(tmp_path_factory: pytest.TempPathFactory, model: StubModel) -> Iterator[Dashboard]:
    """The real dashboard."""
    with Dashboard(tmp_path_factory.mktemp("dashboard"), model.url) as running:
        yield running


def gated(
    directory: Path, dashboard: Dashboard, listener: dict[str, object], host: str = PUBLIC, **extra: object
) -> Gate:
    """Prepare a gate with a login page."""
    below = {
        "upstream": {"profile": "hermes-dashboard"},
        "surfaces": {"chat.terminal": {"scope": "admin"}},
        **extra,
    }
    gate = Gate(directory, dashboard.url, below, upstream_key=dashboard.key)
    gate.config["listen"] = [{"address": f"{host}:{gate.port}", **listener}]
    gate.config["auth"]["login"] = {"users": USERS}
    gate.write_config(gate.config)
    return gate


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory, dashboard: Dashboard) -> Iterator[Site]:
    """A gate that speaks TLS itself, on the public address."""
    directory = tmp_path_factory.mktemp("alone")
    pair = make_pair(directory)
    tls = {"tls": {"cert_file": pair.cert, "key_file": pair.key}}
    with gated(directory / "gate", dashboard, tls) as gate:
        yield Site(f"https://{PUBLIC}:{gate.port}", gate)


@pytest.fixture(scope="module", params=EDGES)
def edged(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, dashboard: Dashboard
) -> Iterator[Site]:
    """A gate behind a server that ends TLS."""
    if request.param == "nginx" and shutil.which("nginx") is None:
        pytest.skip("nginx is not installed")
    directory = tmp_path_factory.mktemp("edged")
    pair = make_pair(directory)
    trusting = {"trusted_proxies": ["127.0.0.1/32"]}
    with (
        gated(directory / "gate", dashboard, {"public_names": [NAME]}, "127.0.0.1", **trusting) as gate,
        EDGES[request.param](directory, pair, gate.port) as port,
    ):
        yield Site(f"https://{NAME}", gate, f"MAP {NAME}:443 127.0.0.1:{port}")


@contextmanager
def person(site: Site, directory: Path) -> Iterator[Chrome]:
    """A browser that has never been here."""
    with browsing(directory, hosts=site.hosts) as driver:
        yield driver


def enter(site: Site, browser: Chrome, name: str = "alice", path: str = "/sessions") -> None:
    """Ask for a page, be sent to the login, log in, and be there."""
    browser.get(site.url + path)
    assert browser.current_url.startswith(f"{site.url}/.herma/login")
    browser.find_element(By.NAME, "name").send_keys(name)
    browser.find_element(By.NAME, "password").send_keys(PASSWORDS[name])
    browser.find_element(By.CSS_SELECTOR, "button").click()
    WebDriverWait(browser, PATIENCE_S).until(lambda driver: driver.current_url == site.url + path)


def drawn(browser: Chrome) -> str:
    """Wait until the page shows something; return its text."""

    def shown(driver: Chrome) -> str:
        return str(driver.execute_script("return document.getElementById('root')?.innerText ?? ''"))

    return str(WebDriverWait(browser, PATIENCE_S).until(shown))


def settled(browser: Chrome) -> None:
    """Wait until the page has asked for nothing new for a moment."""
    asked = "return performance.getEntriesByType('resource').length"
    seen = -1

    def quiet(driver: Chrome) -> bool:
        nonlocal seen
        before, seen = seen, int(driver.execute_script(asked))
        return before == seen

    WebDriverWait(browser, PATIENCE_S, poll_frequency=0.5).until(quiet)


def complaints(browser: Chrome) -> list[str]:
    """Return what the console has against the pages since it was asked last.

    On a loopback bind the dashboard answers its own question who is there with 401, without a gate too.
    """
    said = [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    return [message for message in said if "/api/auth/me - " not in message]


def test_every_page_is_drawn_without_a_complaint(alone: Site, tmp_path: Path) -> None:
    """After one login; the page holds no key of the dashboard."""
    with person(alone, tmp_path) as browser:
        enter(alone, browser)
        drawn(browser)
        assert browser.execute_script("return window.__HERMES_SESSION_TOKEN__") == "held-by-the-gate"
        complaints(browser)
        for path in PAGES:
            browser.get(alone.url + path)
            assert len(drawn(browser)) > 20, path
            settled(browser)
            assert complaints(browser) == [], path


def chats(site: Site, model: StubModel, directory: Path) -> None:
    """Say something in the chat's terminal and be answered; the gate sees all three sockets open and the page's calls pass."""
    with person(site, directory) as browser:
        enter(site, browser, path="/chat")
        wait = WebDriverWait(browser, PATIENCE_S)
        wait.until(lambda driver: driver.find_elements(By.CSS_SELECTOR, ".xterm-screen, canvas"))
        wait.until(lambda _: any(line["route"] == "session.create" for line in site.gate.audit()))
        settled(browser)
        model.forget()
        said = f"SAY:the answer for {directory.name}"
        screen = browser.find_element(By.CSS_SELECTOR, ".xterm-helper-textarea")
        # A terminal that is not ready yet drops what is typed, so it is typed again while nothing comes; and keys that come
        # at once are a paste, in which Enter is a line, so Enter is pressed when the rest has settled.
        turns = itertools.cycle([said, "", Keys.ENTER, Keys.ENTER, Keys.ENTER])

        def sent(_: Chrome) -> bool:
            screen.send_keys(next(turns))
            return any(said.encode() in seen.body for seen in model.seen)

        WebDriverWait(browser, PATIENCE_S, poll_frequency=1).until(sent)
    sockets = {"/api/ws", "/api/events", "/api/pty"}
    WebDriverWait(site, PATIENCE_S).until(
        lambda _: sockets <= {line["route"] for line in site.gate.audit() if line["status"] == 101}
    )
    calls = [line for line in site.gate.audit() if line["http_method"] == "CALL"]
    assert {line["outcome"] for line in calls} == {"answered"}


def test_the_chat_works_over_its_sockets(alone: Site, model: StubModel, tmp_path: Path) -> None:
    """With a gate that speaks TLS itself."""
    chats(alone, model, tmp_path)


def test_the_chat_works_behind_another_server(edged: Site, model: StubModel, tmp_path: Path) -> None:
    """With TLS at the edge: the gate knows the public name and believes the scheme."""
    chats(edged, model, tmp_path)


def test_after_the_logout_nothing_is_left(alone: Site, tmp_path: Path) -> None:
    """Neither here nor for whoever has copied everything that the browser had."""
    with person(alone, tmp_path / "person") as browser:
        enter(alone, browser)
        drawn(browser)
        stolen = browser.get_cookie(COOKIE)
        assert stolen is not None
        browser.execute_async_script(
            "const done = arguments[0]; fetch('/.herma/logout', {method: 'POST'}).then(done, done)"
        )
        browser.get(f"{alone.url}/config")
        assert browser.current_url.startswith(f"{alone.url}/.herma/login")
    with person(alone, tmp_path / "thief") as thief:
        thief.get(f"{alone.url}/.herma/login")
        thief.add_cookie(stolen)
        for path in ("/config", "/api/config"):
            thief.get(alone.url + path)
            assert "/.herma/login" in thief.current_url


def test_settings_are_saved_by_who_may(alone: Site, tmp_path: Path) -> None:
    """In the way that the page does it; whoever only looks is told why not."""
    save = """
        const [value, done] = [arguments[0], arguments[1]];
        fetch('/api/config', {method: 'PUT', headers: {'Content-Type': 'application/json',
            'X-Hermes-Session-Token': window.__HERMES_SESSION_TOKEN__}, body: JSON.stringify(value)})
            .then(async (answer) => done([answer.status, await answer.text()]), (error) => done([0, String(error)]))
    """
    change = {"config": {"display": {"tui_compact": True}}}
    with person(alone, tmp_path) as browser:
        enter(alone, browser)
        assert browser.execute_async_script(save, change) == [200, '{"ok":true}']
        browser.delete_all_cookies()
        enter(alone, browser, "victor")
        status, told = browser.execute_async_script(save, change)
    assert status == 403
    assert json.loads(told)["code"] == "herma.auth.scope", told


def test_the_settings_page_itself_loses_no_secret(alone: Site, dashboard: Dashboard, tmp_path: Path) -> None:
    """A person presses its button: the masked key that the page was shown is saved as it was."""
    place = dashboard.directory / "config.yaml"
    endpoint = {"provider": "custom", "base_url": "https://v.example.com/v1", "api_key": KEY}
    place.write_text(yaml.safe_dump({**yaml.safe_load(place.read_text()), "auxiliary": {"vision": endpoint}}))
    with person(alone, tmp_path) as browser:
        enter(alone, browser, path="/config")
        drawn(browser)
        settled(browser)
        assert KEY not in browser.page_source
        save = "//button[normalize-space()='Save' or normalize-space()='SAVE']"
        WebDriverWait(browser, PATIENCE_S).until(lambda driver: driver.find_elements(By.XPATH, save))[
            0
        ].click()
        WebDriverWait(browser, PATIENCE_S).until(
            lambda _: any(
                line["route"] == "/api/config"
                and line["http_method"] == "PUT"
                and "mask-restored" in json.dumps(line)
                for line in alone.gate.audit()
            )
        )
    assert yaml.safe_load(place.read_text())["auxiliary"]["vision"]["api_key"] == KEY
