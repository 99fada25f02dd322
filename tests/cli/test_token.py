"""`herma token job`."""

from pathlib import Path

import pytest
import yaml

from herma.config.entropy import estimate_bits
from herma.config.values import KeyHash
from support.config_text import parsed
from support.console import herma

JOB = "0123456789ab"


def taken(key: str, entry: str) -> bool:
    """Tell whether the configuration takes the entry, and by it the key."""
    text = entry.replace("upstream:\n", "upstream:\n  url: 'http://127.0.0.1:8642'\n")
    fires = parsed(text + "\n", upstream=False).upstream.cron_fire
    assert fires is not None
    (made,) = fires.job_keys
    assert isinstance(made.key, KeyHash)
    return made.job_id == JOB and made.key.is_of(key.encode())


def test_a_key_is_printed_once_with_what_takes_it() -> None:
    """The key alone on standard output; the configuration gets a hash."""
    said = herma(["token", "job", JOB])
    key = said.out.strip()
    assert said.code == 0
    assert estimate_bits(key) > 192
    assert key not in said.err
    assert taken(key, said.err)
    assert herma(["token", "job", JOB]).out != said.out


def test_a_key_goes_to_a_new_private_file(tmp_path: Path) -> None:
    """Mode 0600, the key not on the screen, and an existing file is never touched."""
    file = tmp_path / "job.key"
    said = herma(["token", "job", JOB, "--out", file])
    key = file.read_text().strip()
    assert file.stat().st_mode & 0o777 == 0o600
    assert key not in said.out + said.err
    assert taken(key, said.out)
    assert herma(["token", "job", JOB, "--out", file]).code == 1
    assert file.read_text().strip() == key


def test_for_programs(tmp_path: Path) -> None:
    """The same as JSON."""
    made = herma(["token", "job", JOB, "--json"]).json()
    assert KeyHash.parse(made["entry"]["hash"]).is_of(made["key"].encode())
    assert (
        yaml.safe_load(herma(["token", "job", JOB]).err)["upstream"]["cron_fire"]["job_keys"][0].keys()
        == made["entry"].keys()
    )
    file = tmp_path / "b.key"
    assert set(herma(["token", "job", JOB, "--json", "--out", file]).json()) == {"file", "entry"}


@pytest.mark.parametrize("job_id", ["", "../x", "a b", "*", "a" * 65])
def test_what_is_no_job_gets_no_key(job_id: str) -> None:
    """Nothing is printed that could be used."""
    said = herma(["token", "job", job_id])
    assert (said.code, said.out) == (2, "")
