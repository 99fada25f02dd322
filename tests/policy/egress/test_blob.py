"""Long runs of base64 that hold bytes."""

import base64
import json
import random

import pytest

from herma.policy.egress.blob import MIN_CHARS, returned, taken_out

NOISE = random.Random(1).randbytes(30_000)
RUNS = {
    "one run": base64.b64encode(NOISE).decode(),
    "of addresses": base64.urlsafe_b64encode(NOISE).decode(),
    "in lines": base64.encodebytes(NOISE).decode().rstrip(),
    "in lines of mail": base64.encodebytes(NOISE).decode().rstrip().replace("\n", "\r\n"),
    "in lines of a string": json.dumps(base64.encodebytes(NOISE).decode())[1:-1],
}


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_what_holds_bytes_is_taken_out_and_comes_back(run: str) -> None:
    """Around it, everything stays."""
    text = f'{{"a": "{run}", "b": "blob0x {run}"}}'
    short, taken = taken_out(text)
    assert len(short) < 100
    assert len(taken) == 2
    assert returned(short, taken) == text


@pytest.mark.parametrize(
    "text",
    [
        "a text",
        base64.b64encode(b"A text in base64 is read as one. " * 300).decode(),
        base64.b64encode(NOISE)[: MIN_CHARS - 4].decode(),
        "A" * 5 + " words " * 3000,
    ],
)
def test_everything_else_stays(text: str) -> None:
    """Short runs and texts."""
    assert taken_out(text) == (text, {})
    assert returned(text, {}) == text


def test_a_run_whose_word_was_masked_stays_away() -> None:
    """It stood where a secret stands."""
    short, taken = taken_out(RUNS["one run"])
    assert returned("[token:00000000]", taken) == "[token:00000000]"
    assert returned(short, taken) == RUNS["one run"]
