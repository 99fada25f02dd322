"""Where a secret comes from."""

from pathlib import Path

import pytest

from herma.config.secrets import MAX_SECRET_BYTES, SecretProblem, SecretSource

ENVIRON = {"SET": "fake-value", "EMPTY": "", "BLANK": " ", "LINES": "a\nb", "BYTES": "caf\udce9"}


def source(directory: Path, *, exposed: bool = False) -> SecretSource:
    return SecretSource(ENVIRON, directory, exposed=exposed)


def quiet(code: str, message: str) -> None:
    pytest.fail(f"unexpected warning {code}: {message}")


def written(directory: Path, content: bytes) -> str:
    (directory / "secret").touch(mode=0o600)
    (directory / "secret").write_bytes(content)
    return "secret"


@pytest.mark.parametrize("content", [b"fake", b"fake\n", b"fake\r\n"])
def test_line_end_behind_a_secret_is_not_part_of_it(tmp_path: Path, content: bytes) -> None:
    """Editors and echo write one."""
    assert source(tmp_path).from_file(written(tmp_path, content)).reveal() == b"fake"


BAD_FILES = {
    "empty": (b"", "empty"),
    "only a line end": (b"\n", "empty"),
    "two line ends": (b"fake\n\n", "content"),
    "two words": (b"a b", "content"),
    "blank in front": (b" fake", "content"),
    "NUL": (b"fake\0", "content"),
    "not ASCII": ("fäke".encode(), "content"),
    "too big": (b"x" * (MAX_SECRET_BYTES + 1), "size"),
}


@pytest.mark.parametrize(("content", "code"), BAD_FILES.values(), ids=BAD_FILES)
def test_file_without_one_word_is_refused(tmp_path: Path, content: bytes, code: str) -> None:
    """A secret is one word of visible ASCII; anything else is a mistake."""
    with pytest.raises(SecretProblem) as caught:
        source(tmp_path).from_file(written(tmp_path, content))
    assert caught.value.code == code


def test_secret_from_the_environment(tmp_path: Path) -> None:
    """A variable that is set gives the secret, without a warning."""
    assert source(tmp_path).from_value("${SET}", quiet).reveal() == b"fake-value"


BAD_VALUES = {
    "not set": ("${MISSING}", "unset", "MISSING"),
    "set and empty": ("${EMPTY}", "unset", "EMPTY"),
    "blank": ("${BLANK}", "content", "BLANK"),
    "two lines": ("${LINES}", "content", "LINES"),
    "bytes": ("${BYTES}", "content", "BYTES"),
    "with text around": ("x-${SET}", "variable", "${NAME}"),
    "with a default": ("${SET:-x}", "variable", "${NAME}"),
    "empty": ("", "empty", "empty"),
    "blanks": ("a b", "content", "one word"),
}


@pytest.mark.parametrize(("value", "code", "told"), BAD_VALUES.values(), ids=BAD_VALUES)
def test_value_that_gives_no_secret_is_refused(tmp_path: Path, value: str, code: str, told: str) -> None:
    """The message names the variable, never what is in it."""
    with pytest.raises(SecretProblem) as caught:
        source(tmp_path).from_value(value, quiet)
    assert caught.value.code == code
    assert told in str(caught.value)
    assert "fake-value" not in str(caught.value)


def test_literal_is_warned_about(tmp_path: Path) -> None:
    """A secret in the configuration works, and is told."""
    warned: list[str] = []
    assert source(tmp_path).from_value("fake", lambda code, _: warned.append(code)).reveal() == b"fake"
    assert warned == ["literal"]


def test_literal_that_everybody_may_read_is_refused(tmp_path: Path) -> None:
    """A world-readable configuration holds no secret."""
    with pytest.raises(SecretProblem, match="every user may read") as caught:
        source(tmp_path, exposed=True).from_value("fake", quiet)
    assert caught.value.code == "exposed"
