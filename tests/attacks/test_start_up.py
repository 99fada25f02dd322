"""The bonus row and row 35: a gate that would not be safe does not start, opens no port, and names the line and the fix."""

import os
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from support.gate import Gate, free_port, refused_start
from support.raw import Connection
from support.upstream import RecordingUpstream

CONFIGURATION = 78


@pytest.fixture
def candidate(tmp_path: Path, upstream: RecordingUpstream) -> Iterator[Gate]:
    """A gate that would start; the test spoils it."""
    gate = Gate(tmp_path / "gate", upstream.url)
    yield gate
    gate.stop()


def _assert_refused(gate: Gate, *, code: int = CONFIGURATION, line: bool = True) -> str:
    """Fail unless the gate refuses to start, opens no port and says where the problem is."""
    ended, stderr = refused_start(gate)
    assert ended == code, stderr
    assert "Traceback" not in stderr
    if line:
        assert re.search(r"herma\.yaml:\d+:\d+: \S+: .+", stderr), stderr
    for port in (gate.port, gate.admin_port):
        with pytest.raises(ConnectionRefusedError), Connection(port):
            pass
    for secret in (*gate.keys.values(), gate.upstream_key):
        assert secret not in stderr
    return stderr


def _configured(gate: Gate, **parts: object) -> None:
    gate.config |= parts
    gate.write_config(gate.config)


PUBLIC = [
    "0.0.0.0:PORT",
    "[::]:PORT",
    "[::ffff:0.0.0.0]:PORT",
    "[::ffff:127.0.0.1]:PORT",
    "10.1.2.3:PORT",
    "192.168.0.1:PORT",
    "172.16.0.1:PORT",
    "169.254.1.1:PORT",
    "100.64.0.1:PORT",
    "[fe80::1]:PORT",
    "[fd00::1]:PORT",
    "does-not-resolve.invalid:PORT",
    "*:PORT",
    ":PORT",
]


@pytest.mark.bypass("start-up")
@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_listener_without_a_key_does_not_start(
    candidate: Gate, upstream: RecordingUpstream, address: str
) -> None:
    """An address that is not provably loopback needs authentication, and no variable changes that."""
    candidate._environ |= {"HERMA_INSECURE": "1"}
    candidate.config["auth"]["keys"] = []
    _configured(candidate, listen=[{"address": address.replace("PORT", str(candidate.port))}])
    _assert_refused(candidate)
    upstream.assert_untouched()


@pytest.mark.bypass("start-up")
@pytest.mark.parametrize("mode", ["0777", "0666", "0660", "0644", "0700"])
def test_a_socket_others_can_open_needs_a_key(candidate: Gate, mode: str) -> None:
    """A unix socket wider than 0600 is a public listener."""
    candidate.config["auth"]["keys"] = []
    _configured(candidate, listen=[{"address": f"unix:{candidate.directory / 'herma.sock'}", "mode": mode}])
    _assert_refused(candidate)
    assert not (candidate.directory / "herma.sock").exists()


@pytest.mark.bypass(35)
@pytest.mark.parametrize(
    "network", ["0.0.0.0/0", "::/0", "0.0.0.0/00", "1.2.3.4/0", "*", "all", "10.0.0.0/33", "10.0.0.1/8x", ""]
)
def test_everybody_is_no_trusted_proxy(candidate: Gate, network: str) -> None:
    """Trusting every peer, or a network that cannot be read, is a start-up error."""
    _configured(candidate, trusted_proxies=[network])
    _assert_refused(candidate)


@pytest.mark.bypass("start-up")
def test_one_network_split_in_two_is_still_everybody(candidate: Gate) -> None:
    """Two halves of the address space are the whole of it."""
    _configured(candidate, trusted_proxies=["0.0.0.0/1", "128.0.0.0/1"])
    code_or_started = _starts_or_code(candidate)
    assert code_or_started == CONFIGURATION or "warning" in candidate.stderr().lower()


def _starts_or_code(gate: Gate) -> int | None:
    try:
        gate.start()
    except AssertionError:
        return gate.process.poll()
    return None


WEAK = {
    "short": "x7Kq2mZp",
    "fifteen": "x7Kq2mZp9Lr4TvB",
    "one letter": "a" * 64,
    "two letters": "ab" * 32,
    "digits in order": "1234567890123456",
    "keyboard walk": "qwertyuiopasdfghjkl",
    "words": "passwordpassword",
    "date": "2026-12-01-2026-12-01",
    "example": "sk-1234567890abcdef",
    "placeholder": "change-me-local-dev",
    "documented": "test-key-0123456789abcdef0123456789abcdef",
    "upstream placeholder": "your_api_key_here",
    "case of a placeholder": "YOUR-API-KEY-HERE",
}


