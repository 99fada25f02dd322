"""The file of flows, of the running gate."""

import asyncio
import gzip
import io
import json
import resource
from pathlib import Path

import pytest
from mitmproxy.http import HTTPFlow
from mitmproxy.io import FlowReader
from mitmproxy.test.tflow import tflow

from herma.egress.line import Note, Ready
from herma.egress.recording import Recording
from herma.policy.egress.masking import Masker
from support.egress_process import Neighbour, child, neighbour, ready, through
from support.leak import COMMAND, SECRETS, assert_no_secret
from support.redactor import GITHUB, redactor


def flows(path: Path) -> list[HTTPFlow]:
    """Read the file as mitmproxy does."""
    return [flow for flow in FlowReader(io.BytesIO(path.read_bytes())).stream() if isinstance(flow, HTTPFlow)]


def section(server: Neighbour, path: Path, **given: object) -> dict[str, object]:
    """A platform and a file."""
    host = f"127.0.0.1:{server.port}"
    return {"near": [host], "platforms": {"matrix": {"hosts": [host]}}, "record_file": str(path), **given}


def test_no_secret_is_in_the_file(tmp_path: Path) -> None:
    """Whatever it was in, and whether it was sent masked, sent as it is, or refused."""
    path = tmp_path / "flows"
    body = json.dumps({"body": COMMAND}).encode()
    with neighbour() as server, child(tmp_path, section(server, path)) as started:
        ready(started)
        url = f"http://127.0.0.1:{server.port}"
        token = "opaqueTOKENvalue1234567890"
        through(started, f"{url}/_matrix/client/v3/send", body, Content_Type="application/json")
        through(started, f"{url}/bot{token}/send?access_token={token}", body, Authorization=f"Bearer {token}")
        through(
            started,
            f"{url}/form",
            f"password={token}".encode(),
            Content_Type="application/x-www-form-urlencoded",
        )
        through(started, f"{url}/packed", gzip.compress(body), Content_Encoding="gzip")
        through(
            started, f"http://example.invalid/{token}", body, Content_Type="application/json", Cookie=token
        )
        through(started, f"{url}/{GITHUB}", GITHUB.encode(), Content_Type="text/plain")
        assert started.end() == 0
    raw = path.read_bytes()
    assert_no_secret(raw, (*SECRETS, GITHUB))
    assert path.stat().st_mode & 0o777 == 0o600
    read = flows(path)
    assert [flow.request.path for flow in read[:3]] == [
        "/-/client/v3/send",
        "/-/send?access_token=-",
        "/form",
    ]
    assert len(read) == 6
    first = read[0]
    assert first.request.host == "127.0.0.1"
    assert "rm -rf ./scratch" in (first.request.text or "")
    assert first.response is not None
    assert first.response.status_code == 200
    assert read[1].request.headers["authorization"] == "[left out]"


def test_the_file_has_a_bound(tmp_path: Path) -> None:
    """What comes after is sent and not recorded; that is told once."""
    path = tmp_path / "flows"
    with neighbour() as server, child(tmp_path, section(server, path, record_max_bytes=65536)) as started:
        ready(started)
        for _ in range(30):
            url = f"http://127.0.0.1:{server.port}/"
            assert through(started, url, b"a word " * 1000, Content_Type="text/plain")[0] == 200
        assert started.end() == 0
        started.hear(Ready)
        notes = [one.text for one in started.said if isinstance(one, Note) and one.code == "egress.record"]
    assert len(notes) == 2
    assert "as large as it may be" in notes[1]
    assert 0 < len(flows(path)) < 30
    assert path.stat().st_size <= 65536


@pytest.mark.parametrize("fault", ["link", "readable", "directory"])
def test_a_file_that_others_could_read_is_none(tmp_path: Path, fault: str) -> None:
    """The gate does not start, and says why."""
    path = tmp_path / "flows"
    if fault == "link":
        path.symlink_to(tmp_path / "elsewhere")
    elif fault == "readable":
        path.touch(0o644)
    else:
        path.mkdir()
    with child(tmp_path, {"record_file": str(path)}) as started:
        assert started.hear(Note, "egress.start") is not None
        assert started.process.wait(30) == 78
    assert not (tmp_path / "elsewhere").exists()


async def test_a_flow_that_has_no_room_on_the_disk_is_not_left_in_part(tmp_path: Path) -> None:
    """The flows before it can be read."""
    path, told = tmp_path / "flows", list[str]()
    recording = Recording(
        str(path), 1 << 20, lambda _code, text: told.append(text), asyncio.get_running_loop()
    )
    flow = tflow(resp=True)
    recording.add(flow, Masker(redactor()))
    while not path.stat().st_size:
        await asyncio.sleep(0)
    whole = path.stat().st_size
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    # Python ignores the signal of this limit: a write is cut, and the next one fails.
    resource.setrlimit(resource.RLIMIT_FSIZE, (whole + whole // 2, hard))
    try:
        recording.add(flow, Masker(redactor()))
        await asyncio.to_thread(recording.close)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    await asyncio.sleep(0)
    assert told == ["recording: a flow was left out (OSError)"]
    assert path.stat().st_size == whole
    assert len(flows(path)) == 1
