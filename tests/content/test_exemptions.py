"""Exemptions, once rules and routes are known."""

from datetime import date
from typing import Any

import pytest

from herma.config.exemption import Exemption, ExemptionSubject
from herma.config.values import ContentDigest, Label, Reason, RouteName, RuleId
from herma.content.exemptions import read_exemptions
from herma.content.profiles import load_profile
from herma.errors import ConfigError, Source
from herma.policy.decision import Finding
from herma.policy.exemption import digest_of
from herma.policy.grant import Scope
from herma.policy.routing.route import Route
from support.guard_content import rules

TODAY, LATER = date(2026, 6, 1), date(2026, 7, 1)
PROFILE = load_profile("hermes-api")
RULES = (*rules("mcp"), *rules("cron"))
ROUTE = Route("POST", "/api/jobs", "cron.create", Scope.CRON)


def configured(rule: str = "mcp-tunnel", digest: str | None = None, **subject: Any) -> Exemption:
    return Exemption(
        RuleId(rule),
        ExemptionSubject(**(subject or {"server": Label("relay")})),
        Reason("the lab needs it"),
        LATER,
        ContentDigest(digest) if digest else None,
        Source("herma.yaml", 7, 5),
    )


@pytest.mark.parametrize(
    "subject",
    [{"server": Label("relay")}, {"job": Label("relay")}, {"route": RouteName("POST /api/jobs")}],
    ids=["server", "job", "route"],
)
def test_each_kind_of_subject_arrives_where_it_is_applied(subject: dict[str, Any]) -> None:
    """A server, a job and a route; each exempts its own."""
    made = read_exemptions([configured(**subject)], RULES, [PROFILE])
    found = (Finding("mcp-tunnel"),)
    elsewhere = Route("POST", "/v1/runs", "run.start", Scope.RUN)
    entry = made.of_entry(found, "relay", {}, elsewhere, TODAY)[0].exempted
    job = made.of_job(found, {"name": "relay"}, "", elsewhere, TODAY)[0].exempted
    route = made.of_entry(found, "", {}, ROUTE, TODAY)[0].exempted
    assert {"server": entry, "job": job, "route": route} == {
        kind: kind in subject for kind in ("server", "job", "route")
    }


def test_a_digest_arrives_too() -> None:
    """Pinned in the file is pinned in the check."""
    made = read_exemptions([configured(digest=digest_of({"command": "x"}))], RULES, [PROFILE])
    found = (Finding("mcp-tunnel"),)
    assert made.of_entry(found, "relay", {"command": "x"}, ROUTE, TODAY)[0].exempted
    assert not made.of_entry(found, "relay", {"command": "y"}, ROUTE, TODAY)[0].exempted


def test_every_name_that_means_nothing_is_told() -> None:
    """A rule of another family, an indicator, a bound, a check, a route that is not there: all at once, with their place."""
    wrong = [
        configured("mcp-gone"),
        configured("github-pat"),
        configured("ioc-0001"),
        configured("mcp-oversize"),
        configured("auth-scope"),
        configured(route=RouteName("POST /api/nothing")),
        configured("mcp-gone", route=RouteName("GET /api/jobs")),
    ]
    with pytest.raises(ConfigError) as caught:
        read_exemptions(wrong, RULES, [PROFILE])
    assert [problem.code for problem in caught.value.problems] == [
        "exemptions.rule",
        "exemptions.rule",
        "exemptions.rule",
        "exemptions.rule",
        "exemptions.rule",
        "exemptions.route",
        "exemptions.rule",
    ]
    assert {str(problem.source) for problem in caught.value.problems} == {"herma.yaml:7:5"}
    assert "cannot be exempted; correct the indicator" in caught.value.problems[2].message


def test_without_a_profile_routes_are_not_looked_up() -> None:
    """A tool that judges one entry knows no upstream."""
    made = read_exemptions([configured(route=RouteName("POST /api/nothing"))], RULES, ())
    assert not made.of_entry((Finding("mcp-tunnel"),), "relay", {}, ROUTE, TODAY)[0].exempted
