"""A person with a real browser who logs in at a certified identity provider, and out again, at a gate that speaks TLS."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium.common.exceptions import TimeoutException
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from support.browser import browsing, missing_browser
from support.gate import Gate
from support.issuer import OIDC
from support.login import USERS
from support.real_issuer import SECRET, RealIssuer
from support.upstream import RecordingUpstream
from support.visitor import LOGIN_COOKIE, SESSION_COOKIE
from support.wire_tls import make_pair

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(bool(missing_browser()), reason=f"not installed: {missing_browser()}"),
]

NAME = "agent.example.com"
PATIENCE_S = 30
ALICE = {"sub": "alice-1", "email": "alice@good.com", "email_verified": True, "groups": ["agent-admins"]}


class Site:
    """A gate, its provider, and a browser in front of them."""

    def __init__(self, gate: Gate, issuer: RealIssuer, driver: Chrome) -> None:
        self.issuer, self.driver = issuer, driver
        self.url = f"https://{NAME}:{gate.port}"

    def wait(self, condition: Any) -> None:
        try:
            WebDriverWait(self.driver, PATIENCE_S).until(condition)
        except TimeoutException:
            raise AssertionError(f"{self.driver.current_url}: {self.text()[:2000]}") from None

    def text(self) -> str:
        return self.driver.find_element(By.TAG_NAME, "body").text

    def session(self) -> dict[str, Any]:
        self.driver.get(f"{self.url}/.herma/session")
        return dict(json.loads(self.text()))

    def click(self, selector: str) -> None:
        self.driver.find_element(By.CSS_SELECTOR, selector).click()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Everything, once."""
    directory = tmp_path_factory.mktemp("provider")
    with RecordingUpstream() as upstream:
        gate = Gate(directory, upstream.url)
        here, pair = f"https://{NAME}:{gate.port}/.herma/login", make_pair(directory)
        issuer = RealIssuer(directory, f"{here}/callback", here)
        gate.config["listen"] = [
            {
                "address": f"127.0.0.1:{gate.port}",
                "public_names": [f"{NAME}:{gate.port}"],
                "tls": {"cert_file": pair.cert, "key_file": pair.key},
            }
        ]
        oidc = OIDC | {"issuer": issuer.url, "client_secret": SECRET, "scopes": ["openid", "email", "groups"]}
        gate.config["auth"]["login"] = {"users": USERS, "oidc": oidc}
        gate.write_config(gate.config)
        with issuer, gate, browsing(directory / "browser", hosts=f"MAP {NAME} 127.0.0.1") as driver:
            issuer.is_now(**ALICE)
            yield Site(gate, issuer, driver)


def test_a_person_logs_in_and_out(site: Site) -> None:
    """By a click there and back; the sign-out goes on to the provider by itself, and from there back to the login page."""
    site.driver.get(f"{site.url}/v1/models")
    assert site.driver.current_url == f"{site.url}/.herma/login?next=%2Fv1%2Fmodels"
    site.click("a.button")
    site.wait(lambda driver: driver.current_url == f"{site.url}/v1/models")
    cookies = {cookie["name"]: cookie for cookie in site.driver.get_cookies()}
    assert set(cookies) == {SESSION_COOKIE}
    assert (cookies[SESSION_COOKIE]["httpOnly"], cookies[SESSION_COOKIE]["secure"]) == (True, True)
    assert site.session()["name"] == "alice@good.com"
    site.driver.get(f"{site.url}/.herma/login")
    assert "You are signed in as alice@good.com." in site.text()
    site.click("button.quiet")
    # The provider gets no token of the person from the gate, so it asks.
    site.wait(lambda driver: driver.find_elements(By.CSS_SELECTOR, "button[name=logout][value=yes]"))
    assert site.driver.current_url.startswith(f"{site.issuer.url}/session/end?")
    site.click("button[name=logout][value=yes]")
    site.wait(lambda driver: driver.current_url.partition("?")[0] == f"{site.url}/.herma/login")
    assert "You are signed in" not in site.text()
    assert site.session()["code"] == "herma.auth.required"


def test_a_second_login_needs_a_second_way_back(site: Site) -> None:
    """The page of the way back, opened again, says to start again; nothing of the provider stands in it."""
    site.driver.get(f"{site.url}/.herma/login/callback?code=x&state=y&error_description=%3Cb%3Ecall%20555")
    assert "Start again." in site.text()
    assert "555" not in site.driver.page_source
    site.click("a.button")
    site.wait(lambda driver: driver.current_url == f"{site.url}/")
    assert site.session()["scopes"] == ["admin"]
    assert LOGIN_COOKIE not in {cookie["name"] for cookie in site.driver.get_cookies()}


def test_who_may_not_come_in_reads_why(site: Site) -> None:
    """In plain words, on the login page, with the way in at hand."""
    site.issuer.is_now(**{**ALICE, "sub": "mallory-1", "email": "mallory@evil.com"})
    site.driver.delete_all_cookies()
    site.driver.execute_cdp_cmd("Network.clearBrowserCookies", {})
    site.driver.get(f"{site.url}/.herma/login")
    site.click("a.button")
    site.wait(lambda driver: driver.current_url.startswith(f"{site.url}/.herma/login/callback"))
    assert "Your account may not come in here." in site.text()
    assert site.driver.find_element(By.CSS_SELECTOR, "form input[name=password]").is_displayed()
    site.issuer.is_now(**ALICE)


def test_the_page_is_readable_with_both_ways_in(site: Site, tmp_path: Path) -> None:
    """The button stands above the form, as wide as it, in letters that can be told from the ground."""
    site.driver.get(f"{site.url}/.herma/login")
    link = site.driver.find_element(By.CSS_SELECTOR, "a.button")
    field = site.driver.find_element(By.ID, "name")
    assert link.text == "Log in with Example & Sons"
    assert link.size["width"] == field.size["width"]
    assert link.size["height"] >= 44
    assert link.location["y"] + link.size["height"] < field.location["y"]
    assert link.value_of_css_property("color") != link.value_of_css_property("background-color")
    assert not [one for one in site.driver.get_log("browser") if "Content Security Policy" in one["message"]]
    site.driver.save_screenshot(str(tmp_path / "login.png"))
