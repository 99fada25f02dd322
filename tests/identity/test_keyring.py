"""Who holds this key?"""

import hmac
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network

import hypothesis.strategies as st
import pytest
from hypothesis import given

from herma.identity import KeyRecord, Keyring, Reason, Rejected, Verified, hash_key
from herma.policy.grant import Principal, Scope
from herma.policy.secret import Secret

NOW = datetime(2026, 8, 1, tzinfo=UTC)
HERE = "192.0.2.1"
RUN = frozenset({Scope.RUN})


def fake(name: str) -> Secret:
    return Secret(f"obviously-fake-key-of-{name}".encode())


def hashed(name: str, salt: bytes = b"saltsalt") -> KeyRecord:
    return KeyRecord(name, RUN, hash=hash_key(fake(name), salt))


def plain(name: str) -> KeyRecord:
    return KeyRecord(name, RUN, fake(name))


def test_key_in_clear_and_hashed_key_are_verified() -> None:
    """Each key opens for its own principal, however it is stored."""
    ring = Keyring([plain("a"), hashed("b"), hashed("c", b"another salt"), plain("d")])
    for name in "abcd":
        assert ring.verify(fake(name), HERE, NOW) == Verified(Principal(name, RUN))
    assert ring.names() == ("a", "b", "c", "d")


def test_principal_carries_what_the_record_says() -> None:
    """Scopes, group and the key's own cap come from the configuration."""
    record = KeyRecord("ci", RUN, fake("ci"), group="team", max_concurrent_runs=2)
    assert Keyring([record]).verify(fake("ci"), HERE, NOW) == Verified(Principal("ci", RUN, "team", 2))


@pytest.mark.parametrize(
    "token",
    [
        b"",
        b"x",
        b"obviously-fake-key-of-",
        b"obviously-fake-key-of-aa",
        b"Obviously-fake-key-of-a",
        b"obviously-fake-key-of-a ",
        "obviously-fake-key-of-ä".encode(),
        b"\xff" * 32,
        b"x" * 4096,
        b"x" * 4097,
        b"x" * 1_000_000,
    ],
    ids=lambda token: repr(token[:26]) + str(len(token)),
)
def test_wrong_token_opens_nothing_and_names_no_key(token: bytes) -> None:
    """Whatever is sent in place of a key is rejected alike."""
    ring = Keyring([plain("a"), hashed("b")])
    assert ring.verify(Secret(token), HERE, NOW) == Rejected(Reason.UNKNOWN)


def test_stored_hash_itself_is_no_key() -> None:
    """Who reads the configuration cannot use what stands there."""
    record = hashed("a")
    assert record.hash is not None
    for token in (record.hash, record.hash.rpartition(":")[2]):
        assert Keyring([record]).verify(Secret(token.encode()), HERE, NOW) == Rejected(Reason.UNKNOWN)


def test_empty_keyring_opens_to_nobody() -> None:
    """No keys means no access, and not free access."""
    assert Keyring([]).verify(fake("a"), HERE, NOW) == Rejected(Reason.UNKNOWN)


@pytest.mark.bypass(77)
@pytest.mark.parametrize("token", ["first", "middle", "last", "nobody"])
def test_every_record_is_compared_whatever_the_token(token: str) -> None:
    """The work does not depend on which key matched, or whether one did."""
    compared: list[bytes] = []

    def compare(left: bytes, right: bytes) -> bool:
        compared.append(right)
        return hmac.compare_digest(left, right)

    ring = Keyring(
        [plain("first"), hashed("middle"), hashed("other", b"another salt"), plain("last")], compare=compare
    )
    ring.verify(fake(token), HERE, NOW)
    assert len(compared) == len(set(compared)) == 4
    assert {len(digest) for digest in compared} == {32}


@pytest.mark.bypass(77)
def test_comparison_is_that_of_the_standard_library_made_for_secrets() -> None:
    """Without being told otherwise a keyring compares in constant time."""
    assert Keyring([])._compare is hmac.compare_digest


@pytest.mark.parametrize(
    ("left_s", "outcome"),
    [
        (1, Verified(Principal("a", RUN))),
        (0, Rejected(Reason.EXPIRED, "a")),
        (-1, Rejected(Reason.EXPIRED, "a")),
    ],
    ids=["before", "at", "after"],
)
def test_key_expires(left_s: int, outcome: object) -> None:
    """At its expiry a key opens nothing any more, and the audit learns which one it was."""
    record = KeyRecord("a", RUN, fake("a"), expires=NOW + timedelta(seconds=left_s))
    assert Keyring([record]).verify(fake("a"), HERE, NOW) == outcome


@pytest.mark.parametrize(
    ("address", "inside"),
    [
        ("10.1.2.3", True),
        ("11.1.2.3", False),
        ("::ffff:10.1.2.3", True),
        ("::ffff:11.1.2.3", False),
        ("2001:db8::5", True),
        ("2001:db9::5", False),
        ("", False),
        ("10.1.2.3:80", False),
        ("nonsense", False),
    ],
)
def test_key_opens_from_its_networks_only(address: str, inside: bool) -> None:
    """What is not provably inside an allowed network is outside."""
    record = KeyRecord("a", RUN, fake("a"), networks=(ip_network("10.0.0.0/8"), ip_network("2001:db8::/32")))
    expected = Verified(Principal("a", RUN)) if inside else Rejected(Reason.NETWORK, "a")
    assert Keyring([record]).verify(fake("a"), address, NOW) == expected


def test_key_without_networks_opens_from_a_unix_socket() -> None:
    """A caller without an address is bound by no network if none is asked for."""
    assert isinstance(Keyring([plain("a")]).verify(fake("a"), "", NOW), Verified)


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"key": fake("a"), "hash": hash_key(fake("a"))},
        {"key": Secret(b"")},
        {"key": Secret("schlüssel".encode())},
        {"key": Secret(b"x" * 4097)},
        {"key": fake("a"), "expires": datetime(2026, 8, 1)},
    ],
    ids=["neither", "both", "empty", "not ascii", "too long", "no time zone"],
)
def test_record_that_could_not_work_is_refused(wrong: dict[str, object]) -> None:
    """A mistake in a record stops the start instead of a caller."""
    with pytest.raises(ValueError, match=r"key|expiry"):
        KeyRecord("a", RUN, **wrong)  # type: ignore[arg-type]  # wrong on purpose


def test_hash_of_unknown_form_is_refused_when_the_ring_is_made() -> None:
    """A hash that nothing could match stops the start."""
    with pytest.raises(ValueError, match="sha256"):
        Keyring([KeyRecord("a", RUN, hash="sha256:00")])


def test_two_keys_of_one_name_are_refused() -> None:
    """A name stands for one key: owners, throttles and the audit go by it."""
    with pytest.raises(ValueError, match="same name"):
        Keyring([plain("a"), hashed("a")])


def test_record_shows_neither_key_nor_hash() -> None:
    """A record in a log line gives nothing away."""
    stored = hashed("b")
    assert stored.hash is not None
    shown = repr((plain("a"), stored))
    assert "obviously-fake" not in shown
    assert stored.hash not in shown


@given(st.binary(max_size=64))
def test_no_other_token_is_ever_verified(token: bytes) -> None:
    """Only the key itself opens."""
    ring = Keyring([plain("a"), hashed("b")])
    outcome = ring.verify(Secret(token), HERE, NOW)
    assert isinstance(outcome, Rejected) or token in {fake("a").reveal(), fake("b").reveal()}
