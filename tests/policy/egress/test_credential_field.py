"""The fields of a request: text, and the credentials that a host asks for."""

import base64

import pytest

from herma.policy.egress.credential_field import MAX_CREDENTIAL_BYTES, divided_fields

BASIC = base64.b64encode(b"x-access-token:a-p4ssword-of-it")
SIGNED = b"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln"


@pytest.mark.parametrize(
    ("name", "value", "credential"),
    [
        (b"Authorization", b"Bearer t0k3n", b"t0k3n"),
        (b"authorization", b"t0k3n", b"t0k3n"),
        (b"X-Api-Key", b"t0k3n", b"t0k3n"),
        (b"xi_api_key", b"t0k3n", b"t0k3n"),
        (b"Authorization", b"Basic " + BASIC, b"x-access-token:a-p4ssword-of-it"),
        (b"Authorization", b"Basic no-base64!", b"no-base64!"),
        (
            b"Authorization",
            b"Basic " + base64.b64encode(b"two\nlines: of it"),
            base64.b64encode(b"two\nlines: of it"),
        ),
        (b"Cookie", b"a=b; session=t0k3n", b"a=b; session=t0k3n"),
        (
            b"Authorization",
            b'Digest username="agent", realm="a b", nc=1',
            b'username="agent", realm="a b", nc=1',
        ),
        (
            b"Authorization",
            b"AWS4-HMAC-SHA256 Credential=A/2/s3, Signature=f4",
            b"Credential=A/2/s3, Signature=f4",
        ),
        (b"Content-MD5", b"1B2M2Y8AsgTpgAmY7PhCfg==", b"1B2M2Y8AsgTpgAmY7PhCfg=="),
        (b"X-Amz-Content-Sha256", b"0" * 64, b"0" * 64),
        (
            b"Content-Digest",
            b"sha-256=:" + b"A" * 43 + b"=:, md5=:" + b"A" * 22 + b"==:",
            b"sha-256=:" + b"A" * 43 + b"=:, md5=:" + b"A" * 22 + b"==:",
        ),
    ],
)
def test_a_credential_is_the_hosts(name: bytes, value: bytes, credential: bytes) -> None:
    """In the forms in which one is sent."""
    fields = divided_fields([(name, value)])
    assert (fields.text, fields.credentials, fields.encoded) == (b"", credential, credential)
    assert "t0k3n" not in repr(fields)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (b"X-Note", b"t0k3n"),
        (b"X-Author", b"t0k3n"),
        (b"X-Monkey", b"t0k3n"),
        (b"Content-Note", b"t0k3n"),
        (b"Content-Length", b"t0k3n"),
        (b"Content-MD5", b"t0k3n"),
        (b"Digest", b"sha-256=t0k3n"),
        (b"X-Token-Note", b"t0k3n"),
        (b"Authorization", b"a sentence of some words"),
        (b"X-Api-Key", "k\u00e4se".encode()),
        (b"X-Api-Key", b"a" * (MAX_CREDENTIAL_BYTES + 1)),
    ],
)
def test_all_else_is_text(name: bytes, value: bytes) -> None:
    """A name alone exempts nothing."""
    fields = divided_fields([(name, value), (b"Accept", b"*/*")])
    assert fields.text == name + b": " + value + b"\nAccept: */*"
    assert fields.credentials == b""


def test_a_signed_token_is_encoded_by_its_nature() -> None:
    """What it says of its owner is no secret that was hidden."""
    fields = divided_fields([(b"Authorization", b"Bearer " + SIGNED)])
    assert fields.credentials == SIGNED
    assert fields.encoded.strip() == b""


def test_the_boundary_of_a_form_is_read_without_its_name() -> None:
    """It looks like the token of that name."""
    fields = divided_fields([(b"Content-Type", b"multipart/form-data; Boundary=x")])
    assert (fields.text, fields.credentials) == (b"multipart/form-data\nx", b"")


def test_a_name_is_no_credential() -> None:
    """Whatever it ends with; one of plain words is not looked at."""
    fields = divided_fields([(b"t0k3n-key", b"a"), (b"X-Amz-Security-Token", b"b")])
    assert (fields.text, fields.credentials) == (b"t0k3n-key", b"a\nb")