@pytest.mark.bypass("start-up")
@pytest.mark.parametrize(
    ("whose", "key"),
    [
        *(("caller", key) for key in WEAK.values()),
        *(("upstream", WEAK[name]) for name in ("short", "one letter", "upstream placeholder")),
    ],
)
def test_a_weak_key_never_opens_the_gate(candidate: Gate, key: str, whose: str) -> None:
    """A short, guessable or published key is refused for callers and for the upstream, with the command that makes a good one."""
    candidate.secret_file("admin" if whose == "caller" else "upstream", key)
    stderr = _assert_refused(candidate, line=False)
    assert key not in stderr
    assert "herma key new" in stderr


@pytest.mark.bypass("start-up")
def test_sixteen_random_hex_digits_just_pass(candidate: Gate) -> None:
    """The floor is where the documentation says: sixty-four bits are enough."""
    candidate.secret_file("admin", "9f3c71e0b84d26a5")
    candidate.start()


def _replace(gate: Gate, change: Callable[[str], str]) -> None:
    gate.write_config(change(gate.config_path.read_text()))


@pytest.mark.bypass("start-up")
@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda text: text + "---\nlisten: []\n", id="two documents"),
        pytest.param(lambda text: text + "listen: []\n", id="duplicate key"),
        pytest.param(
            lambda text: text.replace("drain_timeout_s", "strict: false\nstrict: true\ndrain_timeout_s"),
            id="duplicate scalar",
        ),
        pytest.param(lambda text: text + "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n", id="aliases"),
        pytest.param(lambda text: text.replace("drain_timeout_s: 5", "drain_timeout_s: &t 5"), id="anchor"),
        pytest.param(lambda text: text + "unknown: 1\n", id="unknown key"),
        pytest.param(lambda text: text + "Limits: {}\n", id="wrong case"),
        pytest.param(
            lambda text: text.replace("drain_timeout_s: 5", "drain_timeout_s: soon"), id="wrong type"
        ),
        pytest.param(lambda text: text.replace("drain_timeout_s: 5", "drain_timeout_s: -1"), id="negative"),
        pytest.param(
            lambda text: text.replace("drain_timeout_s: 5", "drain_timeout_s: .nan"), id="not a number"
        ),
        pytest.param(
            lambda text: text.replace("drain_timeout_s: 5", "drain_timeout_s: yes"), id="yes for a number"
        ),
        pytest.param(lambda text: text + "strict: 'yes'\n", id="string for a bool"),
        pytest.param(lambda text: text + "x: !!python/object/apply:os.system ['true']\n", id="tag"),
        pytest.param(lambda text: text + "<<: {strict: true}\n", id="merge key"),
        pytest.param(lambda text: text.replace("hermes-api", "../../etc/passwd"), id="profile path"),
        pytest.param(lambda text: "[]\n", id="a list"),
        pytest.param(lambda text: "\x00", id="NUL"),
        pytest.param(lambda text: text + "\tstrict: true\n", id="tab"),
        pytest.param(
            lambda text: text.replace("enforce", "x") + "checks: {no-such-check: {mode: off}}\n",
            id="unknown check",
        ),
        pytest.param(lambda text: text + "redaction: {mode: 'off'}\n", id="unknown mode"),
    ],
)
def test_a_file_with_two_readings_does_not_start(candidate: Gate, change: Callable[[str], str]) -> None:
    """What could be read in two ways, or not at all, is refused with its place in the file."""
    _replace(candidate, change)
    _assert_refused(candidate, line=False)


@pytest.mark.bypass("start-up")
@pytest.mark.parametrize("mode", [0o644, 0o604, 0o666])
@pytest.mark.parametrize("which", ["admin", "upstream"])
def test_a_secret_others_can_read_does_not_start(candidate: Gate, mode: int, which: str) -> None:
    """A key file that anybody else may read is an error."""
    (candidate.directory / f"{which}.key").chmod(mode)
    _assert_refused(candidate)


@pytest.mark.bypass("start-up")
def test_a_missing_or_empty_secret_does_not_start(candidate: Gate) -> None:
    """A key file that is not there, is empty or is a directory is an error."""
    path = candidate.directory / "admin.key"
    path.unlink()
    _assert_refused(candidate)
    path.touch(mode=0o600)
    _assert_refused(candidate, line=False)
    path.unlink()
    path.mkdir(mode=0o700)
    _assert_refused(candidate, line=False)


@pytest.mark.bypass("start-up")
def test_a_symlinked_file_does_not_start(candidate: Gate) -> None:
    """Neither the configuration nor a secret may be a link that somebody else could turn."""
    real = candidate.directory / "elsewhere.yaml"
    candidate.config_path.rename(real)
    candidate.config_path.symlink_to(real)
    _assert_refused(candidate, line=False)


@pytest.mark.bypass("start-up")
def test_an_empty_variable_counts_as_unset(candidate: Gate) -> None:
    """`${NAME}` with an empty value is a missing secret, not an empty one."""
    candidate.config["auth"]["keys"] = [{"name": "admin", "key": "${HERMA_TEST_KEY}", "scopes": ["admin"]}]
    candidate._environ |= {"HERMA_TEST_KEY": ""}
    _configured(candidate)
    _assert_refused(candidate)


