"""Which of many runs stand for something."""

import base64
import binascii
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.egress.telling import SHORT_BYTES, Coding, tells, told

BASE64 = Coding(4, b"////", binascii.a2b_base64, lambda run: binascii.a2b_base64(run[: len(run) // 4 * 4]))
HEX = Coding(2, b"ff", binascii.unhexlify, lambda run: binascii.unhexlify(run[: len(run) // 2 * 2]))
NOISE = bytes(random.Random(1).randrange(128, 256) for _ in range(SHORT_BYTES))


@pytest.mark.parametrize(
    "sign",
    [
        b"eight of",
        b"\t\n\r abcd",
        b"s\0i\0x\0 \0o\0f\0",
        b"\x1f\x8b\x08",
        b"BZh9",
        b"\xfd7zXZ\0",
        b"PK\x03\x04",
        b"\x28\xb5\x2f\xfd",
    ],
)
def test_text_and_heads_tell_wherever_they_stand(sign: bytes) -> None:
    """In few bytes."""
    for around in (sign, b"\xff" + sign, b"\xff\xfe" + sign + b"\x80"):
        assert tells(around)
    assert not tells(b"\xff" + sign[:2] + b"\xff")


@pytest.mark.parametrize("second", [b"\x01", b"\x5e", b"\x9c", b"\xda"])
def test_the_head_of_zlib_tells_only_at_the_beginning(second: bytes) -> None:
    """It has two bytes that many others have."""
    assert tells(b"x" + second + NOISE[:9])
    assert not tells(b"\x80x" + second + NOISE[:9])
    assert tells(b"x" + second + NOISE)


@pytest.mark.parametrize(
    ("sign", "told_by_it"),
    [
        (b"eight of", False),
        (b"twenty-four of them here", True),
        (b"s\0i\0x\0 \0o\0f\0", False),
        ("twelve of it".encode("utf-16-le"), True),
        (b"\x1f\x8b\x08\xff", False),
        (b"\x1f\x8b\x08\0", True),
        (b"BZh9", False),
        (b"BZh91AY", True),
        (b"\x28\xb5\x2f\xfd", False),
        (b"\xfd7zXZ\0", True),
        (b"PK\x03\x04", True),
    ],
)
def test_among_many_bytes_more_is_asked_for(sign: bytes, told_by_it: bool) -> None:
    """Little stands there by chance."""
    assert tells(NOISE[:100] + sign + NOISE) is told_by_it


def test_a_frame_of_zstandard_tells_at_the_beginning_of_many_bytes() -> None:
    """Four bytes stand nowhere else by chance."""
    assert tells(b"\x28\xb5\x2f\xfd" + NOISE)


def test_runs_are_read_from_each_place_in_a_group() -> None:
    """Short and long ones."""
    text = b"a text that is written in another way. " * 2
    for said in (text, text + NOISE + b"twenty-four of them here" + NOISE):
        for before in (b"", b"a", b"aa", b"aaa"):
            assert any(text[3:-3] in found for found in told([before + base64.b64encode(said)], BASE64))
        assert any(text[3:-3] in found for found in told([b"a" + said.hex().encode()], HEX))


def test_of_many_runs_those_that_tell_are_given() -> None:
    """Each with nothing of its neighbours, and also where it is only the first of something packed."""
    wanted = [b"eight of", b"x\x9c" + NOISE[:10], b"x\x01" + NOISE[:4], b"PK\x03\x04" + NOISE[:8]]
    runs = [*(NOISE[at : at + 12] for at in range(9)), *wanted, NOISE[:3], wanted[1]]
    given_back = set(told([run.hex().encode() for run in runs], HEX))
    assert given_back >= set(wanted)
    assert list(told([], HEX)) == []
    assert set(told([b"x\xda\x80".hex().encode(), b"8081"], HEX)) == {b"x\xda\x80"}


@given(st.lists(st.binary(min_size=1, max_size=30), max_size=12))
def test_asked_at_once_the_answer_is_that_of_each(runs: list[bytes]) -> None:
    """What stands beside a run changes nothing."""
    alone = {run for run in runs if tells(run)}
    assert {found for found in told([run.hex().encode() for run in runs], HEX) if found in runs} >= alone
    assert all(tells(found) for found in told([run.hex().encode() for run in runs], HEX))
