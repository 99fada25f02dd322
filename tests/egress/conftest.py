"""One process of the gate for the tests that only send something through it."""

from collections.abc import Iterator

import pytest

from support.egress_process import Child, Neighbour, child, neighbour, ready


@pytest.fixture(scope="package")
def stranger() -> Iterator[Neighbour]:
    """A server that is nobody's platform."""
    with neighbour() as server:
        yield server


@pytest.fixture(scope="package")
def chat() -> Iterator[Neighbour]:
    """A server that is a platform."""
    with neighbour() as server:
        yield server


@pytest.fixture(scope="package")
def serving(
    tmp_path_factory: pytest.TempPathFactory, stranger: Neighbour, chat: Neighbour
) -> Iterator[Child]:
    """The gate between them."""
    section = {
        "near": [f"127.0.0.1:{stranger.port}", f"127.0.0.1:{chat.port}"],
        "platforms": {"matrix": {"hosts": [f"127.0.0.1:{chat.port}"]}},
        "max_body_bytes": 65536,
    }
    with child(tmp_path_factory.mktemp("egress"), section) as started:
        yield ready(started)
