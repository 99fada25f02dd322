"""The real agent server with the stub model behind it and the gate before it, once for the whole suite."""

from collections.abc import Iterator

import pytest

from support.caller import Client
from support.gate import Gate
from support.hermes import Hermes
from support.stub_model import StubModel


@pytest.fixture(scope="session")
def model() -> Iterator[StubModel]:
    """The model that does as it is told."""
    with StubModel() as running:
        yield running


@pytest.fixture(scope="session")
def hermes(tmp_path_factory: pytest.TempPathFactory, model: StubModel) -> Iterator[Hermes]:
    """The real agent server."""
    with Hermes(tmp_path_factory.mktemp("hermes"), model.url) as running:
        yield running


@pytest.fixture(scope="session")
def gate(tmp_path_factory: pytest.TempPathFactory, hermes: Hermes) -> Iterator[Gate]:
    """The gate in front of it, every check on."""
    with Gate(tmp_path_factory.mktemp("gate"), hermes.url, upstream_key=hermes.key) as running:
        yield running


@pytest.fixture
def client(gate: Gate) -> Client:
    """A caller that may do everything."""
    return Client(gate)
