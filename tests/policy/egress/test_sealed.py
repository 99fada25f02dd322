"""What nobody can look into."""

import base64
import io
import zipfile

import pytest

from herma.policy.egress.sealed import SEALED, is_sealed, sealed_found


def archive(method: int, flag: int = 0) -> bytes:
    """An archive with one member; `flag` says that it has a password."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as opened:
        opened.writestr("a.txt", "text " * 50)
    raw = bytearray(file.getvalue())
    raw[6] |= flag
    return bytes(raw)


@pytest.mark.parametrize(
    "raw",
    [
        b"7z\xbc\xaf\x27\x1c\0\x04",
        b"Rar!\x1a\x07\x01\0",
        b"\x28\xb5\x2f\xfd\0",
        b"age-encryption.org/v1\n-> scrypt",
        b"-----BEGIN PGP MESSAGE-----\n\nhQ",
        b"\x8c\x0d\x04\x09\x03\x02",
        b"\x85\x01\x0c\x03",
        b"Salted__12345678",
        b"$ANSIBLE_VAULT;1.1;AES256\n",
        archive(zipfile.ZIP_DEFLATED, 1),
        archive(zipfile.ZIP_LZMA),
        b"something before it " + archive(zipfile.ZIP_STORED, 1),
    ],
)
def test_what_is_sealed_is_told(raw: bytes) -> None:
    """By its first bytes, in a part of a form, too."""
    assert is_sealed(raw)
    assert is_sealed(b"--xx\r\nContent-Disposition: form-data; name=f\r\n\r\n" + raw)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"a text about Rar! and 7z and Salted__",
        b"\x89PNG\r\n\x1a\n",
        b"\xff\xd8\xff\xe0\0\x10JFIF",
        base64.b64encode(bytes(300)),
        archive(zipfile.ZIP_STORED),
        archive(zipfile.ZIP_DEFLATED),
        archive(zipfile.ZIP_BZIP2),
    ],
)
def test_all_else_can_be_looked_into(raw: bytes) -> None:
    """Or is no archive at all."""
    assert not is_sealed(raw)


def test_what_is_told() -> None:
    """A rule and a place."""
    assert (sealed_found("body").rule_id, sealed_found("body").place) == (SEALED, "body")
