"""Secrets in JSON."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from herma.policy.redaction.document import spans, strings
from support.redactor import GITHUB, masked, redactor

S = "F4keK3yF0rT3st"
MASKED = {
    "by key": {"password": "x9", "n": 1},
    "plain value": {"api_key": "plain-looking"},
    "header map": {"headers": {"Authorization": f"Bearer {S}", "Accept": "*/*"}},
    "cookie map": {"headers": {"Cookie": f"sid={S}; lang=en"}},
    "environment map": {"env": {"DB_PASSWORD": "tulip", "PORT": "80"}},
    "label and value": {"fields": [{"label": "Password", "value": "tulip-anchor"}]},
    "name and value": {"env": [{"name": "API_TOKEN", "value": S}]},
    "argument list": ["tool", "--token", S, "--json"],
    "command list": ["sshpass", "-p", "F4ke_pass", "ssh", "h"],
    "tool call": {
        "arguments": json.dumps({"command": f"export T={GITHUB} && run", "env": {"DB_PASSWORD": "tulip"}})
    },
    "twice nested": {"a": json.dumps({"b": json.dumps({"password": "tulip"})})},
    "cut off JSON": {"preview": f'{{"token": "{S}", "x'},
    "in a key": {GITHUB: 1},
    "escaped": {"x": f"é\n{GITHUB}\t"},
}
KEPT = {
    "counts": {"usage": {"total_tokens": 36, "max_tokens": 4096}},
    "hermes ids": {
        "session_key": "agent:ops:incident-42",
        "pattern_key": "recursive delete",
        "token_type": "bearer",
    },
    "schema": {"properties": {"password": {"type": "string"}, "token": {"type": "string"}}},
    "labels": {"password": "Passwort", "forgotPassword": "Passwort vergessen?"},
    "references": {"api_key": "${KEY}", "token": None, "secret": ""},
    "plain list": ["a", "b"],
    "pair without secret": [{"name": "PORT", "value": "80"}],
    "header without secret": {"Authorization": "none"},
}


@pytest.mark.parametrize("value", MASKED.values(), ids=MASKED.keys())
def test_a_secret_is_masked_where_it_stands_and_the_rest_keeps_its_bytes(value) -> None:
    """Only strings that held a secret change, and the text stays JSON."""
    raw = json.dumps(value, indent=1).encode()
    out, findings = redactor().json(raw)
    assert findings
    assert json.loads(out) != value
    assert not any(secret in out.decode() for secret in (S, GITHUB, "tulip", "F4ke_pass", "x9"))
    assert redactor().json(out)[0] == out
    before, after = raw.split(b"\n"), out.split(b"\n")
    assert len(before) == len(after)


@pytest.mark.parametrize("value", KEPT.values(), ids=KEPT.keys())
def test_what_is_no_secret_keeps_every_byte(value) -> None:
    """Counts, ids, schemas and references go through as they came."""
    raw = json.dumps(value).encode()
    out, findings = redactor().json(raw)
    assert out is raw
    assert findings == ()


def test_findings_point_at_the_string() -> None:
    """The place is a JSON Pointer, with its escapes."""
    raw = json.dumps({"a/b": [{"c~d": GITHUB}], "e": json.dumps({"token": S})}).encode()
    assert [finding.place for finding in redactor().json(raw)[1]] == ["/a~1b/0/c~0d", "/e"]


@pytest.mark.parametrize(
    "raw",
    [b"{" + GITHUB.encode(), b"\xff" + GITHUB.encode(), b"[" * 100_000 + GITHUB.encode()],
    ids=["malformed", "not UTF-8", "deep"],
)
def test_what_is_no_json_is_masked_as_text(raw: bytes) -> None:
    """Nothing escapes by being broken."""
    out, findings = redactor().json(raw)
    assert findings
    assert GITHUB.encode() not in out


def test_broken_text_without_a_secret_keeps_its_bytes() -> None:
    """Bytes that are no text at all go through."""
    assert redactor().json(b"\xff\xfe token")[0] == b"\xff\xfe token"


def test_a_string_keeps_its_alphabet() -> None:
    """ASCII stays ASCII, other letters stay letters, lone surrogates stay escapes."""
    assert redactor().json(f'{{"x":"\\u00e9 {GITHUB}"}}'.encode())[0].isascii()
    assert "é" in redactor().json(f'{{"x":"é {GITHUB}"}}'.encode())[0].decode()
    assert b"\\ud800" in redactor().json(f'{{"x":"é \\ud800 {GITHUB}"}}'.encode())[0]


def test_the_same_secret_has_the_same_placeholder_in_json_and_text() -> None:
    """Transports can be compared."""
    assert masked(GITHUB).encode() in redactor().json(json.dumps({"a": f"x {GITHUB}"}).encode())[0]


LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from(
        ["password", "token", S, GITHUB, "plain text", '{"password": "tulip"}', 'é\n"', "--token"]
    ),
)
TREES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["a", "password", "name", "value", "x/y"]), inner, max_size=4)
    ),
    max_leaves=12,
)


def shape(value):
    match value:
        case dict():
            return [shape(item) for item in value.values()]
        case list():
            return ["list", *map(shape, value)]
        case str():
            return "string"
        case bool() | None:
            return value
        case _:
            # A number that is a credential becomes a string.
            return "string" if abs(value) >= 1000 else value


@given(TREES)
@settings(max_examples=150)
def test_any_document_keeps_its_shape(value) -> None:
    """Masking changes strings and credentials of digits only, once, and leaves no vendor token."""
    raw = json.dumps(value, ensure_ascii=False).encode()
    out, _ = redactor().json(raw)
    assert shape(json.loads(out)) == shape(value)
    assert GITHUB.encode() not in out
    assert redactor().json(out)[0] == out


@given(TREES)
@settings(max_examples=60)
def test_the_place_of_every_string_is_known(value) -> None:
    """Each span holds the characters of the string at its pointer."""
    text = json.dumps(value)
    for start, end in spans(text).values():
        assert text[start - 1] == text[end] == '"'


def test_a_document_that_only_looks_odd_keeps_its_bytes() -> None:
    """A repeated key is looked at twice, and nothing is found."""
    raw = b'{"a": "x", "a": "y"}'
    assert redactor().json(raw) == (raw, ())


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ('{"password": 123456789012, "n": 1}', ', "n": 1}'),
        ('{"pin": {"secret": 7309154421096}}', "}}"),
        ('{"password": [1234, 86753091234567]}', "]}"),
    ],
)
def test_a_number_beside_a_secret_name_becomes_a_string(written: str, kept: str) -> None:
    """The document is still JSON, and the digits are gone."""
    out, findings = redactor().json(written.encode())
    json.loads(out)
    assert findings
    assert not any(digits in out.decode() for digits in re.findall(r"\d{4,}", written))
    assert out.decode().endswith(kept)


@pytest.mark.parametrize(
    "written",
    [
        '{"max_tokens": 4096, "token": 1735689600123456, "password_length": 4096}',
        '{"secret": 1735689600, "password": 12, "secret_ttl": 123456789012}',
        '{"password": -1.5e30, "secret": true, "token": null}',
        '{"access_token": 987654321, "keys": [1, 2, 3]}',
    ],
)
def test_counts_and_times_beside_such_names_stay(written: str) -> None:
    """A number is a credential only where it is too long to be anything else."""
    raw = written.encode()
    assert redactor().json(raw) == (raw, ())


def test_a_clean_document_beside_a_secret_keeps_its_bytes() -> None:
    """What the look has found clean is not read again."""
    raw = json.dumps({"a": json.dumps({"x": "plain words"}), "b": GITHUB}).encode()
    out, findings = redactor().json(raw)
    assert len(findings) == 1
    assert json.loads(out)["a"] == json.loads(raw)["a"]


def test_a_piece_does_not_print_its_text() -> None:
    """A secret does not reach a log through repr."""
    (piece,) = strings(json.dumps([GITHUB]), None)
    assert piece.text == GITHUB
    assert GITHUB not in repr(piece)
