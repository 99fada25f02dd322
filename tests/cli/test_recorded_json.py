"""Requests are read out of JSON, strictly."""

import json
from typing import Any

import pytest

from herma.cli.recorded_json import recorded_json
from herma.egress.recorded import Recorded
from herma.policy.address import parse_address

URL = "https://api.example.com/a?b=c"


def read(value: Any) -> list[Recorded]:
    return list(recorded_json(json.dumps(value).encode()))


def one(**fields: Any) -> Recorded:
    (found,) = read({"url": URL, **fields})
    return found


def test_a_url_is_enough() -> None:
    """It is asked for with GET."""
    assert one() == Recorded("api.example.com", 443, "GET", b"/a?b=c", ())


def test_headers_are_an_object_or_pairs() -> None:
    """A field may stand there more than once; the pseudo-fields of HTTP/2 are no fields."""
    for headers in (
        {"A": ["1", "2"], "b": "3", ":path": "/"},
        [["A", "1"], ["a", "2"], {"name": "B", "value": "3"}],
    ):
        assert one(headers=headers).headers == ((b"a", b"1"), (b"a", b"2"), (b"b", b"3"))


def test_a_body_is_text_json_or_base64() -> None:
    """JSON says what it is; base64 is what travelled."""
    assert (one(body="é").body, one(body="é").headers) == ("é".encode(), ())
    assert one(body={"a": "é"}).body == '{"a": "é"}'.encode()
    assert one(body=[1]).headers == ((b"content-type", b"application/json"),)
    assert one(body={}, headers={"Content-Type": "text/x"}).headers == ((b"content-type", b"text/x"),)
    packed = one(body_base64="aGVsbG8=")
    assert (packed.body, packed.packed) == (b"hello", True)
    assert one(body=None).body == b""


def test_a_message_is_one_of_a_websocket() -> None:
    """It has no method."""
    message = one(message={"op": 1})
    assert (message.message, message.method, message.body) == (True, "MESSAGE", b'{"op": 1}')


def test_addresses_that_were_seen_may_be_named() -> None:
    """One or several."""
    assert one(address="192.0.2.1").addresses == (parse_address("192.0.2.1"),)
    assert len(one(address=["192.0.2.1", "2001:db8::1"]).addresses) == 2


def test_a_list_holds_several() -> None:
    """In their order."""
    assert [found.method for found in read([{"url": URL}, {"url": URL, "method": "PUT"}])] == ["GET", "PUT"]


ENTRY: dict[str, Any] = {
    "request": {
        "method": "POST",
        "url": URL,
        "headers": [{"name": ":authority", "value": "x"}, {"name": "Host", "value": "api.example.com"}],
        "postData": {"mimeType": "text/plain", "text": "é"},
    },
    "serverIPAddress": "[2001:db8::1]",
    "_webSocketMessages": [{"type": "send", "data": "mine"}, {"type": "receive", "data": "theirs"}],
}


def test_a_har_file_is_read_entry_by_entry() -> None:
    """With the messages that the program sent over its sockets."""
    for value in (ENTRY, {"log": {"version": "1.2", "entries": [ENTRY]}}):
        request, message = read(value)
        assert (request.method, request.body, request.packed) == ("POST", "é".encode(), False)
        assert request.headers == ((b"host", b"api.example.com"),)
        assert request.addresses == message.addresses == (parse_address("2001:db8::1"),)
        assert (message.message, message.body) == (True, b"mine")


@pytest.mark.parametrize(
    ("fields", "body"),
    [
        ({}, b""),
        ({"bodySize": 0}, b""),
        ({"bodySize": -1}, b""),
        ({"bodySize": 7}, None),
        ({"postData": {"text": "aGk=", "encoding": "base64"}}, b"hi"),
        ({"postData": {"params": [{"name": "a b", "value": "c&"}, {"name": "d"}]}}, b"a+b=c%26&d="),
    ],
)
def test_a_body_in_a_har_file_has_several_forms(fields: dict[str, Any], body: bytes | None) -> None:
    """One that was left out is told from none."""
    (found,) = read({"request": {"method": "GET", "url": URL, **fields}})
    assert found.body == body


WRONG: dict[str, tuple[Any, str]] = {
    "no request": ({}, "/: expected"),
    "a number": ([{"url": URL}, 1], "/1: expected"),
    "an unknown field": ({"url": URL, "data": ""}, "/data: no such field"),
    "two bodies": ({"url": URL, "body": "", "message": ""}, "/: expected one of"),
    "a URL that is none": ({"url": "/a"}, "/url: expected a URL"),
    "a URL that is no text": ({"url": 1}, "/url: expected a string"),
    "headers that are none": ({"url": URL, "headers": 1}, "/headers/0: expected a name"),
    "a header that is none": ({"url": URL, "headers": {"a": 1}}, "/headers/a: expected a string"),
    "no base64": ({"url": URL, "body_base64": "*"}, "/body_base64: expected base64"),
    "no address": ({"url": URL, "address": "here"}, "/address: expected an IP address"),
    "an entry without a request": ({"log": {"entries": [{}]}}, "/log/entries/0/request: expected"),
    "an entry without a URL": ({"request": {"method": "GET"}}, "/request/url: expected a string"),
    "an entry without a method": ({"request": {"url": URL}}, "/request/method: expected a string"),
    "posted data of no kind": (
        {"request": {"method": "GET", "url": URL, "postData": {}}},
        "/request/postData: expected",
    ),
}


@pytest.mark.parametrize(("value", "said"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_read_is_told_with_its_place(value: Any, said: str) -> None:
    """A field that is overlooked would be judged as absent."""
    with pytest.raises(ValueError) as problem:
        read(value)
    assert str(problem.value).startswith(said)


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b'{\n  "url": x}', "2:10: The body is not valid JSON."),
        (b'{"url": "a", "url": "b"}', "An object in the body has the same name twice."),
        (b'{"url": 1' + b"0" * 5000 + b"}", "A number in the body has too many digits."),
        (b"[" * 100_000, "The body is nested too deeply."),
    ],
)
def test_what_is_no_json_is_told_with_line_and_column(raw: bytes, said: str) -> None:
    """Where it ends to be some; what has two meanings is none, either."""
    with pytest.raises(ValueError) as problem:
        list(recorded_json(raw))
    assert str(problem.value) == said
