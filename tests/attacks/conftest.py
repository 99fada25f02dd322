"""One recording upstream and one gate for all attacks; tests that need another gate start their own."""

from collections.abc import Iterator

import pytest

from support.gate import Gate
from support.upstream import RecordingUpstream


@pytest.fixture(scope="session")
def upstream() -> Iterator[RecordingUpstream]:
    """The agent server that must not see what is attacked."""
    with RecordingUpstream() as server:
        yield server


@pytest.fixture(scope="session")
def gate(tmp_path_factory: pytest.TempPathFactory, upstream: RecordingUpstream) -> Iterator[Gate]:
    """A gate in its default shape, with limits wide enough that tests do not throttle each other."""
    with Gate(tmp_path_factory.mktemp("gate"), upstream.url) as running:
        yield running


@pytest.fixture(autouse=True)
def _forget(upstream: RecordingUpstream) -> None:
    """Let each test begin with an empty record."""
    upstream.forget()
