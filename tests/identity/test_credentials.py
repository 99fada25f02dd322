"""The ways to be known, made of the configuration."""

from herma.config.auth import Auth
from herma.config.certificates import ClientCertificate
from herma.config.values import Name, San
from herma.identity.credentials import Credentials, credentials_of
from herma.identity.jwks import read_key_set
from herma.identity.key_sets import FileKeys, RemoteKeys
from herma.identity.token import Tokens, Vouched
from herma.policy.browser.role import Role
from herma.policy.grant import Principal, Scope
from support.config_text import ENVIRON, parsed
from support.heads import make_head
from support.tokens import AUDIENCE, ISSUER, NOW, claims, key_set, signer

SECRET = "fakeQ4mZt8Lw2Vr6Yc1Hs9Kd"
TEXT = f"""
auth:
  tokens:
    - name: workloads
      issuer: {ISSUER}
      audience: {AUDIENCE}
      jwks_url: https://idp.example.com/certs
      algorithms: [ES256]
      scopes: [run, read, cron]
      roles: [{{group: ops, role: operator}}]
      groups_claim: /realm/roles
      group: team
      max_concurrent_runs: 2
  proxy_headers:
    peers: [192.0.2.10]
    secret: '${{PROXY_SECRET}}'
    user_header: X-Forwarded-User
    groups_header: X-Forwarded-Groups
    roles: [{{group: ops, role: operator}}]
    default_role: viewer
"""


class Held:
    """One key."""

    def lookup(self, kid: str | None, algorithm: str) -> object:
        return read_key_set(key_set(signer()))[0]


def test_nothing_is_configured_by_default() -> None:
    """And so nobody is known."""
    found = credentials_of(parsed("").auth)
    assert len(found.tokens) == 0
    assert found.tokens.sources == frozenset()
    assert found.certificates.caller(frozenset({"dns:a"})) is None
    assert found.vouching is None
    assert isinstance(Credentials().tokens, Tokens)


def test_what_is_configured_counts() -> None:
    """Every field of it reaches who judges by it."""
    auth = parsed(TEXT, keys=False, environ={**ENVIRON, "PROXY_SECRET": SECRET}).auth
    found = credentials_of(auth)
    assert found.tokens.sources == {RemoteKeys("https://idp.example.com/certs")}
    token = signer().token(claims(scope="read admin", realm={"roles": ["ops"]}, exp=NOW + 86_000))
    expected = frozenset({Scope.READ, Scope.RUN, Scope.CRON})
    assert found.tokens.verify(token, lambda _: Held(), NOW) == Vouched(  # type: ignore[arg-type] - one key for all
        Principal("jwt:workloads:worker-1", expected, "team", 2), NOW + 86_000
    )
    assert found.vouching is not None
    head = make_head(
        (b"X-Herma-Proxy-Secret", SECRET.encode()),
        (b"X-Forwarded-User", b"bob"),
        (b"X-Forwarded-Groups", b"ops"),
    )
    assert found.vouching.caller("192.0.2.10", head) == Principal("proxy:bob", Role.OPERATOR.scopes)
    assert found.vouching.default is Role.VIEWER


def test_keys_may_be_in_a_file() -> None:
    """Then nothing is fetched."""
    text = TEXT.replace("jwks_url: https://idp.example.com/certs", "jwks_file: /etc/hosts")
    auth = parsed(text, keys=False, environ={**ENVIRON, "PROXY_SECRET": SECRET}).auth
    assert credentials_of(auth).tokens.sources == {FileKeys("/etc/hosts")}


def test_a_certificate_has_the_names_of_its_entry() -> None:
    """And opens what the entry says."""
    entry = ClientCertificate(
        Name("bot"), (San("dns:a.example.com"), San("uri:x:y")), frozenset({Scope.RUN}), "team", 3
    )
    found = credentials_of(Auth(certificates=(entry,)))
    expected = Principal("cert:bot", frozenset({Scope.RUN}), "team", 3)
    for name in entry.san:
        assert found.certificates.caller(frozenset({name})) == expected
