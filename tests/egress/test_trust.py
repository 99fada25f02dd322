"""The authority of a configuration."""

from pathlib import Path

import pytest
from cryptography import x509

from herma.config.settings import Settings
from herma.egress import trust
from herma.egress.trust import open_authority, require_proxy, unsigned
from herma.errors import ConfigError, ContentError
from herma.policy.egress.host_pattern import HostPattern
from support.config_text import parsed


def _settings(text: str) -> Settings:
    return parsed(f"egress: {{{text}}}\n")


def test_hosts_that_nobody_reads_are_not_signed_for(tmp_path: Path) -> None:
    """Models that ship and those of the configuration, and pinned hosts; no platform, of whatever hosts."""
    settings = _settings(
        f"state_dir: '{tmp_path}/egress', models: ['*.llm.example.com', m.chat.example.com],"
        " pinned: [pinned.app.example.com], platforms: {mattermost: {hosts: [m.chat.example.com]}}"
    )
    assert settings.egress is not None
    found = unsigned(settings, settings.egress)
    for name in ("api.openai.com", "pinned.app.example.com"):
        assert HostPattern(name) in found
    assert HostPattern("llm.example.com", below=True) in found
    assert not {"m.chat.example.com", "api.telegram.org", "openrouter.ai"} & {one.name for one in found}
    authority = open_authority(settings, settings.egress)
    certificate = x509.load_pem_x509_certificate(authority.certificate.read_bytes())
    constraints = certificate.extensions.get_extension_for_class(x509.NameConstraints)
    assert constraints.critical
    excluded = {name.value for name in constraints.value.excluded_subtrees or ()}
    assert {"llm.example.com", "api.anthropic.com"} <= excluded


def test_a_platform_that_is_none_is_told(tmp_path: Path) -> None:
    """Before an authority is made."""
    settings = _settings(
        f"state_dir: '{tmp_path}/egress', platforms: {{nothing: {{hosts: [a.example.com]}}}}"
    )
    assert settings.egress is not None
    with pytest.raises(ContentError, match="no such platform"):
        open_authority(settings, settings.egress)
    assert not (tmp_path / "egress").exists()


def test_the_proxy_must_be_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only where there is a section; then the message says how it is."""
    require_proxy(_settings(""))
    monkeypatch.setattr(trust, "find_spec", lambda _name: None)
    require_proxy(parsed(""))
    with pytest.raises(ConfigError, match=r"pip install 'herma\[egress\]'"):
        require_proxy(_settings(""))
