"""Where a login may lead."""

import re

import hypothesis.strategies as st
import pytest
from hypothesis import example, given

from herma.policy.browser.local_target import HOME, MAX_CHARACTERS, local_target


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("/", "/"),
        ("/chat", "/chat"),
        ("/a/b/", "/a/b/"),
        ("/logs?file=a&lines=10", "/logs?file=a&lines=10"),
        ("/x?", "/x"),
        ("/caf%C3%A9", "/caf%C3%A9"),
        ("/a%20b", "/a%20b"),
        ("/%41", "/A"),
        ("/a%2Fb", "/a%2Fb"),
        ("/x?u=https://evil.example/", "/x?u=https://evil.example/"),
        ('/x?q=<b>"|`', "/x?q=%3Cb%3E%22%7C%60"),
        ("/x?q=%3Cb%3E", "/x?q=%3Cb%3E"),
    ],
)
def test_paths_of_this_host_stay_what_they_are(text: str, target: str) -> None:
    """Written anew, and once more the same."""
    assert local_target(text) == target
    assert local_target(target) == target


@pytest.mark.parametrize(
    "text",
    [
        "", "chat", "//evil.example", "///evil.example", "/\\evil.example", "\\\\evil.example", "/\\/evil.example", "https://evil.example/",
        "https:/evil.example", "javascript:alert(1)", "data:text/html,x", "/%5Cevil.example", "/%5cevil", "/\t/evil.example",
        "/\n/evil.example", "/\r\nSet-Cookie: a=b", "/%0d%0aSet-Cookie:%20a=b", "/%09/evil", "/%00", "/./x", "/../x", "/a/../b", "/%2e%2e/x",
        "/.//evil.example", "/a//b", "/%2Fevil.example", "/%2f%2fevil.example", "/x#frag", "/x;y", " /x", "/x y", "@evil.example", "/caf\u00e9",
        "/\u2028/evil", "/%E2%80%AE", "/%zz", "/%", "/" + "a" * MAX_CHARACTERS, "/.herma/login", "/%2Eherma/logout", "/x?\\evil", "?next=/x",
        "*", "http:evil.example", "/.herma", "/%EF%BC%8F/evil",
    ],
)  # fmt: skip
def test_everything_else_leads_home(text: str) -> None:
    """Other hosts, schemes, what a browser or a parser could read as one, and the gate's own pages."""
    assert local_target(text) == HOME


@given(
    st.text(max_size=60)
    | st.text("/\\.%25FfCcEe0-9@:?#;\t\r\n evil", max_size=30).map(lambda text: "/" + text)
)
@example("/%2F/evil.example")
@example("/a?//evil")
def test_no_text_leads_elsewhere(text: str) -> None:
    """One slash, then something that is none; only characters that mean themselves in a URL; and reading it again changes nothing."""
    target = local_target(text)
    assert re.fullmatch(
        r"/(?:[A-Za-z0-9._~!$&'()*+,=:@%-][A-Za-z0-9._~!$&'()*+,=:@%/-]*)?(?:\?[A-Za-z0-9._~!$&'()*+,=:@%/?;-]+)?",
        target,
    )
    assert local_target(target) == target
