"""How a body is packed: one way that can be unpacked, or it is not judged."""

import pytest

from herma.ingress.packing import packed_as, packing
from herma.policy.message.inflate import InflateError


@pytest.mark.parametrize("values", [[], [b""], [b"identity"], [b" Identity "]])
def test_what_names_no_packing_is_plain(values: list[bytes]) -> None:
    """No value, an empty one and `identity` say the same."""
    assert packing(values) is None


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([b"gzip"], "gzip"),
        ([b"GZIP "], "gzip"),
        ([b"x-gzip"], "gzip"),
        ([b"deflate"], "deflate"),
    ],
)
def test_one_known_packing_is_named(values: list[bytes], expected: str) -> None:
    """Case and the old spelling do not matter (RFC 9110 section 8.4.1.3)."""
    assert packing(values) == expected


@pytest.mark.parametrize(
    "values",
    [
        [b"br"],
        [b"gzip, gzip"],
        [b"gzip", b"deflate"],
        [b"gzip,identity"],
        [b"identity", b"gzip"],
        [b"compress"],
        [b"\xff"],
    ],
)
def test_anything_else_cannot_be_judged(values: list[bytes]) -> None:
    """Another packing, or one inside another."""
    with pytest.raises(InflateError):
        packing(values)


def test_an_answer_s_lines_are_read_in_any_case() -> None:
    """Every `Content-Encoding` counts, and nothing else."""
    assert packed_as(((b"CONTENT-ENCODING", b"gzip"), (b"content-type", b"text/plain"))) == "gzip"
    assert packed_as(((b"accept-encoding", b"gzip"),)) is None
