"""What strings say about each other."""

import json

import pytest

from herma.policy.redaction.hit import UNJUDGED_ID
from herma.policy.redaction.relation import beside, labels_of, pairs_of, tells
from support.redactor import PASSWORD, redactor

FINDER = redactor().finder


@pytest.mark.parametrize(
    ("key", "text", "secret"),
    [
        ("password", PASSWORD, PASSWORD),
        ("Authorization", f"Bearer {PASSWORD}", PASSWORD),
        ("Cookie", f"session={PASSWORD}; theme=dark", PASSWORD),
    ],
)
def test_a_key_tells_about_the_string_beside_it(key: str, text: str, secret: str) -> None:
    """Names of secrets and headers with a grammar of their own."""
    assert tells(FINDER, key)
    assert [text[hit.start : hit.end] for hit in beside(FINDER, key, text)] == [secret]


@pytest.mark.parametrize(
    ("key", "text"), [("colour", PASSWORD), ("", PASSWORD), ("password", ""), ("token", "$X")]
)
def test_nothing_is_told_of_other_strings(key: str, text: str) -> None:
    """No key, no text, a reference."""
    assert list(beside(FINDER, key, text)) == []


def test_a_key_that_tells_nothing() -> None:
    """Counts of tokens are no tokens."""
    assert not tells(FINDER, "prompt_tokens")


def test_a_pair_is_a_name_and_a_value() -> None:
    """One without the other is none; each name tells of each value."""
    assert list(pairs_of([("key", 1), ("value", 2)])) == [(1, 2)]
    assert list(pairs_of([("value", 2)])) == []
    assert list(pairs_of([("name", 1)])) == []
    assert list(pairs_of([("name", 1), ("value", 2), ("value", 3)])) == [(1, 2), (1, 3)]
    assert list(labels_of([("label", 1), ("type", 2), ("value", 3)])) == [(1, 3), (2, 3)]


@pytest.mark.parametrize(
    "document",
    [
        '{"name": "DB_PASSWORD", "value": "", "default": "%s"}',
        '{"name": "DB_PASSWORD", "value": "F4ke_pass", "v": "%s"}',
        '{"name": "DB_PASSWORD", "value": "%s", "Value": "x"}',
        '{"name": "DB_PASSWORD", "value": "%s", "value": "x"}',
        '{"name": "x", "key": "DB_PASSWORD", "value": "%s"}',
        '{"label": "x", "type": "password", "value": "%s"}',
    ],
)
def test_no_sibling_hides_the_secret_of_a_pair(document: str) -> None:
    """Neither an empty value, a second name, nor the same key once more."""
    raw, findings = redactor().json((document % "Zk7pQ2vW9sXe").encode())
    assert b"Zk7pQ2vW9sXe" not in raw
    assert findings


def test_a_flood_of_pairs_costs_what_its_size_allows() -> None:
    """Equal keys make many pairs of few strings; what is not judged is masked, and what stays is JSON."""
    members = ",".join(['"name": "DB_PASSWORD", "value": "x"'] * 3000)
    raw, findings = redactor().json(f"{{{members}}}".encode())
    assert {finding.rule_id for finding in findings} == {UNJUDGED_ID}
    assert b'"x"' not in raw
    json.loads(raw)


@pytest.mark.parametrize(
    "document",
    [
        '{"pin": 4938}',
        '{"cardPin": "4938"}',
        '{"password": 0012345678}',
        '{"credentials": {"bob": "Zk7pQ2vW9sXe"}}',
        '{"tokens": {"github": "Zk7pQ2vW9sXe"}}',
        '{"secrets": [{"value": "Zk7pQ2vW9sXe"}]}',
    ],
)
def test_the_name_of_an_object_and_of_a_number_tells(document: str) -> None:
    """What a list of secrets holds are secrets; a PIN is a number."""
    raw, findings = redactor().json(document.encode())
    assert findings
    assert raw != document.encode()


@pytest.mark.parametrize(
    "document",
    [
        '{"pin": 13}',
        '{"password": {"type": "string", "description": "At least 12 characters"}}',
        '{"tokens": {"prompt": 12, "model": "some-model-2025"}}',
        '{"tokens": {"id": "Zk7pQ2vW9sXe"}}',
        '{"type": "token", "value": "Hello,"}',
        '{"type": "password", "value": ""}',
        '{"title": "Password", "id": 3}',
        '{"passwords": {"token": ""}}',
        '{"key": {"value": "Zk7pQ2vW9sXe"}}',
    ],
)
def test_a_schema_a_count_and_an_identifier_stay(document: str) -> None:
    """They stand beside such names as often."""
    assert redactor().json(document.encode()) == (document.encode(), ())
