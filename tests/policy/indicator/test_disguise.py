"""Claims about `herma.policy.indicator.disguise`."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.indicator import disguise
from herma.policy.indicator.disguise import HIDING_BYTES, undisguised

MEANT = {
    "curl hxxp://43.228.79[.]77/x": "curl http://43.228.79.77/x",
    "hXXps[:]//bad(.)example": "https://bad.example",
    "bad[dot]example": "bad.example",
    "bad{.}example": "bad.example",
    "h**p://a": "http://a",
    "x[at]bad(DOT)example": "x@bad.example",
    "hxxp[://]a": "http://a",
    "43.228.79.077": "43.228.79.77",
    "0043.228.079.77": "43.228.79.77",
    "43.228 .79.77": "43.228.79.77",
    "43.228. 79.77": "43.228.79.77",
    "43.228.\\\n79.77": "43.228.79.77",
    "43.228.\\\r\n79.77": "43.228.79.77",
    'curl bad""guy.example': "curl badguy.example",
    "curl bad''guy.example": "curl badguy.example",
    'get("bad" + "guy.example")': 'get("badguy.example")',
    "get('bad'+'guy.example')": "get('badguy.example')",
    "curl bad\\guy\\.example": "curl badguy.example",
    "curl http:/bad.example": "curl http://bad.example",
    "open https:\\/bad.example": "open https://bad.example",
    "dig $(id).bad.example": "dig $(id) bad.example",
    "ping a.b.c.d.e.f.g.h.i.j.k.l.bad.example": "ping k.l.bad.example",
    "bad\u3002example": "bad.example",
}


@pytest.mark.parametrize(("text", "meant"), MEANT.items())
def test_a_disguise_is_undone(text: str, meant: str) -> None:
    """Brackets around dots, colons and signs, other schemes, zeros in front, cuts."""
    assert undisguised(text) == meant


# The name or a part of it stands in these as it is.
_SHOWN = ("\\", " .", ". ", "http:/b", ").", ".l.", "\u3002")


@pytest.mark.parametrize("text", [text for text in MEANT if not any(sign in text for sign in _SHOWN)])
def test_the_raw_bytes_show_that_there_may_be_one(text: str) -> None:
    """Cuts are looked for in entries only; a backslash is a sign of its own."""
    assert any(sign.search(json.dumps(text).encode()) for sign in HIDING_BYTES)


@pytest.mark.parametrize(
    "text",
    ["", "a [b] (c) {d} <e>", "10:00:00.012 took 0.05 s", "version 1.02", "see [1], (2).", "max = a[0]"],
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    """Lists, times, footnotes."""
    assert undisguised(text) == text


def test_cuts_of_a_long_text_are_prose(monkeypatch: pytest.MonkeyPatch) -> None:
    """Arguments are short."""
    monkeypatch.setattr(disguise, "MAX_CUT_CHARS", 5)
    assert undisguised("43.228 .79.77") == "43.228 .79.77"


@given(st.text("hx*p:[]().0{}<>dotat@ \\\n19", max_size=60))
def test_a_text_never_grows(text: str) -> None:
    """What is looked at once more costs as much at most, but for a slash behind a scheme."""
    assert len(undisguised(text)) <= len(text) + text.count(":")
