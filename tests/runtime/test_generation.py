"""What a version of the configuration makes."""

import ssl
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from herma.config.settings import Settings
from herma.config.upstream import DEFAULT_UPSTREAM
from herma.errors import ConfigError, ContentError
from herma.identity import Verified, hash_key
from herma.policy.decision import Mode
from herma.policy.exchange import Phase
from herma.policy.secret import Secret
from herma.runtime.generation import build, new_fingerprint_key, read_content
from support.exchanges import exchange
from support.gate import Gate, free_port
from support.inside import content_of, settings_of
from support.rule_file import rule_text
from support.wire_tls import make_pair

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def _changed(gate: Gate, **sections: Any) -> Settings:
    for name, section in sections.items():
        gate.config[name] = {**gate.config.get(name, {}), **section} if isinstance(section, dict) else section
    gate.write_config(gate.config)
    return settings_of(gate)


async def test_a_key_opens_what_the_file_says(gate: Gate) -> None:
    """Name, scopes, group and cap of a key arrive where callers are judged, plain or hashed."""
    hashed = str(hash_key(Secret(gate.keys["reader"].encode())))
    keys = [
        {
            "name": "plain",
            "key_file": "runner.key",
            "scopes": ["run"],
            "group": "team",
            "max_concurrent_runs": 3,
        },
        {"name": "hashed", "hash": hashed, "scopes": ["read"], "networks": ["192.0.2.0/24"]},
        {"name": "old", "key_file": "other.key", "scopes": ["read"], "expires": "2026-01-01T00:00:00Z"},
    ]
    settings = _changed(gate, auth={"keys": keys})
    ring = build(settings, content_of(settings)).by_name[DEFAULT_UPSTREAM].keyring
    plain = ring.verify(Secret(gate.keys["runner"].encode()), "127.0.0.1", NOW)
    assert isinstance(plain, Verified)
    assert (plain.principal.name, plain.principal.group, plain.principal.max_concurrent_runs) == (
        "plain",
        "team",
        3,
    )
    assert set(plain.principal.scopes) == {"run"}
    reader = Secret(gate.keys["reader"].encode())
    assert isinstance(ring.verify(reader, "192.0.2.9", NOW), Verified)
    assert not isinstance(ring.verify(reader, "198.51.100.1", NOW), Verified)
    assert not isinstance(ring.verify(Secret(gate.keys["other"].encode()), "127.0.0.1", NOW), Verified)


@pytest.mark.parametrize(
    ("listen", "allowed", "refused"),
    [
        ({"address": "127.0.0.1:8643"}, [("127.0.0.1", 8643), ("localhost", 8643)], [("evil.example", 8643)]),
        (
            {"address": "0.0.0.0:8643", "public_names": ["agent.example.com"]},
            [("agent.example.com", 443), ("agent.example.com", 8643), ("0.0.0.0", 8643)],
            [("agent.example.com", 9999), ("localhost", 8643), ("evil.example", 8643)],
        ),
        (
            {"address": "0.0.0.0:8643", "public_names": ["agent.example.com:9443"]},
            [("agent.example.com", 9443)],
            [("agent.example.com", 8643), ("agent.example.com", None)],
        ),
        ({"address": "unix:/run/herma/gate.sock"}, [("localhost", None)], [("evil.example", None)]),
    ],
    ids=["loopback", "public name", "public name with a port", "unix socket"],
)
async def test_each_listener_answers_to_its_own_names(
    gate: Gate,
    listen: dict[str, Any],
    allowed: list[tuple[str, int | None]],
    refused: list[tuple[str, int | None]],
) -> None:
    """A host name is good where it was configured, and nowhere else."""
    settings = _changed(gate, listen=[listen])
    (policy,) = build(settings, content_of(settings)).by_name[DEFAULT_UPSTREAM].hosts
    assert [policy.allows(*host) for host in allowed] == [True] * len(allowed)
    assert [policy.allows(*host) for host in refused] == [False] * len(refused)


@pytest.mark.parametrize(
    ("url", "authority"),
    [
        ("http://127.0.0.1:8642", b"127.0.0.1:8642"),
        ("https://agent.example.com", b"agent.example.com"),
        ("unix:/run/agent.sock", b"localhost"),
    ],
    ids=["tcp", "tls", "unix socket"],
)
async def test_the_upstream_is_reached_as_configured(gate: Gate, url: str, authority: bytes) -> None:
    """The upstream hears its own name, and its own key stands ready."""
    settings = _changed(gate, upstream={"url": url})
    generation = build(settings, content_of(settings)).by_name[DEFAULT_UPSTREAM]
    assert generation.authority == authority
    assert generation.upstream_key is not None
    assert generation.upstream_key.reveal() == gate.upstream_key.encode()
    await generation.pool.close()


