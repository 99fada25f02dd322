"""Requests that a page elsewhere made a browser send."""

import pytest

from herma.console.guard import from_a_browser, of_another_page

OWN = "http://127.0.0.1:8644"
HOST = "127.0.0.1:8644"

FOREIGN: dict[str, tuple[str, dict[str, str]]] = {
    "another site's form": ("POST", {"Origin": "https://evil.example"}),
    "another port's form": ("POST", {"Origin": "http://127.0.0.1:9119"}),
    "another name of this machine": ("POST", {"Origin": "http://localhost:8644"}),
    "the same name with TLS": ("POST", {"Origin": "https://127.0.0.1:8644"}),
    "a sandboxed frame": ("POST", {"Origin": "null"}),
    "nobody says": ("POST", {}),
    "another port's form, without origin": ("POST", {"Sec-Fetch-Site": "same-site"}),
    "origin decides alone": ("POST", {"Origin": "http://evil.example", "Sec-Fetch-Site": "same-origin"}),
    "another site's fetch": ("GET", {"Origin": "https://evil.example"}),
    "another port's image": ("GET", {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"}),
    "another site's frame": (
        "GET",
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"},
    ),
}
FINE: dict[str, tuple[str, dict[str, str]]] = {
    "own form": ("POST", {"Origin": OWN}),
    "own form, without origin": ("POST", {"Sec-Fetch-Site": "same-origin"}),
    "typed": ("GET", {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"}),
    "a program": ("GET", {}),
    "own stream": ("GET", {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"}),
    "a link that was followed": (
        "GET",
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"},
    ),
}


@pytest.mark.parametrize("case", FOREIGN)
def test_another_page_is_noticed(case: str) -> None:
    """Other sites, other ports and other names of this machine are other pages."""
    method, headers = FOREIGN[case]
    assert of_another_page(method, HOST, headers)


@pytest.mark.parametrize("case", FINE)
def test_own_pages_and_programs_are_let_in(case: str) -> None:
    """What the console's own page sends, what a person typed or followed, and what no page is behind."""
    method, headers = FINE[case]
    assert not of_another_page(method, HOST, headers)


def test_a_browser_is_told_from_a_program() -> None:
    """Either line gives a browser away."""
    assert from_a_browser({"Origin": OWN})
    assert from_a_browser({"Sec-Fetch-Site": "none"})
    assert not from_a_browser({"Host": HOST})
