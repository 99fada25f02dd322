"""How a command hands over what it has made."""

import argparse
import json
import stat
from pathlib import Path

import pytest

from herma.cli.handing_over import hand_over
from herma.cli.terminal import FINDINGS, FINE, Terminal


def handed(out: Path | None, capsys: pytest.CaptureFixture[str], *, as_json: bool) -> tuple[int, str, str]:
    arguments = argparse.Namespace(out=None if out is None else str(out), json=as_json)
    code = hand_over("key", "fake-value", "a thing", arguments, Terminal())
    shown = capsys.readouterr()
    return code, shown.out, shown.err


@pytest.mark.parametrize("as_json", [False, True])
def test_without_a_file_it_is_printed(capsys: pytest.CaptureFixture[str], *, as_json: bool) -> None:
    """As it is, or as JSON."""
    code, out, _ = handed(None, capsys, as_json=as_json)
    assert code == FINE
    assert (json.loads(out) == {"key": "fake-value"}) if as_json else (out == "fake-value\n")


@pytest.mark.parametrize("as_json", [False, True])
def test_a_file_is_new_and_its_owners(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], *, as_json: bool
) -> None:
    """What was made is not shown beside it; a file that is there stays."""
    place = tmp_path / "made"
    code, out, err = handed(place, capsys, as_json=as_json)
    assert code == FINE
    assert "fake-value" not in out + err
    assert place.read_text() == "fake-value\n"
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    code, _, err = handed(place, capsys, as_json=as_json)
    assert code == FINDINGS
    assert "name a file that does not exist" in err
