"""Claims about `herma.policy.checks.body_shape`."""

import io
import zipfile
from dataclasses import dataclass

import pytest

from herma.policy.checks.body_shape import read_document, read_message
from herma.policy.decision import Deny
from herma.policy.jsondoc import Document
from support.exchanges import head, match


@dataclass(frozen=True)
class Limits:
    max_json_depth: int = 8
    max_json_keys: int = 50


def _read(
    raw: bytes, content_type: str = "application/json", *, known: bool = True
) -> Document | Deny | None:
    fields = {"Content_Type": content_type} if content_type else {}
    return read_document(head(**fields), match(known=known), raw, Limits())


JSON = b'{"input":"x"}'


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json",
        "text/plain",
        "",
        "application/json; charset=UTF-8",
        'text/x; charset="utf8"',
        "multipart/form-data; boundary=x",
        "application/x-www-form-urlencoded",
        "image/png",
    ],
)
@pytest.mark.parametrize("known", [True, False])
def test_json_is_json_whatever_its_type_says(content_type: str, known: bool) -> None:
    """The upstream reads JSON under any type, so it is judged under any."""
    document = _read(JSON, content_type, known=known)
    assert document == Document(JSON, {"input": "x"})


def test_an_empty_body_is_no_document() -> None:
    """Nothing was sent, nothing is judged."""
    assert _read(b"") is None


CHARSETS = [
    "application/json; charset=utf-7",
    "application/json; charset=utf-16",
    "application/json;charset=utf-8;charset=utf-16",
    "text/plain; charset = latin-1",
    "application/json; charset=",
    "application/json; charset*=utf-8''utf-7",
    "application/json; charset*0=utf; charset*1=-7",
    'application/json; CharSet*0="utf-7"',
    'application/json; x="charset=utf-8"; charset*0=utf-7',
    "application/json; charset=utf-8; charset*=us-ascii''utf-16",
]


@pytest.mark.parametrize("content_type", CHARSETS)
def test_another_charset_is_refused(content_type: str) -> None:
    """The upstream would decode with it and read another text."""
    denied = _read(JSON, content_type)
    assert isinstance(denied, Deny)
    assert (denied.status, denied.code) == (415, "herma.body.charset")


def test_nothing_is_a_body_where_the_upstream_takes_it_so() -> None:
    """`null` on a route that says so; a list is none there either."""
    route = match(null_body=True)
    document = read_document(head(), route, b"null", Limits())
    assert isinstance(document, Document)
    assert document.value is None
    assert isinstance(read_document(head(), route, b"[]", Limits()), Deny)
    assert isinstance(_read(b"null"), Deny)


REFUSED = {
    "broken JSON": (b"{", "application/json", True, 400, "herma.body.malformed"),
    "a duplicate name": (b'{"a":1,"a":2}', "application/json", True, 400, "herma.body.duplicate_key"),
    "a duplicate name in a form": (
        b'{"a":1,"a":2}',
        "application/x-www-form-urlencoded",
        False,
        400,
        "herma.body.duplicate_key",
    ),
    "a mark before JSON": (b"\xef\xbb\xbf{}", "text/plain", False, 400, "herma.body.encoding"),
    "too deep": (b'{"a":' + b"[" * 9 + b"]" * 9 + b"}", "application/json", True, 413, "herma.body.depth"),
    "too many members": (
        b"{" + b",".join(b'"%d":0' % n for n in range(51)) + b"}",
        "",
        True,
        413,
        "herma.body.keys",
    ),
    "a list on a known route": (b"[{}]", "application/json", True, 400, "herma.body.object"),
    "text on a known route": (b"hello", "text/plain", True, 400, "herma.body.malformed"),
    "a form on a known route": (
        b"a=b",
        "application/x-www-form-urlencoded",
        True,
        400,
        "herma.body.malformed",
    ),
    "no JSON under its type": (b"hello", "application/problem+json", False, 400, "herma.body.malformed"),
    "bytes": (b"\x00\x01\x02", "application/octet-stream", False, 415, "herma.body.opaque"),
    "UTF-16": ("{}".encode("utf-16"), "text/plain", False, 415, "herma.body.opaque"),
    "a broken form": (b"--y\r\n", "multipart/form-data; boundary=x", True, 400, "herma.body.form"),
    "too many fields": (b"&" * 2000, "application/x-www-form-urlencoded", False, 413, "herma.body.parts"),
}


