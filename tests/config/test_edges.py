"""What stands around the gate."""

from pathlib import Path

import pytest

from herma.config.load import parse
from herma.errors import ConfigError
from support.config_text import KEYS, UPSTREAM, codes, parsed, problems
from support.wire_tls import make_pair

TRUSTED = {
    "all": ("[0.0.0.0/0]", ["trusted_proxies.all"]),
    "all IPv6": ("['::/0']", ["trusted_proxies.all"]),
    "two halves": ("[0.0.0.0/1, 128.0.0.0/1]", ["trusted_proxies.all"]),
    "many parts": ("[0.0.0.0/2, 64.0.0.0/2, 128.0.0.0/1]", ["trusted_proxies.all"]),
    "all mapped": ("['::ffff:0:0/96']", ["trusted_proxies.mapped"]),
    "one mapped": ("['::ffff:10.0.0.1']", ["trusted_proxies.mapped"]),
    "half of IPv6": ("['::/1']", ["trusted_proxies.mapped"]),
    "own network": ("[10.1.2.0/24, '2001:db8::/32', 127.0.0.1]", []),
}


@pytest.mark.parametrize(("networks", "expected"), TRUSTED.values(), ids=TRUSTED)
def test_not_everybody_is_trusted(networks: str, expected: list[str]) -> None:
    """Trusting all peers is trusting every forged header; in parts it is the same."""
    assert codes(f"trusted_proxies: {networks}\n") == expected


@pytest.mark.parametrize("network", ["0.0.0.0/7", "'2000::/16'"])
def test_wide_network_is_warned_about(network: str) -> None:
    """Nobody runs all of it."""
    assert [warning.code for warning in parsed(f"trusted_proxies: [{network}]\n").warnings] == [
        "trusted_proxies.wide"
    ]


UPSTREAMS = {
    "loopback": ("http://127.0.0.1:8642", []),
    "socket": ("unix:/run/agent.sock", []),
    "name of loopback": ("http://localhost:8642", []),
    "private network": ("http://10.0.0.1:8642", ["upstream.exposed", "upstream.cleartext"]),
    "https": ("https://10.0.0.1:8642", ["upstream.exposed"]),
    "missing name": ("https://missing.example.com", ["upstream.exposed"]),
}


@pytest.mark.parametrize(("url", "expected"), UPSTREAMS.values(), ids=UPSTREAMS)
def test_upstream_that_others_reach_is_told_loudly(url: str, expected: list[str]) -> None:
    """The gate can be passed by."""
    settings = parsed(f"upstream: {{url: '{url}', key: '${{OTHER_FAKE_KEY}}'}}\n", upstream=False)
    assert [warning.code for warning in settings.warnings] == expected


def test_upstream_without_a_key_is_warned_about() -> None:
    """Most agent servers ask for one."""
    settings = parsed("upstream: {url: 'http://127.0.0.1:8642'}\n", upstream=False)
    assert [warning.code for warning in settings.warnings] == ["upstream.key.missing"]


def test_authorities_need_https(tmp_path: Path) -> None:
    """`tls` on a cleartext upstream verifies nothing."""
    Path(make_pair(tmp_path).cert).rename(tmp_path / "ca.pem")
    file = str(tmp_path / "herma.yaml")
    tail = "tls: {ca_file: ca.pem}, key: '${OTHER_FAKE_KEY}'}\n"
    assert codes("upstream: {url: 'http://127.0.0.1:1', " + tail, upstream=False, file=file) == [
        "upstream.tls"
    ]
    settings = parsed("upstream: {url: 'https://127.0.0.1:1', " + tail, upstream=False, file=file)
    assert settings.upstream.tls is not None
    assert settings.upstream.tls.ca_file == str(tmp_path / "ca.pem")
    assert codes("upstream: {url: 'https://127.0.0.1:1', " + tail, upstream=False) == ["config.file"]
    (tmp_path / "ca.pem").write_text("no certificate")
    assert codes("upstream: {url: 'https://127.0.0.1:1', " + tail, upstream=False, file=file) == [
        "config.file"
    ]
    plain = parsed(
        "upstream: {url: 'https://127.0.0.1:1', tls: {}, key: '${OTHER_FAKE_KEY}'}\n", upstream=False
    )
    assert plain.upstream.tls is not None


