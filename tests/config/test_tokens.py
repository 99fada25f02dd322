"""Issuers of signed tokens, in the configuration."""

from pathlib import Path

import pytest

from support.config_text import codes, parsed, problems
from support.tokens import key_set, signer

FULL = """
    - name: workloads
      issuer: https://id.example.com/realms/agents
      audience: https://agent.example.com
      jwks_url: https://id.example.com/realms/agents/certs
      algorithms: [ES256, EdDSA]
      scopes: [run, read]
      scope_claim: scp
      groups_claim: /realm_access/roles
      roles: [{group: ops, role: operator}]
      subjects: [service-account-bot]
      default_scopes: [read]
      max_lifetime_s: 3600
      group: team
      max_concurrent_runs: 2
"""
PUBLIC = "listen: [{address: '192.0.2.7:8643'}]\n"


def tokens(entries: str) -> str:
    return f"auth:\n  tokens:{entries}"


def entry(**over: str | None) -> str:
    said = {
        "name": "ci",
        "issuer": "https://id.example.com",
        "audience": "herma",
        "jwks_url": "https://id.example.com/certs",
        "scopes": "[run]",
    } | over
    return (
        "\n    - {"
        + ", ".join(f"{name}: {value}" for name, value in said.items() if value is not None)
        + "}\n"
    )


def test_an_issuer_says_whose_tokens_open_what() -> None:
    """All of it, as it is written."""
    (found,) = parsed(tokens(FULL), keys=False).auth.tokens
    assert (found.name, found.issuer, found.audience) == (
        "workloads",
        "https://id.example.com/realms/agents",
        "https://agent.example.com",
    )
    assert [one.value for one in found.algorithms] == ["ES256", "EdDSA"]
    assert (found.scopes, found.default_scopes) == ({"run", "read"}, {"read"})
    assert (found.scope_claim, found.groups_claim) == ("scp", "/realm_access/roles")
    assert [(one.group, one.role) for one in found.roles] == [("ops", "operator")]
    assert (found.subjects, found.groups, found.max_lifetime_s) == (("service-account-bot",), (), 3600)
    assert (found.group, found.max_concurrent_runs) == ("team", 2)


def test_the_defaults_are_narrow() -> None:
    """No scope that the token does not list, and a day at the most."""
    (found,) = parsed(tokens(entry()), keys=False).auth.tokens
    assert (found.scope_claim, found.groups_claim) == ("scope", "groups")
    assert (found.default_scopes, found.roles, found.max_lifetime_s) == (frozenset(), (), 86_400)
    assert (found.group, found.max_concurrent_runs) == ("", None)
    assert len(found.algorithms) == 10
    assert not any(one.startswith("HS") for one in found.algorithms)


def test_a_public_listener_with_an_issuer_is_authenticated() -> None:
    """Who may call has to say who they are."""
    assert parsed(PUBLIC + tokens(entry()), keys=False).listen[0].public
    assert not parsed(tokens(entry()), keys=False).auth.open
    assert parsed("", keys=False).auth.open


@pytest.mark.parametrize(
    ("over", "code"),
    [
        ({"jwks_url": None}, "auth.tokens.keys"),
        ({"jwks_file": "jwks.json"}, "auth.tokens.keys"),
        ({"jwks_url": "http://id.example.com/certs"}, "config.value"),
        ({"issuer": "http://id.example.com"}, "config.value"),
        ({"audience": "''"}, "config.value"),
        ({"scopes": "[]"}, "config.items"),
        ({"scopes": "[root]"}, "config.value"),
        ({"algorithms": "[HS256]"}, "config.value"),
        ({"algorithms": "[none]"}, "config.value"),
        ({"algorithms": "[]"}, "config.items"),
        ({"default_scopes": "[run]"}, "auth.tokens.everybody"),
        ({"default_scopes": "[cron]", "subjects": "[bot]"}, "auth.tokens.scopes"),
        ({"max_lifetime_s": "99999999"}, "config.range"),
        ({"name": "'a:b'"}, "config.value"),
    ],
)
def test_what_opens_too_much_or_nothing_is_refused(over: dict[str, str | None], code: str) -> None:
    """Where it stands."""
    assert codes(tokens(entry(**over)), keys=False)[0] == code


def test_admin_covers_the_default() -> None:
    """As it covers everything."""
    (found,) = parsed(
        tokens(entry(scopes="[admin]", default_scopes="[cron]", groups="[ops]")), keys=False
    ).auth.tokens
    assert found.default_scopes == {"cron"}


def test_issuers_are_told_apart() -> None:
    """By their names, whatever the letter case, and by issuer and audience."""
    other = entry(name="other", audience="second")
    assert len(parsed(tokens(entry() + other), keys=False).auth.tokens) == 2
    (problem,) = problems(tokens(entry() + entry(name="CI", audience="second")), keys=False)
    assert "taken by the issuer at herma.yaml:" in problem
    (problem,) = problems(tokens(entry() + entry(name="other")), keys=False)
    assert "same issuer and audience" in problem


def test_keys_may_stand_in_a_file(tmp_path: Path) -> None:
    """One that nobody else may write; its path starts where the configuration is."""
    file, config = tmp_path / "jwks.json", str(tmp_path / "herma.yaml")
    text = tokens(entry(jwks_url=None, jwks_file="jwks.json"))
    assert codes(text, keys=False, file=config) == ["config.file"]
    file.write_bytes(key_set(signer()))
    file.chmod(0o644)
    (found,) = parsed(text, keys=False, file=config).auth.tokens
    assert found.jwks_file == str(file)
    file.chmod(0o666)
    assert codes(text, keys=False, file=config) == ["config.mode"]


def test_authorities_belong_to_a_url(tmp_path: Path) -> None:
    """And are read before a port opens."""
    (tmp_path / "ca.pem").write_text("nothing")
    config = str(tmp_path / "herma.yaml")
    assert codes(tokens(entry(ca_file="ca.pem")), keys=False, file=config) == ["config.file"]
    (tmp_path / "jwks.json").write_bytes(key_set(signer()))
    (tmp_path / "jwks.json").chmod(0o600)
    text = tokens(entry(jwks_url=None, jwks_file="jwks.json", ca_file="ca.pem"))
    assert "auth.tokens.keys" in codes(text, keys=False, file=config)


def test_a_key_that_looks_like_a_token_is_refused_beside_issuers() -> None:
    """It would never be compared."""
    key = "eyJhbGciOi.fakeJ8hTr2Wd6Kp4Vn1Gz7Mb.fake0vLm3RtYw7Zs9PbNc2Qx5"
    keys = "  keys: [{name: laptop, key: '${ODD}', scopes: [run]}]\n"
    environ = {"ODD": key, "OTHER_FAKE_KEY": "fakeJ8hTr2Wd6Kp4Vn1Gz7Mb"}
    assert codes(tokens(entry()) + keys, keys=False, environ=environ) == ["auth.key.token"]
    assert codes("auth:\n" + keys, keys=False, environ=environ) == []
