"""Bytes that are spelled out."""

import re

import pytest

from herma.policy.redaction.spelled import MAX_LINES, may_be_spelled, spelled
from herma.policy.redaction.work import Work
from support.redactor import GITHUB, masked


def _dump(text: bytes) -> str:
    """What `hexdump -C` prints."""
    lines = []
    for at in range(0, len(text), 16):
        row = text[at : at + 16]
        lines.append(f"{at:08x}  {row.hex(' '):<47}  |{row.decode()}|")
    return "\n".join(lines)


def _xxd(text: bytes) -> str:
    lines = []
    for at in range(0, len(text), 16):
        row = text[at : at + 16]
        lines.append(f"{at:08x}: {row.hex(' ', -2):<39}  {row.decode()}")
    return "\n".join(lines)


RAW = GITHUB.encode()


@pytest.mark.parametrize(
    "text",
    [
        ", ".join(map(str, RAW)),
        ",".join(map(str, RAW)),
        ",\n  ".join(map(hex, RAW)),
        RAW.hex(" "),
        RAW.hex(":"),
        RAW.hex(" ").upper(),
        _dump(RAW),
        _xxd(RAW),
    ],
    ids=str,
)
def test_a_secret_that_is_spelled_out_is_masked_whole(text: str) -> None:
    """The digits, and the text beside them."""
    out = masked(f"see\n{text}\n")
    assert re.fullmatch(r"see\n\[github_pat:\w{8}\]\n?", out)


@pytest.mark.parametrize(
    "text",
    [
        "00:1a:2b:3c:4d:5e",
        "SHA256 fingerprint 9f:86:d0:81:88:4c:7d:65:9a:2f:ea:a0:c5:5a:d0:15:a3:bf:4f:1b",
        _dump(b"a quiet text of forty characters or so"),
        "12 34 56 78 90 12 34 56 78 90 12 34",
        "dead beef dead beef dead beef",
        ", ".join(map(str, range(40, 80))),
        ", ".join(str(byte + 200) for byte in RAW),
    ],
)
def test_other_bytes_stay(text: str) -> None:
    """Addresses, fingerprints, numbers, and dumps of what is no secret."""
    assert masked(text) == text


@pytest.mark.parametrize("written", [RAW.hex(" "), ", ".join(map(str, RAW))], ids=str)
def test_what_cannot_be_decoded_for_want_of_work_is_masked(written: str) -> None:
    """To the end."""
    text = f"xyz {written}"
    work = Work(0)
    work.left = -1
    hit, *_ = spelled(text, lambda _: [], work)
    assert (hit.start, hit.end, hit.rule_id) == (4, len(text), "unjudged")
    assert may_be_spelled(text)


def test_a_dump_of_a_file_is_read_in_parts() -> None:
    """Beyond so many lines the next part begins."""
    dump = _dump(b"a quiet text ok." * (MAX_LINES + 2) + RAW)
    assert "github_pat" in masked(dump)
