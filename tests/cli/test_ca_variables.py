"""Variables for the agent, as whoever starts it reads them."""

import subprocess
from pathlib import Path

import pytest
import yaml

from herma.cli.ca_variables import FORMS, variables

_ODD = Path('/a b/it\'s 100% "$HOME" \\ here')
_FOUND = variables("127.0.0.1:8645", _ODD / "ca.pem", _ODD / "trust.pem")


def test_what_replaces_gets_all_and_what_adds_gets_one() -> None:
    """A program whose authorities are replaced by one could speak with no model any more."""
    assert _FOUND["SSL_CERT_FILE"] == _FOUND["REQUESTS_CA_BUNDLE"] == str(_ODD / "trust.pem")
    assert _FOUND["NODE_EXTRA_CA_CERTS"] == str(_ODD / "ca.pem")
    assert _FOUND["HTTPS_PROXY"] == _FOUND["https_proxy"] == "http://127.0.0.1:8645"
    assert _FOUND["NO_PROXY"] == "localhost,127.0.0.1,::1"
    assert _FOUND["NODE_USE_ENV_PROXY"] == "1"


def test_a_shell_reads_them() -> None:
    """Whatever stands in a path, it is the value and nothing else."""
    script = "\n".join([*FORMS["shell"](_FOUND), "printenv SSL_CERT_FILE NODE_EXTRA_CA_CERTS"])
    said = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True).stdout
    assert said.splitlines() == [_FOUND["SSL_CERT_FILE"], _FOUND["NODE_EXTRA_CA_CERTS"]]


def test_compose_reads_them() -> None:
    """A dollar is doubled there, so that nothing is put in."""
    read = yaml.safe_load("\n".join(FORMS["compose"](_FOUND)))["environment"]
    assert {name: value.replace("$$", "$") for name, value in read.items()} == _FOUND


@pytest.mark.parametrize(
    ("form", "line"),
    [
        ("systemd", r'''Environment="NODE_EXTRA_CA_CERTS=/a b/it's 100%% \"$HOME\" \\ here/ca.pem"'''),
        ("dotenv", r'''NODE_EXTRA_CA_CERTS="/a b/it's 100% \"\$HOME\" \\ here/ca.pem"'''),
    ],
)
def test_others_have_their_own_escapes(form: str, line: str) -> None:
    """What a unit or a file of settings would read otherwise is escaped."""
    assert line in list(FORMS[form](_FOUND))
