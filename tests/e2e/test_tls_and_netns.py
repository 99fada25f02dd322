"""TLS on a listener, and a public address tried for real inside a network namespace of its own."""

import json
import os
import shutil
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.gate import Gate, refused_start
from support.raw import Connection
from support.upstream import Hold, RecordingUpstream, sse_answer

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def upstream() -> Iterator[RecordingUpstream]:
    """A recording agent server."""
    with RecordingUpstream() as server:
        yield server


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory, upstream: RecordingUpstream) -> Iterator[Gate]:
    """A gate that speaks TLS."""
    directory = tmp_path_factory.mktemp("tls")
    subprocess.run(
        [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
            "-days",
            "2",
            "-subj",
            "/CN=localhost",
            "-addext",
            "subjectAltName=DNS:localhost,IP:127.0.0.1",
            "-keyout",
            directory / "tls.key",
            "-out",
            directory / "tls.crt",
        ],
        check=True,
        capture_output=True,
    )
    (directory / "tls.key").chmod(0o600)
    gate = Gate(directory / "gate", upstream.url)
    tls = {"cert_file": str(directory / "tls.crt"), "key_file": str(directory / "tls.key")}
    gate.config["listen"] = [{"address": f"127.0.0.1:{gate.port}", "tls": tls}]
    gate.write_config(gate.config)
    with gate:
        yield gate


def _context(gate: Gate, *alpn: str) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=str(gate.directory.parent / "tls.crt"))
    if alpn:
        context.set_alpn_protocols(list(alpn))
    return context


def test_a_request_over_tls(secured: Gate, upstream: RecordingUpstream) -> None:
    """A verified TLS connection carries requests, and a key is still needed."""
    upstream.forget()
    for key, status in (("admin", 200), (None, 401)):
        with Connection(secured.port, tls=_context(secured)) as connection:
            connection.send(secured.message("GET", "/v1/models", key=key))
            assert connection.talk().status == status
    assert upstream.only().get("x-forwarded-proto") == b"https"


def test_only_http_1_is_agreed_on(secured: Gate) -> None:
    """A client that offers HTTP/2 as well gets HTTP/1.1."""
    plain = socket.create_connection(("127.0.0.1", secured.port), timeout=10)
    with _context(secured, "h2", "http/1.1").wrap_socket(plain, server_hostname="localhost") as connection:
        assert connection.selected_alpn_protocol() == "http/1.1"
        assert connection.version() in {"TLSv1.2", "TLSv1.3"}


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1])
@pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
def test_old_tls_is_refused(secured: Gate, version: ssl.TLSVersion) -> None:
    """TLS before 1.2 is not spoken."""
    context = _context(secured)
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.minimum_version = version
    context.maximum_version = version
    with pytest.raises((ssl.SSLError, ConnectionResetError)), Connection(secured.port, tls=context):
        pass


def test_plain_http_on_the_tls_port_is_closed(secured: Gate, upstream: RecordingUpstream) -> None:
    """A client that forgot TLS gets nothing but a closed connection."""
    upstream.forget()
    with Connection(secured.port) as connection:
        connection.send(secured.message("GET", "/v1/models", key="admin"))
        assert connection.read_to_end() != "open"
        assert b"200" not in connection.received
    upstream.assert_untouched()


def test_a_stream_over_tls_flows_and_is_cut(secured: Gate, upstream: RecordingUpstream) -> None:
    """Events arrive one by one over TLS, and a leaving client is seen upstream."""
    hold = Hold()
    upstream.on("POST", "/v1/chat/completions", sse_answer(b"data: {}\n\n", hold))
    body = b'{"messages":[{"role":"user","content":"x"}],"stream":true}'
    with Connection(secured.port, tls=_context(secured)) as connection:
        connection.send(secured.message("POST", "/v1/chat/completions", key="admin", body=body))
        connection.read_until(b"data: {}")
    assert upstream.forwarded[-1].connection.gone.wait(5)


