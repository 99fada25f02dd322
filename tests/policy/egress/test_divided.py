"""A message divided into text and handles; credentials are in neither."""

import json

import pytest

from herma.policy.egress.divided import divided, form_of, json_spans
from herma.policy.egress.platform import InUse
from herma.policy.message.form import FormError

IN_USE = InUse(["/token", "/file_id", "/**/block_id"])
FORM = b"application/x-www-form-urlencoded"


def test_json_is_divided_by_its_places() -> None:
    """A text in the place of a handle is a text."""
    body = json.dumps({"token": "t0k3n", "file_id": "f1l3", "b": [{"block_id": "a text", "text": "hello"}]})
    text, handles = divided(body.encode(), b"application/json", IN_USE)
    assert handles == b"f1l3"
    assert b"t0k3n" not in text
    assert b"f1l3" not in text
    assert b"a text" in text
    assert b"hello" in text


@pytest.mark.parametrize("raw", [b"plain", b"\xff\xfe\xfd", b"{broken", b'{"text": "hello"}', b"[" * 100_000])
def test_what_has_no_handle_is_text(raw: bytes) -> None:
    """As it is."""
    assert divided(raw, b"", IN_USE) == (raw, b"")


def test_forms_are_divided_by_their_fields() -> None:
    """Names of fields are text, and so is what is a form by its type only."""
    text, handles = divided(
        b'token=t0k3n&file_id=f%31l3&te%78t=hello+there&blocks=[{"block_id":"b"}]', FORM, IN_USE
    )
    assert handles.split() == [b"f1l3", b"b"]
    assert b"t0k3n" not in text
    assert b"hello there" in text
    assert b"blocks" in text
    assert divided(b"bm8gZm9ybQ+a", FORM, IN_USE) == (b"bm8gZm9ybQ+a", b"")


def test_parts_are_divided_by_their_names() -> None:
    """Their heads are text."""
    body = b'--x\r\nContent-Disposition: form-data; name="file_id"\r\n\r\nf1l3\r\n--x\r\nContent-Disposition: form-data; name="text"; filename="n.txt"\r\n\r\nhello\r\n--x--\r\n'
    text, handles = divided(body, b"multipart/form-data; boundary=x", IN_USE)
    assert handles.split() == [b"f1l3"]
    assert b"n.txt" in text
    assert b"hello" in text
    with pytest.raises(FormError):
        divided(b"no form", b"multipart/form-data; boundary=x", IN_USE)


def test_what_a_body_is_sent_as() -> None:
    """Without parameters."""
    assert form_of(b" Text/Plain ; charset=utf-8") == b"text/plain"


def test_strings_are_found_in_json_only() -> None:
    """In what is none, there are no places."""
    assert json_spans('{"a": "b"}') == {"/a": (7, 8)}
    assert json_spans("a") == {}
