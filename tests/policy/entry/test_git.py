"""Claims about `herma.policy.entry.git`."""

import pytest

from herma.policy.decision import Level
from herma.policy.entry.git import GitKeys
from herma.policy.rule import Examples, Rule, Status

KEYS = {"GIT_PAGER": ["core.pager", "pager.*"], "GIT_URL": ["url.*"]}
RULE = Rule("r", "mcp", "t", Status.TEST, Level.HIGH, "d", Examples((), ()), options={"git_keys": KEYS})

PAIRS: dict[str, tuple[dict[str, str], list[tuple[str, str]]]] = {
    "a pair": ({"GIT_CONFIG_KEY_0": "core.pager", "GIT_CONFIG_VALUE_0": "less"}, [("GIT_PAGER", "less")]),
    "other letters": (
        {"git_config_key_0": " Core.Pager", "git_config_value_0": "less"},
        [("GIT_PAGER", "less")],
    ),
    "zeros in front": (
        {"GIT_CONFIG_KEY_00": "core.pager", "GIT_CONFIG_VALUE_0": "less"},
        [("GIT_PAGER", "less")],
    ),
    "a glob": ({"GIT_CONFIG_KEY_12": "pager.log", "GIT_CONFIG_VALUE_12": "less"}, [("GIT_PAGER", "less")]),
    "one address instead of another": (
        {"GIT_CONFIG_KEY_0": "url.https://a.example/.insteadOf", "GIT_CONFIG_VALUE_0": "https://b.example/"},
        [("GIT_URL", "git+https://a.example/")],
    ),
    "several of one key": (
        {
            "GIT_CONFIG_KEY_0": "core.pager",
            "GIT_CONFIG_VALUE_0": "x",
            "GIT_CONFIG_KEY_1": "core.pager",
            "GIT_CONFIG_VALUE_1": "less",
        },
        [("GIT_PAGER", "x"), ("GIT_PAGER", "less")],
    ),
    "no value": ({"GIT_CONFIG_KEY_0": "core.pager"}, []),
    "another key": ({"GIT_CONFIG_KEY_0": "user.name", "GIT_CONFIG_VALUE_0": "less"}, []),
    "another number": ({"GIT_CONFIG_KEY_0": "core.pager", "GIT_CONFIG_VALUE_1": "less"}, []),
    "no pair": ({"PAGER": "less"}, []),
}


@pytest.mark.parametrize(("env", "said"), PAIRS.values(), ids=PAIRS.keys())
def test_a_pair_says_what_a_variable_says(env: dict[str, str], said: list[tuple[str, str]]) -> None:
    """Every pair for itself, however its name is written."""
    assert list(GitKeys([RULE]).variables(env)) == said
