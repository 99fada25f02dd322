"""Callers that are known by a certificate, in the configuration."""

from pathlib import Path

import pytest

from support.config_text import codes, parsed, problems
from support.wire_tls import Pair, make_pair


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    made = make_pair(tmp_path_factory.mktemp("tls"))
    Path(made.key).chmod(0o600)
    return made


def listening(pair: Pair, more: str) -> str:
    tls = f"cert_file: {pair.cert}, key_file: {pair.key}{more}"
    return f"listen: [{{address: '127.0.0.1:8643', tls: {{{tls}}}}}]\n"


def certificates(*entries: str) -> str:
    return "auth:\n  certificates:\n" + "".join(f"    - {{{one}}}\n" for one in entries)


ONE = "name: scheduler, san: ['dns:Scheduler.example.com'], scopes: [cron]"


def test_a_listener_may_ask_for_certificates(pair: Pair) -> None:
    """Of everybody, unless it is said that others may connect too."""
    found = parsed(listening(pair, f", client_ca_file: {pair.cert}") + certificates(ONE), keys=False)
    tls = found.listen[0].tls
    assert tls is not None
    assert (tls.client_ca_file, tls.client_auth) == (pair.cert, "required")
    (one,) = found.auth.certificates
    assert (one.name, one.san, one.scopes) == ("scheduler", ("dns:scheduler.example.com",), {"cron"})
    assert not found.auth.open
    text = listening(pair, f", client_ca_file: {pair.cert}, client_auth: optional")
    tls = parsed(text).listen[0].tls
    assert tls is not None
    assert tls.client_auth == "optional"


def test_a_demand_without_authorities_is_refused(pair: Pair, tmp_path: Path) -> None:
    """Nobody could meet it, or anybody."""
    assert codes(listening(pair, ", client_auth: required")) == ["listen.client_auth"]
    assert codes(listening(pair, f", client_ca_file: {tmp_path / 'nothing'}")) == ["config.file"]
    assert codes(listening(pair, f", client_ca_file: {pair.key}")) == ["config.file"]
    assert codes(listening(pair, f", client_ca_file: {pair.cert}, client_auth: maybe")) == ["config.value"]


def test_certificates_that_nobody_asks_for_are_refused() -> None:
    """The entries would never open anything."""
    assert codes(certificates(ONE), keys=False) == ["auth.certificates.unasked"]


@pytest.mark.parametrize(
    ("second", "says"),
    [
        ("name: Scheduler, san: ['dns:b.example.com'], scopes: [run]", "the name is taken"),
        (
            "name: b, san: ['dns:b.example.com', 'dns:scheduler.example.com'], scopes: [run]",
            "same name of a certificate",
        ),
        ("name: b, san: ['dns:*.example.com'], scopes: [run]", "without wildcards"),
        ("name: b, san: ['b.example.com'], scopes: [run]", "expected dns:"),
        ("name: b, san: [], scopes: [run]", "found 0 items"),
        ("name: b, san: ['dns:b.example.com'], scopes: []", "found 0 items"),
    ],
)
def test_entries_are_told_apart(pair: Pair, second: str, says: str) -> None:
    """Nobody is two callers, and no name stands for many."""
    text = listening(pair, f", client_ca_file: {pair.cert}") + certificates(ONE, second)
    (problem,) = problems(text, keys=False)
    assert says in problem
