"""Claims about `herma.content.ioc.observable`."""

import pytest

from herma.content.ioc.draft import Draft, Origin, Skipped
from herma.content.ioc.observable import drafts_of
from herma.content.ioc.stix_pattern import parse_pattern
from herma.policy.indicator import Matching
from support.ioc_files import NOW

ORIGIN = Origin("indicator--1", "ref", "c", NOW)


def _read(pattern: str) -> list[tuple[str, str, bool]]:
    found = drafts_of(parse_pattern(pattern), ORIGIN)
    return [(one.matching, one.value, bool(one.weak)) for one in found if isinstance(one, Draft)]


def _skipped(pattern: str) -> list[str]:
    return [one.reason for one in drafts_of(parse_pattern(pattern), ORIGIN) if isinstance(one, Skipped)]


ALONE = {
    "[ipv4-addr:value = '1.2.3.4']": [(Matching.ADDRESS, "1.2.3.4")],
    "[ipv6-addr:value IN ('2a0e::1', '2a0e::2')]": [
        (Matching.ADDRESS, "2a0e::1"),
        (Matching.ADDRESS, "2a0e::2"),
    ],
    "[ipv4-addr:value ISSUBSET '1.2.3.0/24']": [(Matching.ADDRESS, "1.2.3.0/24")],
    "[network-traffic:dst_ref.value = 'Evil.example.']": [(Matching.DOMAIN, "evil.example")],
    "[network-traffic:dst_ref.value = '1.2.3.4']": [(Matching.ADDRESS, "1.2.3.4")],
    "[domain-name:value = 'Evil.Example']": [(Matching.DOMAIN, "evil.example")],
    "[domain-name:value LIKE '%.evil.example']": [(Matching.DOMAIN, "evil.example")],
    "[domain-name:value LIKE 'evil.example']": [(Matching.DOMAIN, "evil.example")],
    "[url:value = 'http://evil.example/x']": [(Matching.URL, "http://evil.example/x")],
    "[url:value LIKE 'http://evil.example/x%']": [(Matching.URL, "http://evil.example/x*")],
    "[email-addr:value = 'a@b.example']": [(Matching.EMAIL, "a@b.example")],
    "[file:name = 'evil.exe']": [(Matching.EXACT, "evil.exe")],
    "[file:path = '/tmp/evil/']": [(Matching.PATH, "/tmp/evil")],
    "[process:command_line LIKE '%evil --run%']": [(Matching.SUBSTRING, "evil --run")],
    "[file:hashes.'SHA-256' = 'AB']": [(Matching.WORD, "ab")],
    "[file:hashes.SHA1 = 'AB' AND file:name = 'x']": [(Matching.WORD, "ab")],
    "[file:hashes.MD5 = 'A' AND file:hashes.'SHA-1' = 'B']": [(Matching.WORD, "a"), (Matching.WORD, "b")],
    "[ipv4-addr:value = '1.2.3.4' AND network-traffic:dst_port = 80]": [(Matching.ADDRESS, "1.2.3.4:80")],
    "[network-traffic:dst_ref.type = 'ipv6-addr' AND network-traffic:dst_ref.value = '2a0e::1' AND network-traffic:dst_port = 80]": [
        (Matching.ADDRESS, "[2a0e::1]:80")
    ],
    "[domain-name:value = 'evil.example' AND network-traffic:dst_port = 80]": [
        (Matching.DOMAIN, "evil.example:80")
    ],
    "[network-traffic:dst_ref.type = 'ipv4-addr' AND network-traffic:dst_ref.value = '1.2.3.4']": [
        (Matching.ADDRESS, "1.2.3.4")
    ],
}


@pytest.mark.parametrize(("pattern", "drafts"), ALONE.items(), ids=ALONE.keys())
def test_what_can_be_expressed_is(pattern: str, drafts: list[tuple[str, str]]) -> None:
    """Each kind is compared as what it is, and may refuse."""
    assert _read(pattern) == [(*draft, False) for draft in drafts]
    assert _skipped(pattern) == []


WEAK = [
    "[ipv4-addr:value = '1.2.3.4'] AND [domain-name:value = 'evil.example']",
    "[ipv4-addr:value = '1.2.3.4'] FOLLOWEDBY [domain-name:value = 'evil.example']",
    "[ipv4-addr:value = '1.2.3.4' OR domain-name:value = 'evil.example'] REPEATS 5 TIMES",
    "[ipv4-addr:value = '1.2.3.4' AND domain-name:value = 'evil.example']",
    "[file:name = 'x' AND (ipv4-addr:value = '1.2.3.4')]",
    "[file:hashes.MD5 = 'a'] AND [file:hashes.MD5 = 'b']",
    "([ipv4-addr:value = '1.2.3.4' AND network-traffic:dst_port = 80]) WITHIN 5 SECONDS",
]


@pytest.mark.parametrize("pattern", WEAK)
def test_a_part_of_a_condition_only_reports(pattern: str) -> None:
    """One half alone is not what the author called hostile."""
    found = _read(pattern)
    assert found
    assert all(weak for *_, weak in found)


SKIPPED = {
    "[ipv4-addr:value != '1.2.3.4']": "exception",
    "[ipv4-addr:value = '1.2.3.4' AND domain-name:value != 'x.example']": "exception",
    "[file:hashes.SSDEEP = 'x']": "digests of the kind",
    "[domain-name:value LIKE 'ev%il.example']": "wildcard",
    "[domain-name:value LIKE 'evil%']": "wildcard",
    "[domain-name:value LIKE 'e_il.example']": "wildcard",
    "[process:command_line = 'ls']": "less than",
    "[mutex:name = 'abc']": "mutex:name cannot be seen",
    "[file:path = 'C:\\\\evil']": "cannot be seen",
    "[file:size > 10]": "> cannot be expressed",
    "[EXISTS file:name]": "EXISTS cannot be expressed",
    "[ipv4-addr:value ISSUPERSET '1.2.3.4/32']": "ISSUPERSET",
    "[email-addr:value MATCHES 'a']": "MATCHES cannot be expressed",
}


@pytest.mark.parametrize(("pattern", "reason"), SKIPPED.items(), ids=SKIPPED.keys())
def test_what_cannot_be_expressed_is_skipped_with_its_reason(pattern: str, reason: str) -> None:
    """Nothing is lost without a word, and nothing is guessed."""
    assert _read(pattern) == []
    (said,) = _skipped(pattern)
    assert reason in said


def test_a_pattern_of_another_system_only_reports() -> None:
    """It loses its anchors: a request holds the field inside a longer text."""
    assert _read("[url:value MATCHES '^evil[0-9]{2}$']") == [(Matching.REGEX, "evil[0-9]{2}", True)]
    assert _read("[url:value MATCHES 'evil\\\\$']") == [(Matching.REGEX, "evil\\$", True)]


def test_the_part_that_cannot_be_expressed_is_told_beside_the_others() -> None:
    """Of a condition, each part is there or has its reason."""
    pattern = "[ipv4-addr:value = '1.2.3.4' AND mutex:name = 'abc']"
    assert _read(pattern) == [(Matching.ADDRESS, "1.2.3.4", True)]
    assert len(_skipped(pattern)) == 1
    assert _read("[url:value = 'http://x.example/' AND network-traffic:dst_port IN (80, 81)]")[0][2]
