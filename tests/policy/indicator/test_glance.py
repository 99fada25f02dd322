"""Claims about `herma.policy.indicator.glance`."""

import base64

from hypothesis import given
from hypothesis import strategies as st

from herma.policy.indicator.glance import ODD_NUMBER, encoded_words, words
from herma.policy.indicator.indicator import Action, Indicator, Matching


def _words(value: str, matching: Matching, ecosystem: str = "") -> tuple[str, ...]:
    return words(Indicator("x", value, matching, Action.ALERT, "x", ecosystem))


def test_words_follow_the_kind() -> None:
    """Each kind is looked for by what all its spellings share."""
    assert _words("60.165.0.0/16", Matching.ADDRESS) == ("60.165.", ".165.60", "60-165-", "-165-60")
    assert _words("60.165.167.0/25", Matching.ADDRESS) == (
        "60.165.167.",
        ".167.165.60",
        "60-165-167-",
        "-167-165-60",
        "3ca5a7",
        "074513234",
        "074513235",
        "60.108561",
        "60.108562",
        "60.108563",
        "60.165.427",
        "60.165.428",
        "3ca5:a7",
        "0x3c.0xa5.0xa7.",
        "074.0245.0247.",
    )
    assert _words("2a0e:bad::/48", Matching.ADDRESS) == ("2a0e:bad", "2a0e-bad", "2a0e:0bad", "2a0e-0bad")
    assert "2a0e::" in _words("2a0e::/32", Matching.ADDRESS)
    assert _words("/tmp/x/.hidden", Matching.PATH) == ("/.hidden",)
    assert _words("bad.example:80", Matching.DOMAIN) == ("bad.example",)
    assert "bucher.example" in _words("xn--bcher-kva.example", Matching.DOMAIN)
    assert _words("https://Bad.example/x", Matching.URL) == ("bad.example",)
    assert "43.228.79.77" in _words("https://43.228.79.77/x", Matching.URL)
    assert set(_words("a-b_c", Matching.PACKAGE, "pypi")) >= {"a-b-c", "a_b_c", "a.b.c", "a-b_c", "a.b-c"}
    assert _words("a-b-c-d-longest", Matching.PACKAGE, "pypi") == ("longest",)
    assert _words("forge.example/someone/x", Matching.CASEFOLD) == (
        "forge.example/someone/x",
        "forge.example",
    )
    assert _words("a[0-9]", Matching.REGEX) == ()


@given(st.text("abcXYZ019.-", min_size=6, max_size=20), st.binary(max_size=4), st.binary(max_size=4))
def test_a_word_shows_in_base64_at_each_alignment(value: str, before: bytes, after: bytes) -> None:
    """And in hex."""
    made = Indicator("x", value, Matching.SUBSTRING, Action.ALERT, "x")
    encoded = base64.b64encode(before + value.encode() + after).lower()
    assert any(word in encoded for word in encoded_words(made))
    assert value.lower().encode().hex().encode() in set(encoded_words(made))


def test_short_words_are_not_looked_for_in_base64() -> None:
    """They would be in every picture."""
    made = Indicator("x", "abcd", Matching.SUBSTRING, Action.ALERT, "x")
    assert sorted(encoded_words(made)) == [b"61626364", b"abcd"]


def test_numbers_that_could_be_addresses_are_seen() -> None:
    """Hex, octal, parts above 255 and whole numbers; no times, dates and versions."""
    assert all(map(ODD_NUMBER.search, ("0x2be44f4d", "043.1.2.3", "43.14962509", "736382797")))
    assert not any(map(ODD_NUMBER.search, ("12:30", "2026-01-02", "1.2.3", "v10.4")))
