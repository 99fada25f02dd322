"""Claims about `herma.policy.entry.environment`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.entry.environment import Environment
from herma.policy.entry.source import Sources
from support.guard_content import rules

ENVIRONMENT = Environment(rules("mcp"), Sources(rules("mcp")))
JUDGED: dict[str, tuple[str, str, set[str]]] = {
    "a loader": ("LD_PRELOAD", "/x.so", {"env:loads"}),
    "another case": ("ld_preload", "/x.so", {"env:loads"}),
    "look-alike letters": ("ВASH_ENV", "/x", {"env:loads"}),
    "a path of the user": ("PYTHONPATH", "/srv/x", set()),
    "a path where all may write": ("PYTHONPATH", "/srv:/tmp/x", {"env:loads_from"}),
    "a search path": ("PATH", "/usr/bin:/bin", set()),
    "a search path with a temporary directory": ("PATH", "/tmp:/bin", {"env:searches"}),
    "a search path with this directory": ("PATH", ".:/bin", {"env:searches"}),
    "a pager": ("PAGER", "less", set()),
    "a pager with a command": ("PAGER", "sh -c x", {"env:commands"}),
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
