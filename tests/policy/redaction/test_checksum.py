"""Checksums of vendors' tokens."""

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.redaction.checksum import CHECKSUMS, base62_crc32, grafana, pypi
from herma.policy.redaction.format import FormatRule
from support.redactor import masked, rule

LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
# Made with the published algorithm; no vendor issued it.
ENTROPY = "F4keK3yF0rT3stF4keK3yF0rT3stF4"


def in_base62(number: int) -> str:
    digits = ""
    while number:
        number, rest = divmod(number, 62)
        digits = LETTERS[rest] + digits
    return digits.rjust(6, "0")


@given(st.text(LETTERS, min_size=1, max_size=40))
def test_a_token_made_as_published_is_right(entropy: str) -> None:
    """Prefix, random part, CRC-32 of it in base 62."""
    token = f"ghp_{entropy}{in_base62(zlib.crc32(entropy.encode()))}"
    assert base62_crc32(token)
    changed = token[:-1] + LETTERS[(LETTERS.index(token[-1]) + 1) % 62]
    assert not base62_crc32(changed)


@pytest.mark.parametrize("token", ["ghp_", "ghp_abc", "ghp_F4ke-K3y", "npm_ﬀ4keK3yF0r", ""])
def test_what_has_no_room_for_a_checksum_has_none(token: str) -> None:
    """Too short, or outside the alphabet."""
    assert not base62_crc32(token)


def test_grafana_writes_the_lowest_byte_first() -> None:
    """The checksum is taken over prefix and secret."""
    key = "glsa_F4keK3yF0rT3stF4keK3yF0rT3stF4ke"
    right = zlib.crc32(key.encode()).to_bytes(4, "little").hex()
    assert grafana(f"{key}_{right}")
    assert not grafana(f"{key}_00000000")
    assert not grafana("glsa")


def test_a_token_of_the_package_index_holds_a_macaroon() -> None:
    """Its first bytes name the index."""
    assert pypi("pypi-AgEIcHlwaS5vcmcF4keK3yF0rT3st")
    assert not pypi("pypi-F4keK3yF0rT3stF4keK3yF0rT3st")
    assert not pypi("pypi-a")


def test_a_right_checksum_masks_what_reads_like_a_placeholder_and_a_wrong_one_excuses_nothing() -> None:
    """Chance may write `xxxx` into a key; a typing error leaves a key that is right but for a letter."""
    entropy = "exampleexamplexxxxxplaceholder"
    right = masked(f"ghp_{entropy}{in_base62(zlib.crc32(entropy.encode()))}")
    assert right.startswith("[github_pat:")
    assert masked(f"ghp_{entropy}000000") == f"ghp_{entropy}000000"
    assert masked(f"ghp_{ENTROPY}000000").startswith("[github_pat:")


def test_the_names_that_rules_use_are_known() -> None:
    """A rule names its checksum."""
    assert sorted(CHECKSUMS) == ["base62-crc32", "grafana", "pypi"]


def test_a_rule_with_an_unknown_checksum_is_refused() -> None:
    """A typing error would leave tokens unproved."""
    with pytest.raises(ValueError, match=r"options\.checksum"):
        FormatRule(rule(pattern="x", checksum="crc-64"))
