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


def test_each_kind_is_told_once() -> None:
    """However often it stands there."""
    raw = f"{GITHUB} {VALUE}".encode()
    assert len(list(LOOK.of("body", raw + gzip.compress(raw)))) == 2
    assert len(list(LOOK.of("body", gzip.compress(gzip.compress(raw) * 2)))) == 2


def test_without_watched_files_only_secrets_are_looked_for() -> None:
    """What nobody named is nobody's file."""
    assert found(VALUE.encode(), Exfiltration(redactor(), Watched(KEY))) == set()


@pytest.mark.parametrize("size", [100_000, 1_600_000])
def test_a_picture_in_base64_is_no_secret_for_its_length(size: int) -> None:
    """Nor is a long text without one; a secret behind either is found."""
    picture = base64.b64encode(random.Random(2).randbytes(size)).decode()
    for text in (
        f'{{"image": "{picture}"}}',
        "words and more words, " * (size // 20),
        "a" * size,
        "a8f3 " * (size // 5),
    ):
        assert found(text.encode()) == set()
        assert found(f"{text} {GITHUB}".encode()) == {SECRET}