@pytest.mark.parametrize(("raw", "kind", "known", "status", "code"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_judged_is_refused(raw: bytes, kind: str, known: bool, status: int, code: str) -> None:
    """Each has its status and stable code, and the message repeats nothing of the body."""
    denied = _read(raw, kind, known=known)
    assert isinstance(denied, Deny)
    assert (denied.status, denied.code) == (status, code)
    assert "hello" not in denied.message


FORMS = {
    "an upload": (
        b'--x\r\nContent-Disposition: form-data; name="f"\r\n\r\ntext\r\n--x--',
        "multipart/form-data; boundary=x",
        {"f": ["text"]},
    ),
    "a form": (b"a=%63", "application/x-www-form-urlencoded", {"a": ["c"]}),
    "text": (b"mcp_servers:\n  x: y\n", "text/yaml", {"": ["mcp_servers:\n  x: y\n"]}),
}


@pytest.mark.parametrize(("raw", "kind", "value"), FORMS.values(), ids=FORMS.keys())
def test_other_bodies_of_unknown_routes_are_read_as_text(raw: bytes, kind: str, value: object) -> None:
    """Uploads, forms and plain text become texts that the guards read."""
    assert _read(raw, kind, known=False) == Document(raw, value, form=True)


def test_a_list_on_an_unknown_route_is_read() -> None:
    """A batch is judged element by element; that it is a list is no reason to refuse."""
    assert _read(b"[{}]", known=False) == Document(b"[{}]", [{}])


def test_a_message_is_json_or_text() -> None:
    """One meaning each; what begins like JSON has to be some."""
    assert read_message(JSON, Limits()) == Document(JSON, {"input": "x"})
    assert read_message(b"hello", Limits()) == Document(b"hello", {"": ["hello"]}, form=True)
    for raw, status in ((b'{"a":1,"a":2}', 400), (b" [", 400), (b"[" * 9 + b"]" * 9, 413)):
        denied = read_message(raw, Limits())
        assert isinstance(denied, Deny)
        assert denied.status == status


def _restore(content: bytes, name: str = "file") -> Document | Deny | None:
    raw = b'--x\r\nContent-Disposition: form-data; name="%s"; filename="b.zip"\r\n\r\n%s\r\n--x--' % (
        name.encode(),
        content,
    )
    route = match("restore", archives=("file",))
    return read_document(head(Content_Type="multipart/form-data; boundary=x"), route, raw, Limits())


def _packed(name: str, content: str) -> bytes:
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr(name, content)
    return into.getvalue()


def test_an_archive_is_what_it_is_unpacked_to() -> None:
    """Its own bytes say nothing; other fields are texts as ever."""
    document = _restore(_packed(".env", "A=b"))
    assert isinstance(document, Document)
    assert document.value == {"file": ["b.zip", {"path": "~/.hermes/.env", "content": "A=b"}]}
    other = _restore(b"x", name="other")
    assert isinstance(other, Document)
    assert other.value == {"other": ["b.zip", "x"], "file": []}


@pytest.mark.parametrize(
    ("content", "status"), [(b"no archive", 400), (_packed("a.yaml", "x" * 3_000_000), 413)]
)
def test_an_archive_that_cannot_be_judged_is_refused(content: bytes, status: int) -> None:
    """Because it has no single meaning, or too much of it."""
    denied = _restore(content)
    assert isinstance(denied, Deny)
    assert (denied.status, denied.code) == (status, "herma.body.archive")
