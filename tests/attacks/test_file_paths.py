"""Files through the gate, where the operator has switched them on: no spelling of a path reaches keys or the agent's home."""

import base64
from urllib.parse import quote

import pytest

from support.inprocess import Gated, code, gated

OPENED = {"file.read": {"scope": "admin"}, "file.write": {"scope": "admin"}}
READS = (
    "/api/fs/read-text",
    "/api/fs/read-data-url",
    "/api/files/read",
    "/api/files/download",
    "/api/files",
    "/api/fs/list",
    "/api/media",
)
SPELLED = (
    "/root/.hermes/.env", "/srv/../root/.hermes/.env", ".env", "~/.ssh/id_ed25519", "/root/.hermes/%2eenv", "/root/.hermes/%252eenv",
    "\\root\\.hermes\\.env", "C:\\Users\\al\\.hermes\\.env::$DATA", "/root/.hermes/.env.", "/root/.hermes/.e\u200bnv", "/root/.hermes/．env",
    "/root/.HERMES/Auth.JSON", "/proc/self/root/root/.hermes/.env", "/proc/self/environ", "/root/.hermes/config.yaml", "//root//.hermes//.env",
    "file:///root/.hermes/.env",
)  # fmt: skip
DATA = "data:text/plain;base64," + base64.b64encode(b"#!/bin/sh\nid\n").decode()
PLACES = (
    "/root/.hermes/scripts/x.sh", "~/.hermes/plugins/x/plugin_api.py", "/opt/data/config.yaml", "/root/.ssh/authorized_keys", "/etc/cron.d/x",
    "/srv/../etc/cron.d/x", "/root/.bashrc", "/srv/repo/.git/hooks/pre-commit", "\\root\\.hermes\\scripts\\x.sh", "/root/.hermes%2fscripts%2fx.sh",
    "/root/.ｈermes/scripts/x.sh", "/root/.hermes /scripts/x.sh",
)  # fmt: skip


async def opened(gate: Gated) -> None:
    for path in READS:
        gate.agent.on("GET", path, {"content": "x"})
    for method, path in (
        ("POST", "/api/fs/write-text"),
        ("POST", "/api/files/upload"),
        ("DELETE", "/api/files"),
    ):
        gate.agent.on(method, path, {"ok": True})


@pytest.mark.parametrize("path", SPELLED)
async def test_keys_are_not_read(path: str) -> None:
    """On any route; nothing was asked of the upstream."""
    async with gated(profile="hermes-dashboard", surfaces=OPENED) as gate:
        await opened(gate)
        for route in READS:
            response = await gate.ask("GET", f"{route}?path={quote(path, safe='')}", key="admin")
            assert response.status in {400, 403}, route
            assert code(response) in {"herma.file.secret", "herma.request.target"}
        assert gate.agent.asked == []


@pytest.mark.parametrize("path", PLACES)
async def test_nothing_is_planted(path: str) -> None:
    """Not as text, not as data, not as a form; nor is it deleted."""
    form = (
        b'--x\r\nContent-Disposition: form-data; name="path"\r\n\r\n' + path.encode()
        + b'\r\n--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nid\r\n--x--\r\n'
    )  # fmt: skip
    async with gated(profile="hermes-dashboard", surfaces=OPENED) as gate:
        await opened(gate)
        gate.agent.on("POST", "/api/files/upload-stream", {"ok": True})
        answers = [
            await gate.ask("POST", "/api/fs/write-text", key="admin", body={"path": path, "content": "id"}),
            await gate.ask("POST", "/api/files/upload", key="admin", body={"path": path, "data_url": DATA}),
            await gate.ask("DELETE", "/api/files", key="admin", body={"path": path, "recursive": True}),
            await gate.ask(
                "POST", "/api/files/upload-stream", key="admin", body=form,
                headers=[("Content-Type", "multipart/form-data; boundary=x")],
            ),
        ]  # fmt: skip
        assert {response.status for response in answers} == {403}
        assert {code(response).rpartition(".")[0] for response in answers} == {"herma.file"}
        assert gate.agent.asked == []


async def test_ordinary_files_are_read_and_written() -> None:
    """That is what it was switched on for."""
    async with gated(profile="hermes-dashboard", surfaces=OPENED) as gate:
        await opened(gate)
        assert (
            await gate.ask("GET", "/api/fs/read-text?path=/srv/papers/notes.md", key="admin")
        ).status == 200
        written = {"path": "/srv/papers/notes.md", "content": "see .env and ~/.ssh"}
        assert (await gate.ask("POST", "/api/fs/write-text", key="admin", body=written)).status == 200