def test_directories_are_found_beside_the_file(tmp_path: Path) -> None:
    """Rules from outside are looked for before the start."""
    (tmp_path / "rules").mkdir()
    settings = parsed("content: {rules_dir: rules}\n", file=str(tmp_path / "herma.yaml"))
    assert settings.content.rules_dir == str(tmp_path / "rules")
    assert codes("content: {ioc_dir: missing}\n", file=str(tmp_path / "herma.yaml")) == ["config.file"]


def test_indicators_of_operators_are_found_beside_the_file(tmp_path: Path) -> None:
    """Directories or files; a key that others could have written is refused."""
    (tmp_path / "own").mkdir()
    (tmp_path / "b.json").write_text("{}")
    (tmp_path / "key.pub").write_text("x")
    file = str(tmp_path / "herma.yaml")
    settings = parsed(
        "content: {ioc_dirs: [own, b.json], ioc_public_keys: [key.pub], ioc_minimum_serial: 7, "
        "ioc_suppress: [{id: axios-npm-06, reason: our own tool}]}\n",
        file=file,
    )
    assert settings.content.ioc_dirs == (str(tmp_path / "own"), str(tmp_path / "b.json"))
    assert settings.content.ioc_public_keys == (str(tmp_path / "key.pub"),)
    assert [(one.id, one.reason) for one in settings.content.ioc_suppress] == [
        ("axios-npm-06", "our own tool")
    ]
    assert codes("content: {ioc_dirs: [missing]}\n", file=file) == ["config.file"]
    assert codes("content: {ioc_public_keys: [missing]}\n", file=file) == ["config.file"]
    assert codes("content: {ioc_suppress: [{id: axios-npm-06}]}\n", file=file) == ["config.missing"]
    (tmp_path / "key.pub").chmod(0o666)
    assert codes("content: {ioc_public_keys: [key.pub]}\n", file=file) == ["config.mode"]


def test_audit_file_starts_beside_the_configuration(tmp_path: Path) -> None:
    """Standard output stays what it is."""
    assert parsed("audit: {file: audit.jsonl}\n", file=str(tmp_path / "herma.yaml")).audit.file == str(
        tmp_path / "audit.jsonl"
    )
    assert parsed("audit: {file: '-'}\n").audit.file == "-"


def test_limits_do_not_contradict_each_other() -> None:
    """A body that may be sent can be held."""
    assert codes("limits: {max_body_bytes: 300000000}\n") == ["limits.contradiction"]
    (found,) = problems("limits: {max_buffered_bytes: 12000000}\n")
    assert found.startswith(
        "herma.yaml:1:30: limits.contradiction: found max_response_bytes larger than max_buffered_bytes"
    )


def test_check_that_is_not_there_is_refused() -> None:
    """A mistyped name would leave a check in its default mode, unnoticed."""
    (found,) = problems("checks: {crn: {mode: off}, cron: {mode: monitor}}\n")
    assert found == "herma.yaml:1:10: checks.unknown: no check has this name; known: cron, mcp"


def test_names_of_checks_come_from_the_policy() -> None:
    """Outside tests the real checks are known."""
    with pytest.raises(ConfigError, match=r"checks\.unknown"):
        parse(f"checks: {{nonsense: {{}}}}\n{UPSTREAM}{KEYS}".encode(), "herma.yaml", {})


@pytest.mark.parametrize("mode", ["monitor", "off"])
def test_authentication_cannot_be_turned_off(mode: str) -> None:
    """A mode that lets strangers pass is an error with its place, whatever the listener."""
    text = f"checks: {{auth_gate: {{mode: {mode}}}}}\n{UPSTREAM}{KEYS}"
    with pytest.raises(ConfigError, match=r"herma\.yaml:1:\d+: checks\.always_enforced"):
        parse(text.encode(), "herma.yaml", {})
