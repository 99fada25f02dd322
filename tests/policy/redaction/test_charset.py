"""Texts of two or four bytes a character."""

import pytest

from herma.policy.redaction.charset import wide_encoding
from support.redactor import PASSWORD, redactor

ENCODINGS = ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
DOCUMENT = f'{{"password": "{PASSWORD}"}}'


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_an_encoding_is_told_with_and_without_a_mark(encoding: str, mark: str) -> None:
    """By the mark, or by the zero bytes."""
    assert wide_encoding(f"{mark}{DOCUMENT}".encode(encoding)) == encoding


@pytest.mark.parametrize("raw", [b"", b"abc", b"\0" * 9, b"A=b\0C=d\0", DOCUMENT.encode(), bytes(range(256))])
def test_other_bytes_have_no_such_encoding(raw: bytes) -> None:
    """UTF-8, the variables of an environment, noise."""
    assert wide_encoding(raw) == ""


@pytest.mark.parametrize("encoding", [*ENCODINGS, "utf-16", "utf-32"])
def test_a_document_is_judged_in_its_encoding(encoding: str) -> None:
    """And written in it again."""
    raw, findings = redactor().json(DOCUMENT.encode(encoding))
    assert [finding.rule_id for finding in findings] == ["password"]
    assert PASSWORD not in raw.decode(encoding)
    clean = '{"a": "b"}'.encode(encoding)
    assert redactor().json(clean) == (clean, ())


def test_what_cannot_be_read_in_its_encoding_is_masked_whole() -> None:
    """Half a character at the end is enough."""
    raw, findings = redactor().json(DOCUMENT.encode("utf-16") + b"x")
    assert raw.startswith(b'"[unjudged:')
    assert findings
