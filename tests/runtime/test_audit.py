"""The audit: one JSON line for each decision."""

import json
import os
import stat
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from herma.ingress import Record
from herma.policy.decision import Finding, Level
from herma.runtime.audit import MAX_LINE_BYTES, AuditLog


class Lost:
    """Counts the lines that were lost."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self) -> None:
        self.count += 1


def _record(**parts: object) -> Record:
    record = Record("0123456789abcdef", 100.0, "192.0.2.7")
    for name, value in parts.items():
        setattr(record, name, value)
    return record


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_one_exchange_is_one_line_with_what_was_decided(tmp_path: Path) -> None:
    """A line says who asked for what, what became of it, why, and how long it took."""
    path = tmp_path / "audit.jsonl"
    record = _record(
        principal="laptop",
        upstream="board",
        method="POST",
        route="/v1/runs",
        operation="run.start",
        status=403,
        code="herma.cron.refused",
        outcome="denied",
        bytes_in=7,
        bytes_out=9,
        judged=100.25,
        findings=[Finding("cron-x", Level.CRITICAL, "/prompt", "T1059")],
        redactions=2,
    )
    with AuditLog(str(path)) as audit:
        audit.write(record, 100.5)
    (line,) = path.read_text().splitlines()
    found = json.loads(line)
    assert found.pop("time") > 0
    assert found == {
        "class_uid": 4002,
        "exchange": "0123456789abcdef",
        "disposition_id": 2,
        "outcome": "denied",
        "src_endpoint": {"ip": "192.0.2.7"},
        "actor": "laptop",
        "upstream": "board",
        "http_method": "POST",
        "route": "/v1/runs",
        "operation": "run.start",
        "status": 403,
        "code": "herma.cron.refused",
        "rules": [{"id": "cron-x", "level": "critical", "place": "/prompt", "attack": "T1059"}],
        "redactions": 2,
        "bytes_in": 7,
        "bytes_out": 9,
        "duration_ms": 500.0,
        "judged_ms": 250.0,
        "upstream_head_ms": None,
    }


def test_file_is_its_owners_alone(tmp_path: Path) -> None:
    """A new file is private from its first moment, and one that was wider becomes so."""
    made, wide = tmp_path / "made", tmp_path / "wide"
    wide.touch(mode=0o666)
    wide.chmod(0o666)
    umask = os.umask(0)
    try:
        for path in (made, wide):
            with AuditLog(str(path)):
                assert _mode(path) == 0o600
    finally:
        os.umask(umask)


def test_link_is_not_followed(tmp_path: Path) -> None:
    """Whoever may write to the directory cannot have the gate write elsewhere."""
    target, link = tmp_path / "target", tmp_path / "link"
    target.touch(mode=0o644)
    link.symlink_to(target)
    with pytest.raises(OSError, match="symbolic"):
        AuditLog(str(link))
    assert target.read_bytes() == b""
    assert _mode(target) == 0o644


def test_pipe_that_nobody_reads_is_an_error_and_no_wait(tmp_path: Path) -> None:
    """A start does not hang on a named pipe without a reader."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="No such device"):
        AuditLog(str(pipe))


def test_only_a_file_changes_its_mode(tmp_path: Path) -> None:
    """A pipe or a device keeps the mode that others rely on."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe, 0o640)
    pipe.chmod(0o640)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with AuditLog(str(pipe)) as audit:
            audit.event({"seen": True})
        assert _mode(pipe) == 0o640
        assert json.loads(os.read(reader, 4096)) == {"seen": True}
    finally:
        os.close(reader)


def test_dash_is_standard_output_and_stays_open(capfd: pytest.CaptureFixture[str]) -> None:
    """Standard output belongs to the process, not to the audit."""
    for number in range(2):
        with AuditLog("-") as audit:
            audit.event({"number": number})
    assert [json.loads(line)["number"] for line in capfd.readouterr().out.splitlines()] == [0, 1]


def test_line_that_is_too_long_loses_its_rules(tmp_path: Path) -> None:
    """What many workers append at once stays one write, and says that something is missing."""
    path, lost = tmp_path / "audit", Lost()
    findings = [Finding("r" * 60, Level.HIGH, "/p" * 150) for _ in range(16)]
    with AuditLog(str(path), lost) as audit:
        audit.write(_record(findings=findings), 101.0)
    (line,) = path.read_bytes().splitlines(keepends=True)
    assert len(line) <= MAX_LINE_BYTES
    assert json.loads(line)["rules"] == []
    assert json.loads(line)["truncated"] is True
    assert lost.count == 0


@pytest.mark.parametrize(("extra", "written"), [(0, 1), (1, 0)], ids=["at the bound", "one byte more"])
def test_line_that_cannot_be_made_short_is_lost_and_counted(tmp_path: Path, extra: int, written: int) -> None:
    """No line is ever longer than what one write keeps whole."""
    path, lost = tmp_path / "audit", Lost()
    bare = len(json.dumps({"text": "", "rules": [], "truncated": True}, separators=(",", ":"))) + 1
    line = {"text": "x" * (MAX_LINE_BYTES - bare + extra), "rules": ["r" * 200]}
    with AuditLog(str(path), lost) as audit:
        audit.event(line)
    assert len(path.read_bytes().splitlines()) == written
    assert lost.count == 1 - written


def test_line_that_nobody_takes_is_lost_and_counted(tmp_path: Path) -> None:
    """A full pipe, or one whose reader is gone, stops no exchange."""
    pipe, lost = tmp_path / "pipe", Lost()
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with AuditLog(str(pipe), lost) as audit:
        for _ in range(64):
            audit.event({"text": "x" * 4000})
        assert 0 < lost.count < 64
        os.close(reader)
        full = lost.count
        audit.event({})
        assert lost.count == full + 1


@settings(max_examples=60)
@given(text=st.text(max_size=200))
def test_no_byte_of_a_line_is_a_control_character(text: str) -> None:
    """Whatever a name holds, a line is plain ASCII, is one line, and says the same."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "audit"
        with AuditLog(str(path)) as audit:
            audit.event({"actor": text})
        data = path.read_bytes()
    assert data.endswith(b"\n")
    assert all(0x20 <= byte < 0x7F for byte in data[:-1])
    assert json.loads(data)["actor"] == text


def test_two_processes_append_to_one_file(tmp_path: Path) -> None:
    """What one worker writes does not overwrite what another wrote."""
    path = tmp_path / "audit"
    with AuditLog(str(path)) as first, AuditLog(str(path)) as second:
        for number in range(3):
            first.event({"worker": 1, "number": number})
            second.event({"worker": 2, "number": number})
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(line["number"], line["worker"]) for line in lines] == [
        (0, 1),
        (0, 2),
        (1, 1),
        (1, 2),
        (2, 1),
        (2, 2),
    ]
