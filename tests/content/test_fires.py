"""The routes that start jobs are open where somebody may use them."""

import pytest

from herma.content.fires import opened
from herma.content.profiles import load_profile
from herma.errors import ConfigError
from herma.policy.decision import Deny
from herma.policy.message.target import canonical_target
from herma.policy.routing.profile import Match, Profile
from support.config_text import parsed

FIRES = "cron_fire: {job_keys: [{name: a, job_id: b, key: '${FAKE_KEY}'}]}"


def profiles(*names: str) -> dict[str, Profile]:
    return {name: load_profile(profile) for name, profile in zip(("default", "two"), names, strict=False)}


def matched(profile: Profile) -> Match | Deny:
    target = canonical_target(b"/api/cron/fire")
    assert not isinstance(target, Deny)
    return profile.match("POST", target)


def test_only_where_it_is_configured() -> None:
    """The other agent server of the same kind stays closed."""
    text = (
        f"upstream: {{url: 'http://127.0.0.1:8642', {FIRES}}}\n"
        "upstreams: {two: {url: 'http://127.0.0.1:9119', public_names: [two.example.com]}}\n"
    )
    made = opened(profiles("hermes-api", "hermes-api"), parsed(text, upstream=False, keys=False))
    found = matched(made["default"])
    assert isinstance(found, Match)
    assert found.route.fires == "/api/jobs/{job_id}/run"
    assert isinstance(matched(made["two"]), Deny)


def test_a_dashboard_has_its_own_path() -> None:
    """By which it is told to run a job."""
    text = f"upstream: {{url: 'http://127.0.0.1:9119', profile: hermes-dashboard, {FIRES}}}\n"
    found = matched(opened(profiles("hermes-dashboard"), parsed(text, upstream=False, keys=False))["default"])
    assert isinstance(found, Match)
    assert found.route.fires == "/api/cron/jobs/{job_id}/trigger"


def test_an_agent_server_without_jobs_cannot_start_one() -> None:
    """Which is told before anything is opened."""
    text = f"upstream: {{url: 'http://127.0.0.1:8000', profile: openai, {FIRES}}}\n"
    settings = parsed(text, upstream=False, keys=False)
    with pytest.raises(ConfigError) as caught:
        opened(profiles("openai"), settings)
    assert [one.code for one in caught.value.problems] == ["cron_fire.profile"]
    assert "upstream.cron_fire" in str(caught.value)
