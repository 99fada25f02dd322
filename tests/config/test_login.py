"""People who log in, in the configuration."""

from pathlib import Path

import pytest

from herma.policy.browser.password_hash import PasswordHash
from support.config_text import parsed, problems
from support.login import USERS

HASH = str(USERS[0]["password_hash"])
OTHER = str(USERS[2]["password_hash"])


def login(users: str, more: str = "") -> str:
    return f"auth:\n  login:\n    users:\n{users}{more}"


def user(name: str = "alice", stored: str = HASH, role: str = "admin") -> str:
    return f"    - {{name: {name}, password_hash: {stored!r}, role: {role}}}\n"


def test_people_have_a_name_a_stored_password_and_a_role() -> None:
    """And sessions have a length by default."""
    found = parsed(login(user() + user("bob", OTHER, "viewer")), keys=False).auth.login
    assert found is not None
    assert [(one.name, one.role.value) for one in found.users] == [("alice", "admin"), ("bob", "viewer")]
    assert (found.idle_timeout_s, found.lifetime_s) == (1800.0, 43200.0)
    assert HASH not in repr(found)


def test_without_the_section_there_is_no_login() -> None:
    """Nothing is served that nobody asked for."""
    assert parsed("").auth.login is None


def test_a_stored_password_may_stand_in_a_file_of_its_own(tmp_path: Path) -> None:
    """As keys do, of mode 0600."""
    file = tmp_path / "alice.hash"
    file.touch(mode=0o600)
    file.write_text(HASH + "\n")
    text = login("    - {name: alice, password_hash_file: alice.hash, role: admin}\n")
    found = parsed(text, keys=False, file=str(tmp_path / "herma.yaml")).auth.login
    assert found is not None
    assert PasswordHash.parse(found.users[0].password_hash.reveal().decode()).reveal() == HASH
    file.chmod(0o644)
    (problem,) = problems(text, keys=False, file=str(tmp_path / "herma.yaml"))
    assert "config.secret.mode" in problem or "found mode 0644" in problem


def test_a_public_listener_with_people_is_authenticated() -> None:
    """The law asks for somebody who has to say who they are; keys are not the only ones."""
    public = "listen: [{address: '192.0.2.7:8643'}]\n"
    assert parsed(public + login(user()), keys=False).listen[0].public
    assert "no key" in problems(public + "auth: {}\n", keys=False)[0]
    assert any("no key" in one for one in problems(public + "auth: {login: }\n", keys=False))


def test_a_wrong_person_is_told_as_such() -> None:
    """Not as a missing key."""
    found = problems("listen: [{address: '192.0.2.7:8643'}]\n" + login(user(role="root")), keys=False)
    assert len(found) == 1
    assert "expected one of viewer, operator, admin" in found[0]


@pytest.mark.parametrize(
    ("stored", "says"),
    [
        (HASH.replace("t=5", "t=4"), "expected at least m=19456, t=2"),
        (HASH.replace("m=7168", "m=9999999"), "expected at most m=262144"),
        ("hunter2hunter2", "herma key password"),
        ("$2b$12$abcdefghijklmnopqrstuuE5Yy5Yy5Yy5Yy5Yy5Yy5Yy5Yy5Yy5Yy", "expected argon2id"),
    ],
)
def test_a_stored_password_that_is_weak_or_none_is_refused_where_it_stands(stored: str, says: str) -> None:
    """With line and column, and without repeating it."""
    (problem,) = problems(login(user(stored=stored)), keys=False)
    assert problem.startswith("herma.yaml:4:36: ")
    assert says in problem
    assert stored not in problem


def test_a_name_belongs_to_one_person() -> None:
    """Whatever the case of its letters."""
    (problem,) = problems(login(user() + user("Alice", OTHER)), keys=False)
    assert problem.startswith("herma.yaml:5:14: ")
    assert "taken by the user at herma.yaml:4:14" in problem


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ("    idle_timeout_s: 600\n    lifetime_s: 300\n", "longer time without use"),
        ("    idle_timeout_s: 1\n", "expected 60 to"),
        ("    lifetime_s: 99999999\n", "expected 60 to"),
    ],
)
def test_times_that_make_no_sense_are_refused(more: str, says: str) -> None:
    """A session without use does not outlast one with use, and none lasts for ever."""
    (problem,) = problems(login(user(), more), keys=False)
    assert says in problem


def test_a_login_without_anybody_is_refused() -> None:
    """It would be a door without a key."""
    assert "1 to 1000" in problems("auth: {login: {users: []}}\n", keys=False)[0]
    assert problems("auth: {login: {}}\n", keys=False)
