"""Errors that carry what their catchers need."""

import pytest

from herma.errors import ConfigError, ContentError, HermaError, Problem, Source, StoreError


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (Source("herma.yaml", 3, 7), "herma.yaml:3:7"),
        (Source("herma.yaml", 3), "herma.yaml:3:0"),
        (Source("herma.yaml"), "herma.yaml"),
    ],
)
def test_a_place_reads_as_editors_want_it(source: Source, text: str) -> None:
    """Line and column follow the file's name; a whole file is only its name."""
    assert str(source) == text


def test_a_config_error_tells_every_problem() -> None:
    """Nobody has to fix one problem to hear of the next."""
    problems = [Problem(Source("f", line, 1), "code", "message") for line in (1, 2)]
    error = ConfigError(problems)
    assert error.problems == tuple(problems)
    assert str(error).splitlines() == ["f:1:1: code: message", "f:2:1: code: message"]


def test_a_config_error_needs_a_problem() -> None:
    """An error without a reason helps nobody."""
    with pytest.raises(ValueError, match="without problems"):
        ConfigError([])


def test_a_content_error_names_its_file() -> None:
    """The place stands first and is kept."""
    error = ContentError("unknown key", Source("rules/x.yaml", 6))
    assert str(error).startswith("rules/x.yaml:6")
    assert error.source.line == 6


@pytest.mark.parametrize("kind", [ConfigError, ContentError, StoreError])
def test_every_error_is_one_of_ours(kind: type[Exception]) -> None:
    """One `except` catches them all."""
    assert issubclass(kind, HermaError)
