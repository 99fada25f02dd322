"""Reads requests out of JSON: as a person describes one, or as a HAR file has them (HTTP Archive 1.2).

A description names `url` and may have `method`, `headers`, `body` (a text, or JSON that is sent as such), `body_base64` and `address`;
with `message` it is a message of a WebSocket. What is not understood is refused: a field that is overlooked would be judged as absent.
"""

import base64
import binascii
import json
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlencode

from herma.egress.recorded import Recorded, at_url
from herma.policy.address import Address, parse_address
from herma.policy.jsondoc import JsonError, parse

__all__ = ["EXPECTED", "recorded_json"]

EXPECTED: Final = '{"method", "url", "headers", "body"}'
# A HAR file nests a dozen levels of its own.
MAX_DEPTH: Final = 128
MAX_KEYS: Final = 1_000_000
_KNOWN: Final = frozenset({"method", "url", "headers", "body", "body_base64", "message", "address"})


def recorded_json(raw: bytes) -> Iterator[Recorded]:
    """Give the requests of a description, a list of them, an entry of a HAR file or a whole one.

    Raises:
        ValueError: it is none of these; says where.
    """
    try:
        value = parse(raw.strip(), max_depth=MAX_DEPTH, max_keys=MAX_KEYS).value
    except JsonError as problem:
        raise ValueError(f"{_at(raw)}{problem}") from None
    yield from _read(value, "")


def _at(raw: bytes) -> str:
    """Say where the JSON ends to be some: line and column; nothing when it is another thing that is wrong."""
    try:
        json.loads(raw.decode("utf-8", "replace"))
    except json.JSONDecodeError as error:
        return f"{error.lineno}:{error.colno}: "
    except (ValueError, RecursionError):
        pass
    return ""


def _read(value: Any, at: str) -> Iterator[Recorded]:
    match value:
        case list():
            for index, one in enumerate(value):
                yield from _read(one, f"{at}/{index}")
        case {"log": {"entries": list(entries)}}:
            for index, entry in enumerate(entries):
                yield from _of_entry(entry, f"{at}/log/entries/{index}")
        case {"request": {}}:
            yield from _of_entry(value, at)
        case {"url": _}:
            yield _described(value, at)
        case _:
            raise ValueError(f"{at or '/'}: expected {EXPECTED}, a list of them, or a HAR file")


def _described(value: Mapping[str, Any], at: str) -> Recorded:
    for name in value.keys() - _KNOWN:
        raise ValueError(f"{at}/{name}: no such field; there are: {', '.join(sorted(_KNOWN))}")
    if len(value.keys() & {"body", "body_base64", "message"}) > 1:
        raise ValueError(f"{at or '/'}: expected one of body, body_base64 and message")
    authority, port, target = _url(value["url"], f"{at}/url")
    headers = tuple(_headers(value.get("headers", {}), f"{at}/headers"))
    body, packed = _text(value.get("body", value.get("message", ""))), False
    if "body_base64" in value:
        body, packed = _decoded(value["body_base64"], f"{at}/body_base64"), True
    if isinstance(value.get("body"), dict | list) and not any(name == b"content-type" for name, _ in headers):
        headers = (*headers, (b"content-type", b"application/json"))
    return Recorded(
        authority=authority,
        default_port=port,
        method="MESSAGE" if "message" in value else _string(value.get("method", "GET"), f"{at}/method"),
        target=target,
        headers=headers,
        body=body,
        packed=packed,
        message="message" in value,
        addresses=_addresses(value.get("address"), f"{at}/address"),
    )


def _of_entry(entry: Any, at: str) -> Iterator[Recorded]:
    """Read an entry of a HAR file, and what the program sent over its WebSocket."""
    match entry:
        case {"request": dict(request)}:
            place = f"{at}/request"
        case _:
            raise ValueError(f"{at}/request: expected an object")
    authority, port, target = _url(request.get("url"), f"{place}/url")
    headers = tuple(_headers(request.get("headers", []), f"{place}/headers"))
    # An address in brackets, or nothing where a cache answered.
    address = str(entry.get("serverIPAddress") or "").strip("[]")
    addresses = _addresses(address or None, f"{at}/serverIPAddress")
    method = _string(request.get("method"), f"{place}/method")
    body = _posted(request, place)
    yield Recorded(authority, port, method, target, headers, body, addresses=addresses)
    for index, message in enumerate(entry.get("_webSocketMessages", ())):
        if isinstance(message, dict) and message.get("type") == "send":
            text = _string(message.get("data"), f"{at}/_webSocketMessages/{index}/data").encode()
            yield Recorded(authority, port, "MESSAGE", target, body=text, message=True, addresses=addresses)


def _posted(request: Mapping[str, Any], at: str) -> bytes | None:
    match request.get("postData"):
        case None:
            size = request.get("bodySize", 0)
            return None if isinstance(size, int) and size > 0 else b""
        case {"text": str(text), "encoding": "base64"}:
            return _decoded(text, f"{at}/postData/text")
        case {"text": str(text)}:
            return text.encode("utf-8", "surrogatepass")
        case {"params": list(params)}:
            return urlencode([(str(one.get("name")), str(one.get("value", ""))) for one in params]).encode()
        case _:
            raise ValueError(f"{at}/postData: expected `text` or `params`")


def _url(value: Any, at: str) -> tuple[str, int, bytes]:
    url = _string(value, at)
    try:
        return at_url(url)
    except ValueError as error:
        raise ValueError(f"{at}: {error}") from None


def _headers(value: Any, at: str) -> Iterator[tuple[bytes, bytes]]:
    """Read fields: an object, pairs, or objects with `name` and `value`; those of HTTP/2's own kind are its request line."""
    for name, told in _pairs(value, at):
        if not name.startswith(":"):
            yield name.encode("latin-1", "replace").lower(), told.encode("utf-8", "surrogatepass")


def _pairs(value: Any, at: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, told in value.items():
            for one in told if isinstance(told, list) else [told]:
                yield name, _string(one, f"{at}/{name}")
        return
    for index, field in enumerate(value if isinstance(value, list) else [None]):
        match field:
            case {"name": str(name), "value": str(told)} | [str(name), str(told)]:
                yield name, told
            case _:
                raise ValueError(f"{at}/{index}: expected a name and a value")


def _text(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    return b"" if value is None else json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _decoded(value: Any, at: str) -> bytes:
    try:
        return base64.b64decode(_string(value, at), validate=True)
    except binascii.Error:
        raise ValueError(f"{at}: expected base64") from None


def _string(value: Any, at: str) -> str:
    match value:
        case str():
            return value
        case _:
            raise ValueError(f"{at}: expected a string")


def _addresses(value: Any, at: str) -> tuple[Address, ...]:
    listed = value if isinstance(value, list) else [value]
    found = []
    for one in listed if value is not None else ():
        address = parse_address(_string(one, at))
        if address is None:
            raise ValueError(f"{at}: expected an IP address")
        found.append(address)
    return tuple(found)
