"""Messages to people: masked where a secret is, the same bytes everywhere else."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.egress.masking import Masker
from herma.policy.egress.platform import InUse
from herma.policy.message.form import MAX_PARTS, FormError
from support.redactor import GITHUB, redactor

MASKER = Masker(redactor())
NOTHING = InUse(())
TOKEN = InUse(["/token", "/files/*/id"])
FORM = b"application/x-www-form-urlencoded"
MULTIPART = b"multipart/form-data; boundary=xx"


def part(name: str, value: str, more: str = "") -> str:
    """One part of a form."""
    return f'--xx\r\nContent-Disposition: form-data; name="{name}"{more}\r\n\r\n{value}\r\n'


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (b'{"text": "hello", "n": 1}', b"application/json"),
        (b"hello", b"text/plain"),
        (b"", b""),
        (b"\xff\xfe", b"image/png"),
        (b"text=hello+there&n=1", FORM),
        ((part("text", "hello") + "--xx--\r\n").encode(), MULTIPART),
    ],
)
def test_what_holds_no_secret_stays_byte_for_byte(raw: bytes, kind: bytes) -> None:
    """The same object, so that nothing is written again."""
    masked, findings = MASKER.body(raw, kind, NOTHING)
    assert masked is raw
    assert findings == ()


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (json.dumps({"text": f"run it with {GITHUB}"}).encode(), b"application/json"),
        (f"run it with {GITHUB}".encode(), b"text/plain; charset=utf-8"),
        (f"text=run+it+with+{GITHUB}&n=1".encode(), FORM),
        ((part("text", GITHUB) + part("n", "1") + "--xx--\r\n").encode(), MULTIPART),
        ((part("f", "x", f'; filename="{GITHUB}.txt"') + "--xx--\r\n").encode(), MULTIPART),
    ],
)
def test_a_secret_is_masked_in_every_kind_of_body(raw: bytes, kind: bytes) -> None:
    """And what is around it is as it was."""
    masked, findings = MASKER.body(raw, kind, NOTHING)
    assert GITHUB.encode() not in masked
    assert findings
    before, _, after = raw.partition(GITHUB.encode())
    assert masked.startswith(before[:8])
    assert masked.endswith(after)


def test_what_is_in_use_stays() -> None:
    """A platform wants its own credentials and handles back."""
    body = json.dumps({"token": GITHUB, "files": [{"id": GITHUB}], "text": GITHUB}).encode()
    masked, findings = MASKER.text(body, TOKEN)
    said = json.loads(masked)
    assert (said["token"], said["files"][0]["id"]) == (GITHUB, GITHUB)
    assert GITHUB not in said["text"]
    assert len(findings) == 1
    form, _ = MASKER.pairs(f"token={GITHUB}&text={GITHUB}".encode(), TOKEN)
    assert form.startswith(f"token={GITHUB}&text=".encode())
    assert form.count(GITHUB.encode()) == 1
    parts = (part("token", GITHUB) + part("text", GITHUB) + "--xx--\r\n").encode()
    assert MASKER.body(parts, MULTIPART, TOKEN)[0].count(GITHUB.encode()) == 1


def test_a_value_is_judged_by_its_name() -> None:
    """As the member of an object would be."""
    masked, findings = MASKER.pairs(b"password=F4ke-horse_68&text=hi", NOTHING)
    assert b"F4ke-horse_68" not in masked
    assert findings
    assert masked.endswith(b"&text=hi")


def test_the_name_of_a_field_that_is_a_secret_is_refused() -> None:
    """It tells nothing of the value any more."""
    with pytest.raises(FormError, match="secret"):
        MASKER.text(b"hello there", NOTHING, GITHUB)


@pytest.mark.parametrize("coding", ["utf-16", "utf-16-le", "utf-32"])
def test_text_in_another_coding_is_masked(coding: str) -> None:
    """Readers of JSON guess the coding by its first bytes (RFC 4627 section 3)."""
    raw = json.dumps({"text": GITHUB}).encode(coding)
    masked, findings = MASKER.text(raw, NOTHING)
    assert GITHUB.encode(coding.removesuffix("-le") + "-le") not in masked
    assert findings


@pytest.mark.parametrize("bad", [b"\xff", b"\xc3", b"\xed\xa0\x80"])
def test_a_byte_that_is_no_character_hides_nothing(bad: bytes) -> None:
    """Most readers put a mark in its place and show the rest."""
    raw = bad + f" run it with {GITHUB} ".encode() + bad
    masked, findings = MASKER.body(raw, b"text/plain", NOTHING)
    assert GITHUB.encode() not in masked
    assert findings
    assert masked.startswith(bad)
    assert masked.endswith(bad)


@pytest.mark.parametrize(
    "mark", [b"\xff\xfe", b"\xfe\xff", b"\xff\xfe\x00\x00", b"\x00", b"\x00\x00\xfe\xff"]
)
@pytest.mark.parametrize("end", [b"", b".", b"..", b"..."])
def test_a_mark_of_another_coding_hides_no_text(mark: bytes, end: bytes) -> None:
    """Read in that coding it is noise; who ignores the mark reads the secret."""
    masked, findings = MASKER.body(mark + f" run it with {GITHUB} ".encode() + end, b"text/plain", NOTHING)
    assert GITHUB.encode() not in masked
    assert findings


@pytest.mark.parametrize(
    "raw",
    [
        b"\x00\x00\x00\x18ftypisom\x00\x00\x02\x00isomiso2" + bytes(range(256)),
        b"RIFF\x24\x08\x00\x00WAVEfmt " + bytes(range(256)) * 4,
        b"\xff\xfe" + bytes(range(255)),
    ],
)
def test_a_film_or_a_sound_is_sent_as_it_is(raw: bytes) -> None:
    """Nothing in it is text, whatever its first bytes are taken for."""
    assert MASKER.body(raw, b"application/octet-stream", NOTHING) == (raw, ())


def test_too_many_fields_are_refused() -> None:
    """Every one costs a look."""
    with pytest.raises(FormError, match="fields"):
        MASKER.pairs(b"a&" * MAX_PARTS, NOTHING)


def test_bytes_without_a_secret_stay() -> None:
    """An image holds readable runs too."""
    raw = b"\x89PNG\r\n\x1a\n an image with a comment \xff and another one"
    assert MASKER.body(raw, b"image/png", NOTHING) == (raw, ())
    masked, findings = MASKER.body(raw + GITHUB.encode(), b"image/png", NOTHING)
    assert GITHUB.encode() not in masked
    assert findings


@given(st.binary(max_size=200))
def test_whatever_it_is_no_secret_comes_through(around: bytes) -> None:
    """Between blanks, in a body that claims to be text."""
    masked, _ = MASKER.body(around + b" " + GITHUB.encode() + b" " + around, b"text/plain", NOTHING)
    assert GITHUB.encode() not in masked
