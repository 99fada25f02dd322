"""Logging in at an identity provider, in the configuration."""

import re
from pathlib import Path

import pytest

from herma.policy.browser.role import Role
from herma.policy.openid.admission import Admission, RoleEntry
from herma.policy.openid.email import Email
from support.config_text import FAKE_KEY, parsed, problems
from support.login import USERS
from support.tree import ROOT

ISSUER = "https://id.example.com/realms/agents"
ROLES = "roles: [{group: agents, role: operator}]"


def section(more: str = ROLES, *, issuer: str = ISSUER) -> str:
    lines = [f"issuer: {issuer}", "client_id: herma", *more.split("; ")]
    return "auth:\n  login:\n    oidc:\n" + "".join(f"      {line}\n" for line in lines)


def test_a_provider_may_stand_alone() -> None:
    """Without anybody who has a password; what is not said has a safe default."""
    login = parsed(section(), keys=False).auth.login
    assert login is not None
    assert login.users == ()
    found = login.oidc
    assert found is not None
    assert (found.issuer, found.client_id, found.client_secret) == (ISSUER, "herma", None)
    assert (found.scopes, found.label, found.groups_claim) == (
        ("openid", "email"),
        "single sign-on",
        "groups",
    )
    assert found.admission() == Admission(roles=(RoleEntry(Role.OPERATOR, group="agents"),))


def test_everything_that_can_be_said() -> None:
    """Lists of who is allowed, roles by three things, a default."""
    text = section(
        "client_secret: ${FAKE_KEY}; scopes: [openid, email, groups]; label: Example & Sons; allowed_domains: [Example.com]; "
        "allowed_groups: [/agents, 'Domain Users']; allowed_subjects: ['1', '2']; groups_claim: https://example.com/groups; default_role: viewer; "
        "roles: [{group: /ops, role: admin}, {email: Alice@Example.com, role: operator}, {subject: '1', role: viewer}]"
    )
    login = parsed(text, keys=False).auth.login
    assert login is not None
    assert login.oidc is not None
    assert FAKE_KEY not in repr(login)
    assert login.oidc.admission() == Admission(
        domains=frozenset({"example.com"}),
        groups=frozenset({"/agents", "Domain Users"}),
        subjects=frozenset({"1", "2"}),
        groups_claim="https://example.com/groups",
        roles=(
            RoleEntry(Role.ADMIN, group="/ops"),
            RoleEntry(Role.OPERATOR, email=Email("Alice", "example.com")),
            RoleEntry(Role.VIEWER, subject="1"),
        ),
        default=Role.VIEWER,
    )


def test_the_secret_may_stand_in_a_file_of_its_own(tmp_path: Path) -> None:
    """As keys do."""
    file = tmp_path / "oidc.secret"
    file.touch(mode=0o600)
    file.write_text(FAKE_KEY + "\n")
    login = parsed(
        section(f"client_secret_file: oidc.secret; {ROLES}"), keys=False, file=str(tmp_path / "herma.yaml")
    ).auth.login
    assert login is not None
    assert login.oidc is not None
    assert login.oidc.client_secret is not None
    assert login.oidc.client_secret.matches(FAKE_KEY.encode())


def test_a_public_listener_with_a_provider_is_authenticated() -> None:
    """The law asks for somebody who has to say who they are."""
    assert parsed("listen: [{address: '192.0.2.7:8643'}]\n" + section(), keys=False).listen[0].public


@pytest.mark.parametrize(
    ("more", "place", "says"),
    [
        (f"ca_file: gone.pem; {ROLES}", "6:16", "cannot be read"),
        ("label: x", "3:5", "nobody can log in"),
        ("allowed_domains: [example.com]", "3:5", "nobody can log in"),
        ("default_role: viewer", "6:21", "everybody whom the issuer knows"),
        (f"{ROLES}; default_role: viewer", "7:21", "everybody whom the issuer knows"),
        (f"scopes: [email]; {ROLES}", "6:15", "`openid` is missing"),
        (f"scopes: []; {ROLES}", "6:15", "1 to 1000"),
        ("roles: [{role: admin}]", "6:15", "expected one of group, email, subject"),
        ("roles: [{role: admin, group: a, subject: b}]", "6:15", "expected one of group, email, subject"),
        ("roles: [{role: admin, group: a}, {role: viewer, group: a}]", "6:40", "about the same people"),
        ("roles: [{role: root, group: a}]", "6:22", "expected one of viewer, operator, admin"),
        (f"client_secret: ''; {ROLES}", "6:22", "is empty"),
        (f"client_id: herma\u00e4; {ROLES}", "", ""),
        (f"allowed_domain: [x.com]; {ROLES}", "6:7", "did you mean 'allowed_domains'"),
        (f"allowed_domains: ['*.x.com']; {ROLES}", "6:25", "no wildcard"),
    ],
)
def test_what_would_let_in_the_wrong_people_is_told_where_it_stands(more: str, place: str, says: str) -> None:
    """Each with its line and what to do."""
    found = problems(section(more), keys=False)
    assert found
    if place:
        assert found[0].startswith(f"herma.yaml:{place}: "), found
        assert says in found[0]


@pytest.mark.parametrize("issuer", ["http://id.example.com", "id.example.com", "https://id.example.com/#x"])
def test_an_issuer_without_tls_is_refused(issuer: str) -> None:
    """Whoever is on the way could be the issuer."""
    (problem,) = problems(section(issuer=f"'{issuer}'"), keys=False)
    assert "as it calls itself" in problem


def test_people_by_address_need_the_scope() -> None:
    """A warning: some issuers tell the address without being asked for it."""
    text = section("scopes: [openid]; roles: [{email: a@example.com, role: admin}]")
    assert [one.code for one in parsed(text, keys=False).warnings] == ["auth.login.oidc.email"]
    text = section("scopes: [openid]; allowed_domains: [example.com]; default_role: viewer")
    assert [one.code for one in parsed(text, keys=False).warnings] == ["auth.login.oidc.email"]
    text = section("scopes: [openid]; " + ROLES)
    assert parsed(text, keys=False).warnings == ()


def test_the_examples_of_the_page_are_taken_word_by_word(tmp_path: Path) -> None:
    """Each provider's, with a secret in the file that it names."""
    page = (ROOT / "docs" / "login.md").read_text()
    examples = [one for one in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL) if "oidc:" in one]
    assert len(examples) >= 4
    for name in ("oidc.secret", "alice.hash"):
        (tmp_path / name).touch(mode=0o600)
    (tmp_path / "oidc.secret").write_text(FAKE_KEY)
    (tmp_path / "alice.hash").write_text(str(USERS[0]["password_hash"]))
    for example in examples:
        login = parsed(example, keys=False, file=str(tmp_path / "herma.yaml")).auth.login
        assert login is not None
        assert login.oidc is not None
        assert login.oidc.admission()
