"""Listeners, names and upstreams, judged together."""

import pytest

from support.config_text import codes, parsed, problems

BOARD = "upstreams: {board: {url: 'http://127.0.0.1:9119', profile: hermes-dashboard, public_names: [board.example.com]}}\n"


def test_a_name_or_a_listener_leads_to_each_upstream() -> None:
    """One is enough; the upstream of `upstream` comes first, and has the names that nobody else has."""
    settings = parsed(
        BOARD + "listen: [{address: '127.0.0.1:8643'}, {address: '127.0.0.1:8650', upstream: board}]\n"
    )
    assert list(settings.all_upstreams()) == ["default", "board"]
    assert settings.all_upstreams()["board"].profile == "hermes-dashboard"
    assert [listener.upstream for listener in settings.listen] == [None, "board"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "listen: [{address: '127.0.0.1:8650', upstream: bord}]\n" + BOARD,
            "herma.yaml:1:48: listen.upstream: there is no upstream bord; did you mean 'board'?",
        ),
        (
            "upstreams:\n  board: {url: 'http://127.0.0.1:9119'}\n",
            "herma.yaml:2:3: upstreams.unreachable: no request can reach the upstream board; give it public_names, or name it at a listener",
        ),
        (
            "listen: [{address: '127.0.0.1:8650', upstream: board}]\n" + BOARD,
            "herma.yaml:3:1: upstreams.unreachable: no request can reach the upstream default; give it public_names, or name it at a listener",
        ),
        (
            BOARD + "listen: [{address: '127.0.0.1:8643', public_names: [board.example.com]}]\n",
            "herma.yaml:2:53: listen.public_names: found board.example.com, which leads to the upstream board; take it out here or there",
        ),
    ],
    ids=["unknown", "no door", "none for the first", "a name that leads elsewhere"],
)
def test_what_leads_nowhere_or_to_two_places_is_told(text: str, said: str) -> None:
    """With its place and the way out."""
    assert problems(text)[0] == said


def test_two_upstreams_have_no_name_in_common() -> None:
    """A name without a port is the same as with any."""
    names = "upstreams:\n  a: {{url: 'http://127.0.0.1:1', public_names: [{}]}}\n  b: {{url: 'http://127.0.0.1:2', public_names: [{}]}}\n"
    assert codes(names.format("x.example.com", "x.example.com:8443")) == ["upstreams.public_names"]
    assert codes(names.format("'x.example.com:443'", "'x.example.com:8443'")) == []


@pytest.mark.parametrize("name", ["a/b", "'a b'", "Default", "''"])
def test_a_name_is_fit_for_logs_and_stands_for_one(name: str) -> None:
    """It stands in the audit and before the ids of what the upstream made."""
    text = f"upstreams: {{{name}: {{url: 'http://127.0.0.1:9119', public_names: [board.example.com]}}}}\n"
    assert codes(text) == ["upstreams.name"]


@pytest.mark.parametrize(
    ("listen", "wanting"),
    [
        ("[{address: '0.0.0.0:8643'}]", True),
        ("[{address: '0.0.0.0:8643', upstream: board}, {address: '127.0.0.1:8650'}]", False),
        ("[{address: '0.0.0.0:8643', public_names: [agent.example.com]}]", False),
    ],
    ids=["names of another", "names of its own upstream", "names of its own"],
)
def test_a_public_listener_wants_names_for_what_it_leads_to(listen: str, wanting: bool) -> None:
    """Those of its upstream are names, too; those of another are not."""
    warnings = [str(warning) for warning in parsed(f"{BOARD}listen: {listen}\n").warnings]
    assert any("listen.public_names" in warning for warning in warnings) is wanting


def test_no_listener_takes_the_address_of_any_upstream() -> None:
    """The gate would call itself."""
    assert codes(BOARD + "listen: [{address: '127.0.0.1:9119'}]\n") == ["listen.upstream"]


def test_the_key_of_each_upstream_is_held_to_the_floor() -> None:
    """A port that somebody reaches without the gate is guarded by it alone."""
    weak = (
        "upstreams: {board: {url: 'http://127.0.0.1:9119', public_names: [b.example.com], key: '${WEAK}'}}\n"
    )
    found = problems(
        weak,
        environ={
            "WEAK": "password",
            "FAKE_KEY": "fake0vLm3RtYw7Zs9PbNc2Qx5",
            "OTHER_FAKE_KEY": "fakeJ8hTr2Wd6Kp4Vn1Gz7Mb",
        },
    )
    assert len(found) == 1
    assert "upstream.key." in found[0]
