"""An agent server that records, and a gate in front of it that is configured but not started."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.gate import Gate
from support.upstream import RecordingUpstream


@pytest.fixture
def upstream() -> Iterator[RecordingUpstream]:
    """An agent server on loopback."""
    with RecordingUpstream() as server:
        yield server


@pytest.fixture
def gate(tmp_path: Path, upstream: RecordingUpstream) -> Gate:
    """A gate with its configuration, keys and ports; nothing runs yet."""
    return Gate(tmp_path / "gate", upstream.url)
