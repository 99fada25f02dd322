"""Encoded runs."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.redaction.encoded import encoded
from support.redactor import GITHUB, masked

INSIDE = f"TOKEN={GITHUB}\n".encode()


@pytest.mark.parametrize(
    "run",
    [
        base64.b64encode(INSIDE),
        base64.urlsafe_b64encode(INSIDE).rstrip(b"="),
        INSIDE.hex().encode(),
        base64.b64encode(base64.b64encode(INSIDE)),
    ],
    ids=["base64", "base64url without padding", "hex", "base64 twice"],
)
def test_a_run_that_holds_a_secret_is_masked_with_its_fingerprint(run: bytes) -> None:
    """The same secret has the same placeholder, encoded or not."""
    out = masked(f"echo {run.decode()} | base64 -d")
    assert out == f"echo {masked(GITHUB)} | base64 -d"


@pytest.mark.parametrize(
    "run",
    [
        base64.b64encode(b"hello world, this is a text").decode(),
        "fa4e0c0ffee1dead" * 4,
        "AAAAB3NzaC1yc2EAAAADAQABAAABgQ",
        "path/to/SomeModule_name",
        "F4keK3yF0rT3stF4k",
    ],
)
def test_a_run_without_a_secret_stays(run: str) -> None:
    """Texts, digests, public keys and paths stay."""
    assert masked(f"echo {run} | base64 -d") == f"echo {run} | base64 -d"


@given(st.text(alphabet="abAB01+/_-= ", max_size=120))
def test_any_run_is_decoded_or_left(text: str) -> None:
    """Decoding never fails."""
    assert list(encoded(text, lambda _: [])) == []


def test_a_command_encoded_for_powershell_is_read() -> None:
    """UTF-16, lowest byte first, in base64."""
    wide = base64.b64encode(f"$env:KEY='{GITHUB}'; go".encode("utf-16-le")).decode()
    out = masked(f"powershell -NoProfile -EncodedCommand {wide}")
    assert out.startswith("powershell -NoProfile -EncodedCommand [github_pat:")
    innocent = base64.b64encode("Get-ChildItem C:".encode("utf-16-le")).decode()
    assert masked(f"powershell -EncodedCommand {innocent}").endswith(innocent)
