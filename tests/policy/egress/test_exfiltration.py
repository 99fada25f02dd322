"""What must not leave, plain and packed."""

import base64
import gzip
import random

import pytest

from herma.policy.egress.exfiltration import SECRET, WATCHED, Exfiltration
from herma.policy.egress.watched import Watched
from support.redactor import GITHUB, KEY, redactor

VALUE = "k3y-0f-th3-t3st-0001"
LOOK = Exfiltration(redactor(), Watched.of(KEY, [f"API_KEY={VALUE}"]))


def found(raw: bytes, look: Exfiltration = LOOK) -> set[str]:
    """The rules that some bytes break."""
    findings = list(look.of("body", raw))
    assert all(finding.place == "body" for finding in findings)
    return {finding.rule_id for finding in findings}


@pytest.mark.parametrize(
    ("raw", "rules"),
    [
        (b"nothing to see", set()),
        (f"GITHUB_TOKEN={GITHUB}".encode(), {SECRET}),
        (f'{{"note": "{GITHUB}"}}'.encode(), {SECRET}),
        (gzip.compress(GITHUB.encode()), {SECRET}),
        (b"\xff\xfe\x00" + f" token {GITHUB} ".encode() + b"\x00\xff", {SECRET}),
        (f"a note: {VALUE}".encode(), {WATCHED}),
        (base64.b64encode(f"{VALUE} and so on".encode()), {WATCHED}),
        (gzip.compress(f"{GITHUB} {VALUE}".encode()), {SECRET, WATCHED}),
        (base64.b64encode(gzip.compress(f"{GITHUB} {VALUE}".encode())), {SECRET, WATCHED}),
        (f"note {GITHUB} {VALUE} ".encode("utf-16-le"), {SECRET, WATCHED}),
        (b"\xff\xfd\xff" + f"note {GITHUB} {VALUE} ".encode("utf-16-be"), {SECRET, WATCHED}),
    ],
)
def test_secrets_and_watched_values_are_found(raw: bytes, rules: set[str]) -> None:
    """Each kind once, whatever they are wrapped in."""
    assert found(raw) == rules


@pytest.mark.parametrize("before", range(9))
def test_a_value_is_found_behind_any_letters(before: int) -> None:
    """Also between them, in a word that is longer."""
    look = Exfiltration(redactor(), Watched.of(KEY, ["API_KEY=Ab3xY9kQ2mN7pL5t"]))
    assert found(b"-" * before + b"zAb3xY9kQ2mN7pL5tz", look) == {WATCHED}
    assert found(b"-" * before + b"zAb3xY9kQ2mN7pL5", look) == set()


@pytest.mark.parametrize("between", ["", " "])
def test_a_long_number_of_bits_is_read(between: str) -> None:
    """A long run of other letters is read as what letters stand for, by who looks inside."""
    said = f"{'words and words and ' * 40}{VALUE} {'and words' * 9}"
    bits = between.join(f"{byte:08b}" for byte in said.encode())
    assert len(bits) > 4096
    assert found(bits.encode()) == {WATCHED}
    assert found(f"see {base64.b64encode(said.encode() * 4).decode()} for it".encode()) == {WATCHED}


def test_each_kind_is_told_once() -> None:
    """However often it stands there."""
    raw = f"{GITHUB} {VALUE}".encode()
    assert len(list(LOOK.of("body", raw + gzip.compress(raw)))) == 2
    assert len(list(LOOK.of("body", gzip.compress(gzip.compress(raw) * 2)))) == 2


def test_without_watched_files_only_secrets_are_looked_for() -> None:
    """What nobody named is nobody's file."""
    assert found(VALUE.encode(), Exfiltration(redactor(), Watched(KEY))) == set()


@pytest.mark.parametrize(
    "text",
    [
        base64.b64encode(random.Random(2).randbytes(400_000)).decode(),
        "words and more words, " * 10_000,
        "a" * 400_000,
        "a8f3 " * 300_000,
    ],
    ids=["picture", "words", "one letter", "too much work as a whole"],
)
def test_a_text_is_no_secret_for_its_length(text: str) -> None:
    """A secret behind it is found."""
    assert found(f'{{"image": "{text}"}}'.encode()) == set()
    assert found(f"{text} {GITHUB}".encode()) == {SECRET}
