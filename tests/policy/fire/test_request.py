"""The request that starts a job."""

from typing import Any

import pytest

from herma.policy.fire.request import MISSING, Fire, is_job_id, read_fire, run_path


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"job_id": "0123456789ab"}, Fire("0123456789ab")),
        ({"job_id": "nightly_report-2", "extra": 1}, Fire("nightly_report-2")),
        ({"job_id": "a", "profile": None}, Fire("a")),
        ({"job_id": "a", "profile": "work"}, Fire("a", "work")),
        ({"job_id": "a", "profile": ["work"]}, Fire("a", "?")),
    ],
)
def test_a_body_names_a_job(body: Any, expected: Fire) -> None:
    """And perhaps a profile; one that is no name is not taken for none."""
    assert read_fire(body) == expected


@pytest.mark.parametrize("body", [None, [], "a", 1, {}, {"id": "a"}, [{"job_id": "a"}]])
def test_what_names_no_job(body: Any) -> None:
    """No object, or none with a job."""
    assert read_fire(body) is MISSING


@pytest.mark.parametrize(
    "job_id",
    ["", "../../x", "a/b", "a b", "a.b", "a%2e", "-a", "_a", "a\n", "ä", "１", "a" * 65, 7, None, ["a"], {"a": 1}],
)  # fmt: skip
def test_what_is_no_name_of_a_job(job_id: Any) -> None:
    """What could lead to another path, or is no text."""
    assert read_fire({"job_id": job_id}) is MISSING
    assert not (isinstance(job_id, str) and is_job_id(job_id))


def test_the_path_that_runs_a_job() -> None:
    """With the prefix of its profile, where there is one."""
    template = "/api/jobs/{job_id}/run"
    assert run_path(template, "abc") == "/api/jobs/abc/run"
    assert run_path(template, "abc", "", "/p/{profile}") == "/api/jobs/abc/run"
    assert run_path(template, "abc", "home", "/p/{profile}") == "/p/home/api/jobs/abc/run"
