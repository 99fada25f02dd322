"""Bounded inflating."""

import gzip
import zlib
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from herma.policy.message.inflate import InflateError, Inflater, inflate

BIG = 16 * 1024 * 1024


def raw_deflate(data: bytes) -> bytes:
    machine = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return machine.compress(data) + machine.flush()


def refused(data: bytes, coding: str = "gzip", limit: int = BIG) -> str:
    with pytest.raises(InflateError) as error:
        inflate(data, coding, limit)  # type: ignore[arg-type]
    return error.value.code


@given(st.binary(max_size=4000), st.lists(st.integers(1, 200), max_size=30))
@settings(max_examples=60)
def test_a_body_comes_out_whole_however_it_is_cut(body: bytes, cuts: list[int]) -> None:
    """Gzip, zlib and bare deflate give back what was compressed, in any pieces."""
    for coding, packed in (
        ("gzip", gzip.compress(body)),
        ("deflate", zlib.compress(body)),
        ("deflate", raw_deflate(body)),
    ):
        inflater, out, rest = Inflater(coding), b"", packed  # type: ignore[arg-type]
        for cut in cuts:
            out += inflater.feed(rest[:cut])
            rest = rest[cut:]
        out += inflater.feed(rest)
        inflater.finish()
        assert out == body


def test_a_large_body_comes_out_whole() -> None:
    """Output beyond one step is drained, also when the input is read already."""
    body = bytes(range(256)) * 4096
    assert inflate(gzip.compress(body), "gzip", BIG) == body


@pytest.mark.parametrize(
    ("data", "coding", "limit", "code"),
    [
        pytest.param(gzip.compress(b"a" * 100), "gzip", 99, "herma.body.too_large", id="larger than allowed"),
        pytest.param(gzip.compress(bytes(BIG)), "gzip", BIG, "herma.body.encoding_ratio", id="bomb"),
        pytest.param(b"not gzip at all", "gzip", BIG, "herma.body.encoding_malformed", id="malformed"),
        pytest.param(gzip.compress(b"abc")[:-3], "gzip", BIG, "herma.body.encoding_truncated", id="cut off"),
        pytest.param(b"", "gzip", BIG, "herma.body.encoding_truncated", id="empty"),
        pytest.param(b"x", "deflate", BIG, "herma.body.encoding_truncated", id="one byte"),
        pytest.param(
            gzip.compress(b"a") + b"junk", "gzip", BIG, "herma.body.encoding_trailing", id="junk behind"
        ),
        pytest.param(
            zlib.compress(b"a") + b"x",
            "deflate",
            BIG,
            "herma.body.encoding_trailing",
            id="deflate, junk behind",
        ),
        pytest.param(gzip.compress(b"a") * 2, "gzip", BIG, "herma.body.encoding_trailing", id="members"),
    ],
)
def test_what_another_reader_might_read_differently_is_refused(
    data: bytes, coding: str, limit: int, code: str
) -> None:
    """Bombs, cut bodies and bytes behind the end are refused, each with its code."""
    assert refused(data, coding, limit) == code


@given(st.binary(max_size=300))
def test_random_bytes_are_inflated_or_refused(data: bytes) -> None:
    """No input raises anything else."""
    for coding in ("gzip", "deflate"):
        with suppress(InflateError):
            assert len(inflate(data, coding, 1000)) <= 1000  # type: ignore[arg-type]
