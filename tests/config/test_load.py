"""The whole configuration."""

import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.config.load import insecure_warning, load, parse
from herma.config.settings import Settings
from herma.config.values import Tcp
from herma.errors import ConfigError
from herma.yamlfile import MAX_BYTES
from support.config_text import FAKE_KEY, KEYS, OTHER_FAKE_KEY, UPSTREAM, parsed

ENVIRON = {"FAKE_KEY": FAKE_KEY, "OTHER_FAKE_KEY": OTHER_FAKE_KEY}
TEXT = UPSTREAM + KEYS


def written(directory: Path, text: str = TEXT, mode: int = 0o600) -> Path:
    path = directory / "herma.yaml"
    path.write_text(text)
    path.chmod(mode)
    return path


def test_smallest_file_gives_the_safe_defaults(tmp_path: Path) -> None:
    """An upstream and a key are enough; everything else has a default."""
    settings = load(written(tmp_path), ENVIRON)
    assert settings.listen[0].address == Tcp("127.0.0.1", 8643)
    assert settings.admin.address == Tcp("127.0.0.1", 8644)
    assert settings.limits.max_body_bytes == 10 * 1024 * 1024
    assert settings.limits.max_concurrent_runs == 10
    assert settings.warnings == ()


def test_settings_know_their_file(tmp_path: Path) -> None:
    """Reload tells by the digest whether anything changed."""
    path = written(tmp_path)
    settings = load(path, ENVIRON)
    assert settings.path == str(path)
    assert settings.digest == hashlib.sha256(TEXT.encode()).hexdigest()


def test_secret_files_are_found_beside_the_file(tmp_path: Path) -> None:
    """Relative paths start at the configuration."""
    (tmp_path / "my.key").touch(mode=0o600)
    (tmp_path / "my.key").write_text(FAKE_KEY + "\n")
    path = written(tmp_path, UPSTREAM + "auth: {keys: [{name: a, key_file: my.key, scopes: [run]}]}\n")
    key = load(path, ENVIRON).auth.keys[0].key
    assert key.reveal() == FAKE_KEY.encode()


REFUSED_FILES = {
    "writable by the group": (TEXT, 0o660, "config.mode"),
    "writable by all": (TEXT, 0o606, "config.mode"),
    "literal that everybody may read": (
        TEXT.replace("${FAKE_KEY}", FAKE_KEY),
        0o644,
        "config.secret.exposed",
    ),
    "too large": (TEXT + "#" * MAX_BYTES, 0o600, "config.size"),
    "not YAML": ("a: [", 0o600, "yaml.syntax"),
    "empty": ("", 0o600, "yaml.empty"),
}


@pytest.mark.parametrize(("text", "mode", "code"), REFUSED_FILES.values(), ids=REFUSED_FILES)
def test_file_that_cannot_be_trusted_is_refused(tmp_path: Path, text: str, mode: int, code: str) -> None:
    """Mode, size and syntax are judged before the content."""
    with pytest.raises(ConfigError, match=code):
        load(written(tmp_path, text, mode), ENVIRON)


def test_literal_in_a_private_file_is_warned_about(tmp_path: Path) -> None:
    """It works, and is told with its place."""
    settings = load(written(tmp_path, TEXT.replace("${FAKE_KEY}", FAKE_KEY)), ENVIRON)
    assert [warning.code for warning in settings.warnings] == ["config.secret.literal"]
    assert settings.warnings[0].source.line == 2


def test_missing_file_names_the_command_that_writes_one(tmp_path: Path) -> None:
    """A first start leads somewhere."""
    with pytest.raises(ConfigError, match="`herma init` writes one"):
        load(tmp_path / "herma.yaml", {})


def test_environment_overrides_nothing() -> None:
    """Only `${NAME}` in the place of a secret looks at the environment."""
    environ = {**ENVIRON, "HERMA_LISTEN": "0.0.0.0:80", "HERMA_STRICT": "false", "LISTEN": "0.0.0.0:80"}
    assert parsed("strict: true\n", environ=environ) == parsed("strict: true\n")
    with pytest.raises(ConfigError):
        parsed("listen: [{address: '${LISTEN}'}]\n", environ=environ)


def test_insecure_variable_that_is_empty_is_not_set() -> None:
    """As with secrets."""
    assert insecure_warning({"HERMA_INSECURE": ""}) is None
    assert insecure_warning({"HERMA_INSECURE": "0"}) is not None


def test_files_need_not_be_there_for_an_editor() -> None:
    """Without the check of files, certificates and directories may be elsewhere."""
    text = (
        "content: {rules_dir: missing}\nlisten: [{address: '127.0.0.1:80', tls: {cert_file: a, key_file: b}}]\n"
        + TEXT
    )
    settings = parse(text.encode(), "herma.yaml", ENVIRON, check_files=False)
    assert isinstance(settings, Settings)


KEYS_OF_FILE = [
    "listen",
    "upstream",
    "auth",
    "keys",
    "address",
    "url",
    "key",
    "name",
    "scopes",
    "limits",
    "rates",
    "checks",
    "mode",
    "x",
]
PIECES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 10**12)
    | st.sampled_from(["127.0.0.1:1", "${FAKE_KEY}", "run", "off", "a", ""]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS_OF_FILE), inner, max_size=4)
    ),
    max_leaves=10,
)


def flow(value: object) -> str:
    match value:
        case dict():
            return "{" + ", ".join(f"{key}: {flow(item)}" for key, item in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(flow, value)) + "]"
        case str():
            return f"'{value}'"
        case None:
            return "~"
        case bool():
            return str(value).lower()
        case _:
            return str(value)


@given(PIECES)
def test_any_shape_is_read_or_refused(value: object) -> None:
    """Whatever stands where, the answer is settings or a list of problems with places."""
    try:
        parsed(f"{flow(value)}\n", keys=False, upstream=False)
    except ConfigError as error:
        places = [problem.source.file for problem in error.problems]
        assert places == ["herma.yaml"] * len(places)
