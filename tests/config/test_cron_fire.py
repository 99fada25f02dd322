"""Who may start scheduled jobs, in the configuration."""

from pathlib import Path

import pytest

from herma.config.cron_fire import Deliver
from support.config_text import FAKE_KEY, parsed, problems
from support.tokens import key_set, signer

THIRD_FAKE_KEY = "fakeQp5Zx8Lc3Vn6Mb1Kj4Hg"
ENVIRON = {
    "FAKE_KEY": FAKE_KEY,
    "THIRD": THIRD_FAKE_KEY,
    "OTHER_FAKE_KEY": "fakeJ8hTr2Wd6Kp4Vn1Gz7Mb",
    "WEAK": "hunter2",
}
ISSUER = "{name: scheduler, issuer: 'https://s.example.com', audience: agent-7, jwks_url: 'https://s.example.com/certs'}"
JOB = "{name: nightly, job_id: 0123456789ab, key: '${THIRD}'}"


def fires(below: str, *, key: str = "${OTHER_FAKE_KEY}") -> str:
    return f"upstream: {{url: 'http://127.0.0.1:8642', key: '{key}', cron_fire: {{{below}}}}}\n"


def found(below: str, **rest: object) -> list[str]:
    return problems(fires(below), upstream=False, environ=ENVIRON, **rest)


def test_who_may_start_what() -> None:
    """All of it, as it is written, and with safe defaults."""
    text = fires(
        f"issuers: [{ISSUER}], job_keys: [{{name: nightly, job_id: 0123456789ab, key: '${{THIRD}}', profile: work, "
        "expires: '2027-01-01T00:00:00Z', networks: ['192.0.2.0/24']}]"
    )
    made = parsed(text, upstream=False, environ=ENVIRON).upstream.cron_fire
    assert made is not None
    (issuer,), (key,) = made.issuers, made.job_keys
    assert (issuer.issuer, issuer.audience, issuer.max_lifetime_s) == (
        "https://s.example.com",
        "agent-7",
        300.0,
    )
    assert (key.job_id, key.profile, str(key.networks[0])) == ("0123456789ab", "work", "192.0.2.0/24")
    assert made.deliver is Deliver.RUN
    assert THIRD_FAKE_KEY not in repr(made)


def test_nobody_may_by_default() -> None:
    """The route stays closed."""
    assert parsed("").upstream.cron_fire is None
    assert found("") == found("deliver: run")
    assert "neither issuers nor job_keys" in found("")[0]


def test_a_job_key_is_not_forwarded() -> None:
    """The agent server would not know it."""
    assert found(f"deliver: forward, issuers: [{ISSUER}]") == []
    assert "cannot be forwarded" in found(f"deliver: forward, job_keys: [{JOB}]")[0]


def test_a_scheduler_has_keys(tmp_path: Path) -> None:
    """In one place, which only their owner may write."""
    nowhere = ISSUER.replace(", jwks_url: 'https://s.example.com/certs'", "")
    assert "either jwks_url or jwks_file" in found(f"issuers: [{nowhere}]")[0]
    file = tmp_path / "keys.json"
    file.write_bytes(key_set(signer()))
    kept = nowhere.replace("}", f", jwks_file: '{file}'}}")
    assert found(f"issuers: [{kept}]") == []
    file.chmod(0o666)
    assert "other users may write" in found(f"issuers: [{kept}]")[0]


def test_names_are_given_once() -> None:
    """In whatever letters."""
    again = ISSUER.replace("scheduler", "SCHEDULER").replace("agent-7", "agent-8")
    assert "the name is taken" in found(f"issuers: [{ISSUER}, {again}]")[0]
    assert "the name is taken" in "".join(found(f"job_keys: [{JOB}, {JOB}]"))


@pytest.mark.parametrize(
    ("job", "said"),
    [
        ("{name: a, job_id: '../x', key: '${THIRD}'}", "up to 64 letters"),
        ("{name: a, job_id: '*', key: '${THIRD}'}", "up to 64 letters"),
        ("{name: a, job_id: b, key: '${WEAK}'}", "found"),
        ("{name: a, job_id: b, key: '${FAKE_KEY}'}", "the same key"),
        ("{name: a, job_id: b, key: '${OTHER_FAKE_KEY}'}", "the agent server's own key"),
        ("{name: a, job_id: b}", "add key or key_file or hash"),
    ],
)
def test_a_key_that_must_not_start_a_job(job: str, said: str) -> None:
    """No job, weak, or the key of something else."""
    assert said in "\n".join(found(f"job_keys: [{job}]"))


def test_a_key_that_looks_like_a_token_is_refused() -> None:
    """It would be read as one."""
    token = signer().token().decode()
    text = fires("job_keys: [{name: a, job_id: b, key: '${TOKEN}'}]")
    assert "read as a signed token" in "\n".join(
        problems(text, upstream=False, environ={**ENVIRON, "TOKEN": token})
    )


def test_two_jobs_have_two_keys() -> None:
    """Also at two agent servers."""
    other = "upstreams: {two: {url: 'http://127.0.0.1:9119', public_names: [two.example.com], cron_fire: {job_keys: [{name: b, job_id: b, key: '${THIRD}'}]}}}\n"
    said = problems(fires(f"job_keys: [{JOB}]") + other, upstream=False, environ=ENVIRON)
    assert any("the same key" in one for one in said)


def test_a_key_that_is_over_is_told() -> None:
    """It starts nothing."""
    text = fires("job_keys: [{name: a, job_id: b, key: '${THIRD}', expires: '2020-01-01T00:00:00Z'}]")
    settings = parsed(text, upstream=False, environ=ENVIRON)
    assert "cron_fire.expired" in {one.code for one in settings.warnings}
