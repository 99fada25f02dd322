"""Exemptions, read and judged."""

from datetime import date

import pytest

from support.config_text import codes, parsed, problems

GOOD = "rule: mcp-tunnel, subject: {server: relay}, reason: 'the lab needs it', expires: 2026-09-30"
DIGEST = "sha256:" + "0" * 64


def listed(*entries: str) -> str:
    return "exemptions:\n" + "".join(f"  - {{{entry}}}\n" for entry in entries)


def test_an_exemption_is_read_whole() -> None:
    """Rule, subject, reason, day and digest, and where it stands."""
    (one,) = parsed(listed(GOOD + f", digest: '{DIGEST}'")).exemptions
    assert (one.rule, one.subject.server, one.reason) == ("mcp-tunnel", "relay", "the lab needs it")
    assert (one.expires, one.digest) == (date(2026, 9, 30), DIGEST)
    assert str(one.at) == "herma.yaml:2:12"


def test_a_subject_is_a_server_a_job_or_a_route() -> None:
    """Names may hold blanks and letters of any script; a route is written as the profile has it."""
    text = listed(
        GOOD.replace("server: relay", "job: 'Bericht für Jörg'"),
        GOOD.replace("server: relay", "route: 'PATCH /api/jobs/{job_id}'"),
    )
    first, second = parsed(text).exemptions
    assert first.subject.job == "Bericht für Jörg"
    assert second.subject.route == "PATCH /api/jobs/{job_id}"
    assert codes(text) == []


REFUSED = {
    "no subject": (GOOD.replace("server: relay", ""), ["exemptions.subject"]),
    "two subjects": (GOOD.replace("relay", "relay, job: x"), ["exemptions.subject"]),
    "no reason": (GOOD.replace("the lab needs it", "because"), ["config.value"]),
    "no end": (GOOD.replace(", expires: 2026-09-30", ""), ["config.missing"]),
    "an end that does not exist": (GOOD.replace("2026-09-30", "2026-02-30"), ["config.value"]),
    "an end in other words": (GOOD.replace("2026-09-30", "next year"), ["config.value"]),
    "a wildcard": (GOOD.replace("mcp-tunnel", "'mcp-*'"), ["config.value"]),
    "an empty name": (GOOD.replace("relay", "''"), ["config.value", "exemptions.subject"]),
    "no route": (
        GOOD.replace("server: relay", "route: '/api/jobs'"),
        ["config.value", "exemptions.subject"],
    ),
    "a short digest": (GOOD + ", digest: 'sha256:00'", ["config.value"]),
    "a pinned route": (
        GOOD.replace("server: relay", "route: 'POST /api/jobs'") + f", digest: '{DIGEST}'",
        ["exemptions.digest"],
    ),
}


@pytest.mark.parametrize(("text", "expected"), REFUSED.values(), ids=REFUSED)
def test_an_exemption_that_says_too_little_is_refused(text: str, expected: list[str]) -> None:
    """Rule, subject, reason and end are each needed, exactly."""
    assert sorted(codes(listed(text))) == expected


def test_the_same_exemption_twice_is_refused() -> None:
    """Two reasons or two ends for one thing: which holds?"""
    (problem,) = problems(listed(GOOD, GOOD.replace("09-30", "10-01")))
    assert problem.startswith("herma.yaml:3:12: exemptions.twice:")


@pytest.mark.parametrize(
    ("expires", "warned"),
    [
        ("2026-06-01", ["exemptions.expired"]),
        ("2020-01-01", ["exemptions.expired"]),
        ("2026-06-02", []),
        ("2027-06-02", []),
        ("2027-06-03", ["exemptions.long"]),
    ],
)
def test_an_end_that_has_come_or_is_far_is_told(expires: str, warned: list[str]) -> None:
    """The file is valid all the same: what has expired is not applied."""
    settings = parsed(listed(GOOD.replace("2026-09-30", expires) + f", digest: '{DIGEST}'"))
    assert [warning.code for warning in settings.warnings] == warned


@pytest.mark.parametrize(
    ("subject", "fix"),
    [
        ("server: relay", "add the digest that `herma explain` prints"),
        ("job: report", "add the digest that `herma explain` prints"),
        ("route: 'POST /api/jobs'", "name the server or the job, with its digest"),
    ],
)
def test_an_exemption_by_name_alone_is_told(subject: str, fix: str) -> None:
    """Whoever may write an entry chooses its name; one that has expired does no harm any more."""
    (warning,) = parsed(listed(GOOD.replace("server: relay", subject))).warnings
    assert warning.code == "exemptions.wide"
    assert fix in warning.message
    expired = GOOD.replace("server: relay", subject).replace("2026-09-30", "2026-01-01")
    assert [one.code for one in parsed(listed(expired)).warnings] == ["exemptions.expired"]
