"""The bodies of private keys."""

from functools import lru_cache

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from herma.policy.egress.key_body import WINDOW_CHARS, Letters, bodies, windows, without_keys

FORMS = [
    ("rsa", PrivateFormat.PKCS8),
    ("rsa", PrivateFormat.TraditionalOpenSSL),
    ("rsa", PrivateFormat.OpenSSH),
    ("ec", PrivateFormat.PKCS8),
    ("ec", PrivateFormat.TraditionalOpenSSL),
    ("ec", PrivateFormat.OpenSSH),
    ("ed25519", PrivateFormat.OpenSSH),
]


@lru_cache
def keys(kind: str) -> list[rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey]:
    """Two keys that nobody has."""
    match kind:
        case "rsa":
            return [rsa.generate_private_key(65537, 2048) for _ in range(2)]
        case "ec":
            return [ec.generate_private_key(ec.SECP256R1()) for _ in range(2)]
        case _:
            return [ed25519.Ed25519PrivateKey.generate() for _ in range(2)]


def hits(text: str, own: set[str]) -> int:
    """How many windows of a key stand in a text."""
    return sum(window in own for _, window in windows(Letters(text).run))


@pytest.mark.parametrize(("kind", "form"), FORMS)
def test_a_key_is_known_however_its_lines_are_cut_and_no_other_is(kind: str, form: PrivateFormat) -> None:
    """Nor is its public half, nor what every key of its kind begins with."""
    one, other = keys(kind)
    text = one.private_bytes(Encoding.PEM, form, NoEncryption()).decode()
    own = set(bodies(f"before\n{text}after"))
    assert all(len(window) == WINDOW_CHARS for window in own)
    lines = text.splitlines()[1:-1]
    body = "".join(lines)
    rewrapped = [
        body,
        "\\n".join(lines),
        "\n> ".join(lines),
        " ".join(body[at : at + 7] for at in range(0, len(body), 7)),
    ]
    for written in (text, *rewrapped, "x" + body):
        assert hits(written, own) >= len(own)
    assert hits(other.private_bytes(Encoding.PEM, form, NoEncryption()).decode(), own) == 0
    for shown in (
        one.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo),
        one.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH),
    ):
        assert hits(shown.decode(), own) == 0


def test_a_long_key_has_many_windows() -> None:
    """So that a fifth of it is known again."""
    text = keys("rsa")[0].private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    own = set(bodies(text))
    assert len(own) > 40
    body = "".join(text.splitlines()[1:-1])
    assert hits(body[-300:], own) > 5


def test_short_forms_are_known() -> None:
    """Those without a public half."""
    found = 0
    for _ in range(20):
        key = ed25519.Ed25519PrivateKey.generate()
        text = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
        found += hits(text, set(bodies(text))) > 0
    assert found > 15


def test_keys_are_taken_out_of_a_text() -> None:
    """One without an end, too; what is no key stays."""
    begin, end = "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"
    assert without_keys(f"a\n{begin}\nMIIE\n{end}\nb") == "a\n\n\nb"
    assert without_keys(f"a\n{begin}\nMIIE\n") == "a\n\n"
    assert without_keys("-----BEGIN CERTIFICATE-----") == "-----BEGIN CERTIFICATE-----"


@pytest.mark.parametrize("raw", ["", "b3BlbnNzaC1rZXktdjEA", "b3BlbnNzaC1rZXktdjEAAAAA" + "/" * 40, "AA=="])
def test_no_body_breaks_it(raw: str) -> None:
    """Cut anywhere, and with lengths that lie."""
    assert set(bodies(f"-----BEGIN OPENSSH PRIVATE KEY-----\n{raw}")) == set()


def test_letters_know_where_they_stand() -> None:
    """In runs that anything may stand between."""
    letters = Letters("ab, cd\\nef")
    assert letters.run == "abcdef"
    assert [letters.place(at) for at in range(6)] == [0, 1, 4, 5, 8, 9]
