"""Claims about `herma.policy.entry.environment`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.decision import Level
from herma.policy.entry.environment import Environment
from herma.policy.entry.source import Sources
from herma.policy.pattern import examine_pattern
from herma.policy.rule import Examples, Rule, Status
from support.guard_content import rules

SOURCES = Sources(rules("mcp"))
ENVIRONMENT = Environment(rules("mcp"), SOURCES)
JUDGED: dict[str, tuple[str, str, set[str]]] = {
    "a loader": ("LD_PRELOAD", "/x.so", {"env:loads"}),
    "a loader without a value": ("PYTHONSTARTUP", "", set()),
    "a library that is usual": ("LD_PRELOAD", "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2", set()),
    "its name by way of another directory": (
        "LD_PRELOAD",
        "/usr/lib/../../tmp/libjemalloc.so.2",
        {"env:loads"},
    ),
    "its name elsewhere": ("LD_PRELOAD", "/tmp/libjemalloc.so.2", {"env:loads"}),
    "another one beside it": ("LD_PRELOAD", "libgomp.so.1:/x.so", {"env:loads"}),
    "a key for ssh": ("GIT_SSH_COMMAND", "ssh -i ~/.ssh/x -o IdentitiesOnly=yes", set()),
    "a command instead of ssh": ("GIT_SSH_COMMAND", "ssh -o ProxyCommand=/x", {"env:loads"}),
    "a home that is doubtful": ("HOME", "/tmp", {"env:doubtful"}),
    "a hidden home": ("HOME", "/tmp/.x", {"env:loads_from"}),
    "a hidden directory of the system": ("PYTHONPATH", "/srv/.x", {"env:loads_from"}),
    "an environment of the project": ("PYTHONPATH", "/srv/.venv", set()),
    "a prompt": ("PS4", "+ ${LINENO}: ", set()),
    "a prompt that runs something": ("PS4", "$(x)", {"env:prompts"}),
    "another case": ("ld_preload", "/x.so", {"env:loads"}),
    "look-alike letters": ("ВASH_ENV", "/x", {"env:loads"}),
    "a path of the user": ("PYTHONPATH", "/srv/x", set()),
    "a path where all may write": ("PYTHONPATH", "/srv:/tmp/x", {"env:loads_from"}),
    "a search path": ("PATH", "/usr/bin:/bin", set()),
    "a search path with a temporary directory": ("PATH", "/tmp:/bin", {"env:searches"}),
    "a search path with this directory": ("PATH", ".:/bin", {"env:searches"}),
    "a pager": ("PAGER", "less", set()),
    "a pager with a command": ("PAGER", "sh -c x", {"env:commands"}),
    "a log that is a start-up file": ("GIT_TRACE", "/root/.bashrc", {"env:writes_to", "env:writes_file"}),
    "a history that is a job": ("X_HISTFILE", "/etc/cron.d/x", {"env:writes_file"}),
    "a history": ("X_HISTFILE", "/root/.bash_history", set()),
    "a history of the shell": ("HISTFILE", "/root/.bash_history", set()),
    "a log": ("GIT_TRACE", "/var/log/git.log", set()),
    "a package that is fetched": ("npm_config_package", "https://drop.example.com/x.tgz", {"source:archive"}),
    "uploads": ("PYTHONPATH", "/root/.hermes/uploads", {"env:loads_from"}),
    "a check turned off": ("NODE_TLS_REJECT_UNAUTHORIZED", "0", {"env:checks"}),
    "a check left on": ("NODE_TLS_REJECT_UNAUTHORIZED", "1", set()),
    "no check": ("GIT_SSL_NO_VERIFY", "true", {"env:unchecks"}),
    "a host without checks": ("PIP_TRUSTED_HOST", "x.example", {"env:unchecks"}),
    "a guard": ("HERMES_YOLO_MODE", "1", {"env:guards"}),
    "an endpoint": ("OPENAI_BASE_URL", "https://x.example/v1", set()),
    "an endpoint in clear": ("OPENAI_BASE_URL", "http://x.example/v1", {"env:endpoint:plain"}),
    "an endpoint without a name": ("X_API_BASE", "http://192.0.2.1/v1", {"env:endpoint:raw"}),
    "an endpoint here": ("OPENAI_BASE_URL", "http://localhost:11434/v1", set()),
    "a proxy": ("https_proxy", "http://x.example:1", {"env:proxy:foreign"}),
    "a proxy without a name": ("HTTPS_PROXY", "http://192.0.2.1:1", {"env:proxy:raw"}),
    "an index": ("UV_INDEX_URL", "https://pypi.org/simple", set()),
    "an index of a stranger": ("UV_INDEX_URL", "https://x.example/simple", {"env:index:foreign"}),
    "an index in clear": ("UV_INDEX_URL", "http://x.example/simple", {"env:index:raw"}),
    "a tool's own": ("EXAMPLE_API_KEY", "x", set()),
}


@pytest.mark.parametrize(("name", "value", "effects"), JUDGED.values(), ids=JUDGED.keys())
def test_a_variable_counts_by_its_name_and_value(name: str, value: str, effects: set[str]) -> None:
    """What loads code counts always; paths, commands and hosts count by what they are."""
    assert set(ENVIRONMENT.effects({name: value})) == effects


@given(
    st.dictionaries(st.sampled_from([row[0] for row in JUDGED.values()]), st.text(max_size=12)),
    st.text(max_size=8),
)
def test_a_harmless_variable_more_changes_nothing(env: dict[str, str], value: str) -> None:
    """Effects of the others stay what they are."""
    assert set(ENVIRONMENT.effects(env)) == set(ENVIRONMENT.effects({**env, "EXAMPLE": value}))


def test_the_rest_of_variables_is_what_is_neither_usual_nor_doubtful() -> None:
    """Variables of which nothing is left are gone; others stay as they are written."""
    env = {"NODE_OPTIONS": "--import tsx --import /x.mjs", "LD_PRELOAD": "libgomp.so.1", "Other": "As It Is"}
    assert ENVIRONMENT.rest(env) == {"NODE_OPTIONS": "--import /x.mjs", "Other": "As It Is"}


def test_a_value_that_takes_too_long_is_judged_whole() -> None:
    """Nothing is taken out of what is made to be slow."""
    options = {
        "names": {"loads": ["X"]},
        "usual": [{"names": ["X"], "values": [r"(?:.{0,60}?,){11}P"]}],
    }
    rule = Rule("r", "mcp", "t", Status.TEST, Level.HIGH, "d", Examples((), ()), options=options)
    slow = Environment([rule], SOURCES)
    assert set(slow.effects({"X": "a," * 3000})) == {"env:loads"}


def test_patterns_of_values_lie_in_the_subset() -> None:
    """Patterns for values keep the bounds that patterns of rules keep."""
    values = [
        str(value)
        for rule in rules("mcp")
        for option in ("usual", "doubtful")
        for group in rule.options.get(option, ())
        for value in group["values"]
    ]
    assert values
    for value in values:
        examine_pattern(value)
