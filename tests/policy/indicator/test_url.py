"""Claims about `herma.policy.indicator.url`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.indicator.url import locators, parse_locator, place_of

SAME = [
    "https://bad.example/a/x.sh",
    "http://BAD.example:80/a/x.sh#frag",
    "hxxp://user:pw@bad.example./a//x.sh",
    "HTTP:\\\\bad.example\\a\\x.sh",
    "bad.example/a/b/../%78.sh",
    "bad.example/../a/x.sh",
    "bad.example/a/x.sh/",
    "(see https://bad.example/a/x.sh).",
    "https://bad.example/a/x.sh?anything=1",
    "bad.example/a/X.SH",
]
OTHER = [
    "https://bad.example/a/x.shell",
    "https://bad.example/a",
    "https://worse.bad.example/a/x.sh",
    "https://bad.example:8443/a/x.sh",
    "https://bad.example.org/a/x.sh",
    "no url",
    "https://%2e/a/x.sh",
    "word/a/x.sh",
    "http://@/a/x.sh",
]


def _covered(value: str, text: str) -> bool:
    wanted = parse_locator(value)
    return any(wanted.covers(found) for found in locators(text))


@pytest.mark.parametrize("text", SAME)
def test_spellings_of_a_url_are_one(text: str) -> None:
    """Scheme, case, user, default port, dot segments, escapes and what follows make no other resource."""
    assert _covered("https://bad.example/a/x.sh", text)


@pytest.mark.parametrize("text", OTHER)
def test_other_urls_are_other(text: str) -> None:
    """A longer name, another host or another port is something else."""
    assert not _covered("https://bad.example/a/x.sh", text)


def test_a_query_of_the_indicator_counts() -> None:
    """It is compared whole; one that only the text has does not matter."""
    assert _covered("http://bad.example/?id=7", "http://bad.example/?id=7")
    assert not _covered("http://bad.example/?id=7", "http://bad.example/?id=77")


def test_a_url_without_a_path_stands_for_its_host() -> None:
    """Everything below it is meant."""
    assert _covered("http://bad.example/", "curl bad.example/any/thing")


def test_a_star_stands_for_any_continuation() -> None:
    """Of the path, or of the query behind it."""
    assert _covered("http://bad.example/lo*", "http://bad.example/load?x=1")
    assert _covered("http://bad.example/x?a=*", "http://bad.example/x?a=b")
    assert not _covered("http://bad.example/x?a=*", "http://bad.example/x")


@pytest.mark.parametrize(
    "value", ["", "bad.example/x", "https://", "https:///x", "https://a b/", "https://./x"]
)
def test_what_is_no_url_is_refused(value: str) -> None:
    """An indicator says scheme and host."""
    with pytest.raises(ValueError, match="scheme"):
        parse_locator(value)


def test_no_number_of_locators_hides_the_last_one() -> None:
    """A list is read to its end."""
    assert [found.host for found in locators("a.example/x " * 3000 + "b.example/y")][-1] == "b.example"


@given(st.text(max_size=200))
def test_any_text_can_be_searched(text: str) -> None:
    """No text makes the search fail."""
    assert all(found.host for found in locators(text))


PLACES = [
    "gitea.com//someone/x",
    "gitea.com/./someone/x",
    "gitea.com/a/../someone/x",
    "gitea.com:443/someone/x",
    "gitea.com./someone/x",
    "git@gitea.com:someone/x.git",
    "ssh://git@gitea.com/someone/x",
    "gitea.com\\someone\\x",
    "https://gitea.com/Someone/X/raw/main/a.sh",
]


@pytest.mark.parametrize("text", PLACES)
def test_a_published_repository_is_one_in_every_spelling(text: str) -> None:
    """Of browsers, of `git` and of `scp`."""
    place = place_of("gitea.com/someone/x")
    assert place is not None
    assert any(place.covers(found) for found in locators(text))


@pytest.mark.parametrize("text", ["git@gitea.com:443/other/x", "gitea.com/someone/xy", "root@gitea.com:22"])
def test_another_repository_is_another(text: str) -> None:
    """A port is no path, and a longer name another name."""
    place = place_of("gitea.com/someone/x")
    assert place is not None
    assert not any(place.covers(found) for found in locators(text))


@pytest.mark.parametrize("value", ["hermes-0day", "bad.example", "/tmp/x", "curl a.example/x | sh", "npm:x"])
def test_other_values_are_no_places(value: str) -> None:
    """Names, paths and commands are compared as text."""
    assert place_of(value) is None