# A namespace of its own. Its second address stands on `lo`, which every kernel has; the gate judges addresses, not devices.
ADDRESS = "10.231.7.1"
CLIENT = """
import json, socket, sys
address, port, key = sys.argv[1], int(sys.argv[2]), sys.stdin.readline().strip()
out = []
for header in ("", f"Authorization: Bearer {key}\\r\\n"):
    with socket.create_connection((address, port), timeout=10) as connection:
        connection.sendall(f"GET /v1/models HTTP/1.1\\r\\nHost: {sys.argv[3]}\\r\\nConnection: close\\r\\n{header}\\r\\n".encode())
        data = b""
        while piece := connection.recv(65536):
            data += piece
    out.append(int(data.split(b" ", 2)[1]))
print(json.dumps(out))
"""


@pytest.fixture
def namespace() -> Iterator[str]:
    """A network namespace with one more address than loopback."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("a network namespace needs root and iproute2")
    name = f"herma-test-{os.getpid()}"
    subprocess.run(["ip", "netns", "add", name], check=True, capture_output=True)
    try:
        for command in (
            ["link", "set", "lo", "up"],
            ["addr", "add", f"{ADDRESS}/24", "dev", "lo"],
        ):
            subprocess.run(["ip", "-n", name, *command], check=True, capture_output=True)
        yield name
    finally:
        subprocess.run(["ip", "netns", "delete", name], check=False, capture_output=True)


def _in(name: str) -> tuple[str, ...]:
    return ("ip", "netns", "exec", name)


@pytest.mark.parametrize("address", [ADDRESS, "0.0.0.0", "[::]"])
@pytest.mark.bypass(43, "start-up")
def test_a_public_address_without_a_key_opens_no_port(tmp_path: Path, namespace: str, address: str) -> None:
    """On an address others could reach, a gate without keys ends with 78 and names the line."""
    gate = Gate(tmp_path, "http://127.0.0.1:9", launcher=_in(namespace))
    gate.config["listen"] = [{"address": f"{address}:{gate.port}"}]
    gate.config["auth"]["keys"] = []
    gate.write_config(gate.config)
    code, stderr = refused_start(gate)
    assert code == 78
    assert "herma.yaml:" in stderr


@pytest.mark.bypass(43)
def test_a_public_address_with_a_key_asks_for_it(tmp_path: Path, namespace: str) -> None:
    """On a public address a stranger gets 401, from the machine itself too, and the key opens."""
    script = (
        "import sys, time; sys.path[:0] = sys.argv[1:2]\n"
        "from support.upstream import RecordingUpstream\n"
        "with RecordingUpstream(port=18642) as server:\n"
        "    print('ready', flush=True); sys.stdin.read()\n"
    )
    tests = str(Path(__file__).resolve().parents[1])
    with subprocess.Popen(
        [*_in(namespace), sys.executable, "-c", script, tests], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as agent:
        assert agent.stdin is not None
        assert agent.stdout is not None
        try:
            assert agent.stdout.readline() == b"ready\n"
            gate = Gate(tmp_path, "http://127.0.0.1:18642", launcher=_in(namespace))
            gate.config["listen"] = [
                {"address": f"{ADDRESS}:{gate.port}", "public_names": ["agent.example.com"]}
            ]
            gate.write_config(gate.config)
            process = gate.spawn()
            try:
                result = _answers(namespace, gate)
                assert process.poll() is None, gate.stderr()
            finally:
                gate.stop()
        finally:
            agent.stdin.close()
    assert result == [401, 200]


def _answers(namespace: str, gate: Gate) -> list[int]:
    """Ask from inside the namespace until the gate listens."""
    last = ""
    for _ in range(60):
        done = subprocess.run(
            [*_in(namespace), sys.executable, "-c", CLIENT, ADDRESS, str(gate.port), "agent.example.com"],
            input=gate.keys["admin"],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        if done.returncode == 0:
            answers: list[int] = json.loads(done.stdout)
            return answers
        last = done.stderr
        try:
            gate.process.wait(0.25)
            break
        except subprocess.TimeoutExpired:
            continue
    raise AssertionError(f"no answer in the namespace: {last[-300:]} {gate.stderr()[-2000:]}")
