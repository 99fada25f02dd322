"""A body without its content coding."""

import gzip
import zlib

import pytest

from herma.egress.coding import CODING, decoded
from herma.policy.decision import Deny


@pytest.mark.parametrize("coding", ["", "identity", " Identity "])
def test_a_plain_body_is_the_same_object(coding: str) -> None:
    """Nothing is copied."""
    raw = b"as it is"
    assert decoded(raw, coding, 1) is raw


def test_what_is_packed_comes_out() -> None:
    """In either coding, whatever the case of its name."""
    assert decoded(gzip.compress(b"hello"), "GZIP", 5) == b"hello"
    assert decoded(zlib.compress(b"hello"), "deflate", 5) == b"hello"


@pytest.mark.parametrize(
    ("raw", "limit", "code"),
    [
        (b"plain", 5, "herma.body.encoding_malformed"),
        (gzip.compress(b"hello"), 4, "herma.body.too_large"),
        (gzip.compress(b"hello")[:-1], 5, "herma.body.encoding_truncated"),
    ],
)
def test_what_does_not_come_out_whole_is_refused(raw: bytes, limit: int, code: str) -> None:
    """It was packed otherwise than it says, or is more than is looked at."""
    refused = decoded(raw, "gzip", limit)
    assert isinstance(refused, Deny)
    assert refused.code == code


@pytest.mark.parametrize("coding", ["br", "zstd", "gzip, gzip", "x-gzip"])
def test_other_codings_are_refused(coding: str) -> None:
    """The destination may unpack what was not looked at."""
    assert decoded(b"", coding, 5) is CODING
