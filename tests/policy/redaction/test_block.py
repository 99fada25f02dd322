"""Private key blocks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.redaction.block import key_ends, private_key
from support.redactor import masked

LINE = ("F4keK3yF0rT3st" * 5)[:64]
KEY = f"-----BEGIN RSA PRIVATE KEY-----\n{LINE}\n{LINE}\nF4keEnd=\n-----END RSA PRIVATE KEY-----"
SHAPES = {
    "whole": KEY,
    "without an end": f"-----BEGIN PRIVATE KEY-----\n{LINE}\n{LINE}",
    "cut in a line": f"-----BEGIN PRIVATE KEY-----\n{LINE}\nF4keK3yF0rT3stF4ke",
    "indented": KEY.replace("\n", "\n    "),
    "quoted": KEY.replace("\n", "\n> "),
    "escaped": KEY.replace("\n", "\\n"),
    "escaped twice": KEY.replace("\n", "\\\\n"),
    "source": KEY.replace("\n", '\\n" +\n  "'),
    "encrypted": KEY.replace(
        "KEY-----\nF4", "KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,F4\n\nF4", 1
    ),
    "pgp": KEY.replace("RSA PRIVATE KEY", "PGP PRIVATE KEY BLOCK"),
    "openssh": KEY.replace("RSA", "OPENSSH"),
    "putty": f"Private-Lines: 2\n{LINE}\n{LINE}\nPrivate-MAC: x",
}


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES.keys())
def test_the_body_of_a_key_is_masked_in_every_shape(text: str) -> None:
    """Nothing of the body is left, header and footer stay."""
    out = masked(text)
    assert "F4keK3y" not in out
    assert out.startswith(text[:16])
    assert ("-----END" in out) is ("-----END" in text)


def test_a_key_has_one_fingerprint_in_every_shape() -> None:
    """Line ends and quotes are not part of the secret."""
    placeholders = {
        masked(SHAPES[shape]).partition("[")[2].partition("]")[0]
        for shape in ("whole", "indented", "quoted", "escaped", "source")
    }
    assert len(placeholders) == 1


@pytest.mark.parametrize(
    "text",
    [
        KEY.replace("PRIVATE", "PUBLIC"),
        KEY.replace("RSA PRIVATE KEY", "CERTIFICATE"),
        "-----BEGIN PRIVATE KEY----- goes first",
        "-----BEGIN PRIVATE KEY-----",
    ],
)
def test_public_keys_and_talk_of_keys_stay(text: str) -> None:
    """Only private keys are secret."""
    assert masked(text) == text


def test_prose_behind_a_cut_key_stays() -> None:
    """A key without footer ends where its lines end."""
    assert masked(f"-----BEGIN PRIVATE KEY-----\n{LINE}\nand so on").endswith("]\nand so on")


def test_an_open_key_ends_at_its_footer_or_at_a_word() -> None:
    """A stream keeps masking until then."""
    assert key_ends(f"{LINE}\n{LINE}", 0) == -1
    assert key_ends(f"{LINE}\n", 0) == -1
    assert key_ends(f"{LINE}\n-----END", 0) == len(LINE) + 1
    assert key_ends(f"{LINE}\nand so on", 0) == len(LINE) + 1


@given(st.text(alphabet='F4k=\n\\n"-END ', max_size=80))
def test_any_text_behind_a_header_is_read(text: str) -> None:
    """A hit lies behind the header, whatever follows."""
    whole = "-----BEGIN PRIVATE KEY-----" + text
    assert all(27 <= hit.start < hit.end <= len(whole) for hit in private_key(whole, 0))
    assert private_key("no header", 0) == ()
    assert -1 <= key_ends(text, 0) <= len(text)
