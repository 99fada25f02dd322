"""The form of the login page."""

import hypothesis.strategies as st
import pytest
from hypothesis import given

from herma.policy.browser.login_form import LoginForm, back_of, is_form, read_form


def test_name_and_password_are_read_and_where_to_go() -> None:
    """As a browser writes them."""
    form = read_form(b"next=%2Fchat%3Fx%3D1&name=alice&password=p%C3%A4ss+w%26rd%25")
    assert form == LoginForm("alice", "päss w&rd%", "/chat?x=1")
    assert read_form(b"name=a&password=b") == LoginForm("a", "b", "/")
    assert read_form(b"name=a&password=b&next=https://evil.example") == LoginForm("a", "b", "/")


def test_what_was_typed_is_not_shown() -> None:
    """People type passwords into the field for the name."""
    assert repr(LoginForm("alice", "hunter2", "/x")) == "LoginForm(back='/x')"


@pytest.mark.parametrize(
    "body",
    [
        b"", b"name=a", b"password=b", b"name=a&password=b&name=c", b"name=a&password=b&password=b", b"name=a&password=b&role=admin",
        b"name=a&password=b&", b"name=a&password=b&next=/x&next=/y", b'{"name":"a","password":"b"}', b"name[]=a&password=b",
        b"name=a&password=\xc3\xa4", b"&" * 2000, b"Name=a&password=b",
    ],
)  # fmt: skip
def test_what_is_not_exactly_the_form_is_none(body: bytes) -> None:
    """Fields twice, other fields, other encodings."""
    assert read_form(body) is None


@pytest.mark.parametrize(
    ("kind", "form"),
    [
        (b"application/x-www-form-urlencoded", True), (b"Application/X-WWW-Form-Urlencoded; charset=UTF-8", True), (None, False), (b"", False),
        (b"text/plain", False), (b"multipart/form-data; boundary=x", False), (b"application/json", False),
        (b"application/x-www-form-urlencoded; charset=utf-7", False), (b"application/x-www-form-urlencoded, text/plain", False),
    ],
)  # fmt: skip
def test_only_a_form_is_one(kind: bytes | None, form: bool) -> None:
    """One type, in one charset."""
    assert is_form(kind) is form


@pytest.mark.parametrize(
    ("query", "back"),
    [
        (b"", "/"), (b"next=%2Fchat", "/chat"), (b"next=/chat", "/chat"), (b"next=/a&next=/b", "/"), (b"next=//evil.example", "/"),
        (b"other=1", "/"), (b"&" * 2000, "/"), (b"next=%2Fx%3Fa%3Db%26c", "/x?a=b&c"),
    ],
)  # fmt: skip
def test_the_query_says_where_to_go(query: bytes, back: str) -> None:
    """Once, and only to a path of this host."""
    assert back_of(query) == back


@given(st.binary(max_size=80) | st.text("namepsword=&%+x5C/\\", max_size=60).map(str.encode))
def test_no_body_leads_elsewhere_or_breaks(body: bytes) -> None:
    """It is a form with one local target, or none."""
    form = read_form(body)
    assert form is None or (form.back.startswith("/") and not form.back.startswith("//"))
