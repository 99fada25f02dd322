"""Messages to people: masked where a secret is, the same bytes everywhere else."""

import base64
import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.egress.hiding import WATCHED
from herma.policy.egress.masking import Masker
from herma.policy.egress.platform import InUse
from herma.policy.egress.watched import Watched
from herma.policy.message.form import MAX_PARTS, FormError
from support.redactor import GITHUB, KEY, redactor

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
    handle = "AgACAgIAAxkBAAIBZ2F4keK3yF0rT3st"
    body = json.dumps({"token": GITHUB, "files": [{"id": handle}], "text": GITHUB}).encode()
    masked, findings = MASKER.text(body, TOKEN)
    said = json.loads(masked)
    assert (said["token"], said["files"][0]["id"]) == (GITHUB, handle)
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


VALUE = "k3y-0f-th3-t3st-0001"
KNOWING = MASKER.knowing(Watched.of(KEY, [f"A={VALUE}"]))
NOISE = base64.b64encode(random.Random(1).randbytes(400_000)).decode()


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (json.dumps({"text": f"see {VALUE}", "n": [{"m": VALUE}]}).encode(), b"application/json"),
        (json.dumps({"text": f"see {VALUE}"}).encode("utf-16"), b"application/json"),
        (f"see {VALUE}".encode(), b"text/plain"),
        (f"text=see+{VALUE}&n=1".encode(), FORM),
        ((part("text", VALUE) + "--xx--\r\n").encode(), MULTIPART),
        ((part("f", f"A=1\nB={VALUE}\n", '; filename="n.env"') + "--xx--\r\n").encode(), MULTIPART),
        (json.dumps({"text": f"{VALUE} and {GITHUB}"}).encode(), b"application/json"),
    ],
)
def test_what_stands_in_a_watched_file_is_masked(raw: bytes, kind: bytes) -> None:
    """In every kind of body that is text, and told as that."""
    masked, findings = KNOWING.body(raw, kind, NOTHING)
    for coding in ("utf-8", "utf-16-le"):
        assert VALUE.encode(coding) not in masked
        assert GITHUB.encode(coding) not in masked
    assert WATCHED in {finding.rule_id for finding in findings}
    assert MASKER.body(b"see " + VALUE.encode(), b"", NOTHING)[1] == ()


def test_a_credential_in_use_is_left_though_it_is_watched_and_a_handle_is_not() -> None:
    """The agent's own token stands in its file of keys."""
    in_use = InUse(["/token", "/file_id"])
    body = json.dumps({"token": VALUE, "file_id": VALUE, "text": "hi"}).encode()
    masked, findings = KNOWING.body(body, b"application/json", in_use)
    assert json.loads(masked)["token"] == VALUE
    assert json.loads(masked)["file_id"] != VALUE
    assert findings
    assert KNOWING.pairs(f"token={VALUE}".encode(), in_use)[1] == ()
    assert KNOWING.pairs(f"file_id={VALUE}".encode(), in_use)[1] != ()
    assert KNOWING.pairs(b"file_id=other", in_use)[1] == ()
    assert KNOWING.body(json.dumps({"token": VALUE}).encode(), b"", in_use)[1] == ()
    parts = (part("token", VALUE) + part("file_id", VALUE) + "--xx--\r\n").encode()
    assert KNOWING.body(parts, MULTIPART, in_use)[0].count(VALUE.encode()) == 1


def test_a_text_in_the_place_of_a_token_is_masked() -> None:
    """What a platform gave out has no blanks."""
    masked, findings = MASKER.text(json.dumps({"token": f"run it with {GITHUB}"}).encode(), TOKEN)
    assert GITHUB.encode() not in masked
    assert findings


def test_a_picture_in_base64_is_sent_as_it_is() -> None:
    """However long it is; the text beside it is masked."""
    body = json.dumps({"base64_attachments": [NOISE], "message": GITHUB}).encode()
    masked, findings = MASKER.text(body, NOTHING)
    assert json.loads(masked)["base64_attachments"] == [NOISE]
    assert GITHUB.encode() not in masked
    assert len(findings) == 1
    clean = json.dumps({"base64_attachments": [NOISE], "message": "hi"}).encode()
    assert MASKER.text(clean, NOTHING) == (clean, ())


def test_json_in_a_text_is_masked_but_for_what_is_in_use_there() -> None:
    """A text that is no JSON is masked whole."""
    in_use = InUse(["/content#/file_key"])
    for inner in ({"file_key": GITHUB, "text": GITHUB}, {"file_key": GITHUB, "text": "hi"}):
        masked, findings = MASKER.text(json.dumps({"content": json.dumps(inner)}).encode(), in_use)
        said = json.loads(json.loads(masked)["content"])
        assert said["file_key"] == GITHUB
        assert said["text"] != GITHUB
        assert len(findings) == (inner["text"] == GITHUB)
    masked, findings = MASKER.text(json.dumps({"content": f"see {GITHUB}"}).encode(), in_use)
    assert GITHUB.encode() not in masked
    assert findings


@given(
    st.recursive(
        st.just(GITHUB) | st.just(VALUE) | st.text(max_size=9),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.text(alphabet="abcdef", max_size=5), inner, max_size=3)
            | inner.map(json.dumps)
        ),
        max_leaves=9,
    )
)
def test_every_string_of_a_message_is_masked_wherever_it_stands(document: object) -> None:
    """In blocks, cards, embeds and components of any depth, and in JSON that is written as a text."""
    masked, _ = KNOWING.text(json.dumps({"blocks": document}).encode(), NOTHING)
    assert set(json.loads(masked)) == {"blocks"}
    assert GITHUB.encode() not in masked
    assert VALUE.encode() not in masked


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (json.dumps({"file_id": GITHUB}).encode(), b"application/json"),
        (json.dumps({"file_id": f"https://collector.example/{GITHUB}"}).encode(), b"application/json"),
        (json.dumps({"file_id": GITHUB}).replace("ghp", "g\\u0068p").encode(), b"application/json"),
        (f"file_id={GITHUB}".encode(), FORM),
        ((part("file_id", GITHUB) + "--xx--\r\n").encode(), MULTIPART),
    ],
)
def test_the_key_of_another_vendor_is_no_handle(raw: bytes, kind: bytes) -> None:
    """A handle is shown to others, and an address is asked for by the platform."""
    masked, findings = MASKER.body(raw, kind, InUse(["/token", "/file_id"]))
    assert GITHUB[4:] not in masked.decode()
    assert findings


def test_the_address_of_a_picture_may_be_signed() -> None:
    """Else the platform could not fetch it."""
    signed = (
        "https://files.example.com/a.png?X-Amz-Credential=AKIAQWERTYUIOPASDFGH%2F20261203&X-Amz-Signature="
    )
    raw = json.dumps({"photo": signed + "0a1b2c3d4e5f6071" * 4}).encode()
    assert MASKER.body(raw, b"application/json", InUse(["/photo"])) == (raw, ())
    assert MASKER.body(raw, b"application/json", NOTHING)[1]