@pytest.mark.bypass("start-up")
def test_the_environment_cannot_loosen_the_file(candidate: Gate, upstream: RecordingUpstream) -> None:
    """No variable lowers a floor or a limit that the file sets."""
    candidate.secret_file("admin", "a" * 64)
    candidate._environ |= {
        "HERMA_INSECURE": "1",
        "HERMA_AUTH__MIN_ENTROPY_BITS": "0",
        "HERMA_MIN_ENTROPY_BITS": "0",
        "HERMA_STRICT": "false",
    }
    _assert_refused(candidate, line=False)


@pytest.mark.bypass("start-up")
def test_the_floor_can_only_be_raised(candidate: Gate) -> None:
    """A lower entropy floor than the built-in one is an error; a higher one holds."""
    candidate.config["auth"]["min_entropy_bits"] = 10
    _configured(candidate)
    _assert_refused(candidate)
    candidate.config["auth"]["min_entropy_bits"] = 4000
    _configured(candidate)
    _assert_refused(candidate, line=False)


@pytest.mark.bypass("start-up")
@pytest.mark.parametrize("which", ["port", "admin_port"])
@pytest.mark.parametrize("reuse", [False, True])
def test_a_port_somebody_holds_is_not_shared(candidate: Gate, which: str, reuse: bool) -> None:
    """Another process on the port, even one that would share it, stops the start."""
    with closing(socket.socket()) as squatter:
        squatter.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if reuse:
            squatter.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        squatter.bind(("127.0.0.1", getattr(candidate, which)))
        squatter.listen()
        code, stderr = refused_start(candidate)
    assert code not in {0, None}
    assert "Traceback" not in stderr
    assert str(getattr(candidate, which)) in stderr


@pytest.mark.bypass("start-up")
@pytest.mark.parametrize("address", ["0.0.0.0:PORT", "[::]:PORT", "192.168.0.1:PORT"])
def test_the_admin_listener_stays_here(candidate: Gate, address: str) -> None:
    """The admin listener is loopback or a private socket, or the gate does not start."""
    _configured(candidate, admin={"address": address.replace("PORT", str(candidate.admin_port))})
    _assert_refused(candidate)


@pytest.mark.bypass(44, "start-up")
@pytest.mark.parametrize(
    "names", [("a", "a"), ("a", ""), ("a", "x" * 300), ("a", "b\nc"), ("a", "b\x1b[31m")]
)
def test_key_names_are_told_apart(candidate: Gate, names: tuple[str, str]) -> None:
    """Two keys of one name, and a name that cannot be printed, are errors."""
    keys = candidate.config["auth"]["keys"][:2]
    for record, name in zip(keys, names, strict=True):
        record["name"] = name
    candidate.config["auth"]["keys"] = keys
    _configured(candidate)
    _assert_refused(candidate)


@pytest.mark.bypass("start-up")
def test_one_key_for_two_names_does_not_start(candidate: Gate) -> None:
    """A key that two names share would have two owners."""
    candidate.secret_file("other", candidate.keys["admin"])
    _assert_refused(candidate)


@pytest.mark.bypass("start-up")
def test_all_problems_are_told_at_once(candidate: Gate) -> None:
    """Three mistakes are three lines."""
    candidate.config["limits"]["max_json_depth"] = "deep"
    candidate.config["upstream"]["url"] = "ftp://127.0.0.1/"
    candidate.config["listen"] = [{"address": "nonsense"}]
    _configured(candidate)
    stderr = _assert_refused(candidate)
    assert len(re.findall(r"herma\.yaml:\d+:\d+:", stderr)) >= 3


@pytest.mark.bypass("start-up")
def test_no_key_stands_in_the_process_table(candidate: Gate) -> None:
    """Keys are not in the arguments or the environment another program could read."""
    candidate.start()
    for process in (candidate.process.pid, *candidate.children()):
        for name in ("cmdline", "environ"):
            data = Path(f"/proc/{process}/{name}").read_bytes()
            for secret in (*candidate.keys.values(), candidate.upstream_key):
                assert secret.encode() not in data


@pytest.mark.bypass("start-up")
def test_the_private_socket_is_private(tmp_path: Path, upstream: RecordingUpstream) -> None:
    """A unix listener has the mode the file says from its first moment, and nothing stands in its way but the key."""
    gate = Gate(tmp_path / "gate", upstream.url)
    path = gate.directory / "herma.sock"
    gate.config["listen"] = [
        {"address": f"unix:{path}", "mode": "0600"},
        {"address": f"127.0.0.1:{gate.port}"},
    ]
    gate.write_config(gate.config)
    with gate:
        assert os.stat(path).st_mode & 0o777 == 0o600
        with closing(socket.socket(socket.AF_UNIX)) as client:
            client.settimeout(5)
            client.connect(str(path))
            client.sendall(gate.message("GET", "/v1/models", host="localhost"))
            assert client.recv(65536).startswith(b"HTTP/1.1 401 ")
    assert free_port() > 0
