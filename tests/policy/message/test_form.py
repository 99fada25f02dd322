"""Claims about `herma.policy.message.form`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.message.form import MAX_PARTS, FormError, multipart, parts, urlencoded

TYPE = b'multipart/form-data; boundary="xyz"'


def _form(*parts: bytes, end: bytes = b"--xyz--\r\n") -> bytes:
    return b"".join(b"--xyz\r\n" + part + b"\r\n" for part in parts) + end


def test_every_part_is_read_by_name() -> None:
    """Texts, file names and parts that are no UTF-8 are all there to be judged."""
    raw = _form(
        b'Content-Disposition: form-data; name="a"\r\n\r\none',
        b'Content-Disposition: form-data; name="a"; filename="f.txt"\r\nContent-Type: x/y\r\n\r\ntwo\r\nlines',
        b'Content-Disposition: form-data; name="b"\r\n\r\n\xff\xfe',
        b"X: y\r\n\r\nnameless",
    )
    assert multipart(raw, TYPE) == {
        "a": ["one", "f.txt", "two\r\nlines"],
        "b": ["\xff\xfe"],
        "": ["nameless"],
    }


REFUSED = {
    "no boundary": (_form(b"X: y\r\n\r\nz"), b"multipart/form-data"),
    "a boundary with quotes inside": (_form(b"X: y\r\n\r\nz"), b'multipart/form-data; boundary="a b"'),
    "text before the first part": (b"x\r\n" + _form(b"X: y\r\n\r\nz"), TYPE),
    "not closed": (_form(b"X: y\r\n\r\nz", end=b""), TYPE),
    "something after the end": (_form(b"X: y\r\n\r\nz", end=b"--xyz-- more"), TYPE),
    "no gap": (_form(b"X: y"), TYPE),
    "a boundary that goes on": (b"--xyzX: y\r\n\r\nz\r\n--xyz--", TYPE),
    "a huge head": (_form(b"X: " + b"y" * 5000 + b"\r\n\r\nz"), TYPE),
    "a name without quotes": (_form(b"Content-Disposition: form-data; name=a\r\n\r\nz"), TYPE),
    "an extended name": (_form(b"Content-Disposition: form-data; name*=utf-8''a\r\n\r\nz"), TYPE),
    "a name in pieces": (_form(b"Content-Disposition: form-data; name*0=a; name*1=b\r\n\r\nz"), TYPE),
    "two names": (_form(b'Content-Disposition: form-data; name="a"; name="b"\r\n\r\nz'), TYPE),
    "a second name elsewhere": (
        _form(b'Content-Disposition: form-data; name="a"\r\nX: y; NAME =b\r\n\r\nz'),
        TYPE,
    ),
    "a transfer encoding": (_form(b"Content-Transfer-Encoding: base64\r\n\r\nz"), TYPE),
}


@pytest.mark.parametrize(("raw", "content_type"), REFUSED.values(), ids=REFUSED.keys())
def test_a_form_that_two_readers_would_read_differently_is_refused(raw: bytes, content_type: bytes) -> None:
    """Odd boundaries, parts and encodings have no single meaning."""
    with pytest.raises(FormError) as caught:
        multipart(raw, content_type)
    assert not caught.value.too_many


def test_fields_of_a_url_encoded_form_are_decoded() -> None:
    """Plus signs and escapes are undone once."""
    assert urlencoded(b"a=1+2&a=%63url&b&%2541=x") == {"a": ["1 2", "curl"], "b": [""], "%41": ["x"]}


def test_the_number_of_parts_is_bounded() -> None:
    """As many as the bound pass, one more does not."""
    part = b"X: y\r\n\r\nz"
    assert len(multipart(_form(*[part] * MAX_PARTS), TYPE)[""]) == MAX_PARTS
    for read in (
        lambda: multipart(_form(*[part] * (MAX_PARTS + 1)), TYPE),
        lambda: urlencoded(b"&" * MAX_PARTS),
    ):
        with pytest.raises(FormError) as caught:
            read()
        assert caught.value.too_many


@given(
    st.dictionaries(
        st.from_regex(r"[a-z]{1,8}", fullmatch=True),
        st.text(st.characters(exclude_characters="\r\n-", exclude_categories=["Cs"])),
        min_size=1,
        max_size=4,
    )
)
def test_what_is_written_is_read(fields: dict[str, str]) -> None:
    """A form written by the book is read back."""
    parts = [
        f'Content-Disposition: form-data; name="{name}"\r\n\r\n{value}'.encode()
        for name, value in fields.items()
    ]
    assert multipart(_form(*parts), TYPE) == {name: [value] for name, value in fields.items()}


@given(st.binary(max_size=200))
def test_any_bytes_give_fields_or_a_form_error(raw: bytes) -> None:
    """Nothing else is raised."""
    assert urlencoded(raw)
    failed = False
    try:
        multipart(b"--xyz" + raw, TYPE)
    except FormError:
        failed = True
    assert failed or raw.count(b"--xyz") > 0


def test_a_part_knows_where_it_stands() -> None:
    """Its head and its content can be cut out of the form, and put back."""
    raw = _form(
        b'Content-Disposition: form-data; name="a"\r\n\r\none',
        b'Content-Disposition: form-data; name="b"; filename="f"\r\n\r\ntwo\r\nlines',
        b"X: y\r\n\r\n",
    )
    first, second, third = parts(raw, TYPE)
    assert (first.name, first.filename, raw[first.content]) == ("a", "", b"one")
    assert (second.name, second.filename, raw[second.content]) == ("b", "f", b"two\r\nlines")
    assert raw[second.head] == b'\r\nContent-Disposition: form-data; name="b"; filename="f"'
    assert (third.name, raw[third.head], raw[third.content]) == ("", b"\r\nX: y", b"")
