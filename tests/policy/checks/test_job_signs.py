"""Claims about `herma.policy.checks.job_signs`."""

import base64
import json
from typing import Any

import pytest

from herma.policy.checks import job_signs
from herma.policy.checks.job_signs import commands, shows_job

JOB = {"schedule": "1h", "prompt": "x"}

JOBS: dict[str, Any] = {
    "another word for the time": {"task": "x", "run_at": "2027-01-01"},
    "a patch": [{"op": "replace", "path": "/jobs/0/prompt", "value": "x"}],
    "keys and values": [{"key": "prompt", "value": "x"}, {"key": "schedule", "value": "1h"}],
    "a job that is changed": {"id": "j1", "prompt": "x"},
    "words of a command": {"argv": ["hermes", "cron", "add", "1h", "x"]},
    "a command": {"command": "please run hermes cron add '1h' 'x'"},
    "a line of a crontab": {"content": "0 * * * * hermes run 'the prompt'"},
    "YAML": {"text": "every: one hour or so\ntask: something"},
    "base64": {"content": base64.b64encode(json.dumps(JOB).encode()).decode()},
    "escapes in a string": {"content": '{"\\u0070rompt": "x", "\\u0073chedule": "1h"}'},
    "a wide letter": {"\uff50rompt": "x", "Every ": "1h"},
}


@pytest.mark.parametrize("body", JOBS.values(), ids=JOBS.keys())
def test_a_job_shows_in_any_shape(body: Any) -> None:
    """Names, cells, paths, lines and what is encoded are labels alike."""
    assert shows_job(body)


@pytest.mark.parametrize(
    "body",
    [
        [{"role": "user", "content": "At eight, tell me when the prompt was changed, and why."}],
        {"prompt": "x"},
        {"every": "1h", "at": "noon"},
        {"task": "x", "name": "y"},
    ],
)
def test_a_chat_and_half_a_job_show_none(body: Any) -> None:
    """Prose that speaks of times and prompts has no labels."""
    assert not shows_job(body)


def test_more_text_than_is_searched_counts_as_a_job(monkeypatch: pytest.MonkeyPatch) -> None:
    """Padding hides no label."""
    monkeypatch.setattr(job_signs, "MAX_SEARCHED_CHARS", 3)
    assert shows_job(["four"])


def test_a_command_of_a_chat_is_found() -> None:
    """Whatever its case, with its place."""
    assert list(commands([" /Cron add 1h x", "the /cron command"])) == [("/0", " /Cron add 1h x")]