async def test_authorities_that_are_none_are_an_error(gate: Gate) -> None:
    """A file without a certificate is not replaced by the system's authorities."""
    pair = make_pair(gate.directory)
    settings = _changed(gate, upstream={"url": "https://127.0.0.1:8642", "tls": {"ca_file": pair.cert}})
    Path(pair.cert).write_text("no certificate")
    with pytest.raises(ssl.SSLError):
        build(settings, content_of(settings))


async def test_each_listener_has_its_certificate_or_none(gate: Gate) -> None:
    """In the order of the configuration; a pair that does not fit when it is loaded is an error."""
    pair = make_pair(gate.directory)
    tls = {"cert_file": pair.cert, "key_file": pair.key}
    listen = [{"address": f"127.0.0.1:{free_port()}"}, {"address": f"127.0.0.1:{free_port()}", "tls": tls}]
    settings = _changed(gate, listen=listen)
    contexts = build(settings, content_of(settings)).contexts
    assert [context is not None for context in contexts] == [False, True]
    key = Path(pair.key).read_text()
    make_pair(gate.directory)
    Path(pair.key).write_text(key)
    with pytest.raises(ssl.SSLError):
        build(settings, content_of(settings))


async def test_modes_of_checks_are_the_configured_ones(gate: Gate) -> None:
    """A check that the file sets to monitor is in the settings of the generation, and the others enforce."""
    settings = _changed(gate, checks={"cron_scan": {"mode": "monitor"}})
    assert build(settings, content_of(settings)).settings.modes() == {"cron_scan": Mode.MONITOR}


def test_shipped_content_is_found_and_read(gate: Gate) -> None:
    """Without directories of the operator's own, the shipped rules are used, all families of them."""
    content = content_of(settings_of(gate))
    assert content.profiles[DEFAULT_UPSTREAM].name == "hermes-api"
    assert {"mcp_guard", "cron_scan", "indicator_guard"} <= {check.id for check in content.checks}


@pytest.mark.parametrize("option", ["rules_dir", "ioc_dir"])
def test_a_directory_of_the_operators_own_replaces_the_shipped_one(
    gate: Gate, tmp_path: Path, option: str
) -> None:
    """An empty directory is an error: no rules is not "no findings", and the shipped ones do not step in."""
    (tmp_path / "own").mkdir()
    settings = _changed(gate, content={option: str(tmp_path / "own")})
    with pytest.raises(ContentError):
        read_content(settings, new_fingerprint_key())


def test_a_fingerprint_key_is_new_each_time() -> None:
    """Placeholders of two starts cannot be compared."""
    first, second = new_fingerprint_key(), new_fingerprint_key()
    assert len(first.reveal()) == 32
    assert first.reveal() != second.reveal()


async def test_own_rules_and_exemptions_reach_the_checks(gate: Gate, tmp_path: Path) -> None:
    """What operators add is judged with; an exemption from a rule that is not there stops the start."""
    own = tmp_path / "own"
    (own / "mcp").mkdir(parents=True)
    (own / "mcp" / "acme-own.yaml").write_bytes(rule_text(id="acme-own"))
    exemption = {
        "rule": "acme-own",
        "subject": {"server": "disks"},
        "reason": "these disks are wiped every night",
        "expires": "2999-01-01",
    }
    settings = _changed(gate, content={"rules_dirs": [str(own)]}, exemptions=[exemption])
    content = read_content(settings, new_fingerprint_key())
    pipeline = build(settings, content).by_name[DEFAULT_UPSTREAM].pipeline

    def found(name: str) -> set[str]:
        servers = {"mcp_servers": {name: {"command": "acmectl", "args": ["disks", "--wipe"]}}}
        asked = replace(exchange(servers), today=date(2026, 1, 1))
        return {
            finding.rule_id
            for finding in pipeline.decide(asked, Phase.REQUEST_BODY).findings
            if finding.blocks
        }

    assert "acme-own" in found("others")
    assert "acme-own" not in found("disks")
    settings = _changed(gate, exemptions=[{**exemption, "rule": "acme-gone"}])
    with pytest.raises(ConfigError, match="acme-gone"):
        read_content(settings, new_fingerprint_key())


def test_surfaces_reach_the_profile_and_wrong_ones_stop_the_start(gate: Gate) -> None:
    """What is switched off is refused; a name that the profile lacks is an error with the names that it has."""
    settings = _changed(gate, surfaces={"cron.create": {"scope": "off"}})
    content = read_content(settings, new_fingerprint_key())
    assert [route.template for route in content.profiles[DEFAULT_UPSTREAM].routes if route.off] == [
        "/api/jobs"
    ]
    settings = _changed(gate, surfaces={"cron.creat": {"scope": "off"}})
    with pytest.raises(ConfigError, match=r"no operation 'cron\.creat'; did you mean 'cron\.create'\?"):
        read_content(settings, new_fingerprint_key())
