"""Attacks on the running egress gate: what it writes down, and what goes out around its judges."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from herma.egress.line import Sent
from support.egress_process import Child, Neighbour, asked, child, neighbour, ready
from support.redactor import GITHUB

VALUE = "Q7k3yF0rTh3t3stOfIt0"


@pytest.fixture(scope="module")
def stranger() -> Iterator[Neighbour]:
    """Whoever should hear nothing."""
    with neighbour() as server:
        yield server


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory, stranger: Neighbour) -> Iterator[Child]:
    """A gate that may reach the stranger, and watches a file."""
    directory: Path = tmp_path_factory.mktemp("egress")
    watched = directory / ".env"
    watched.write_text(f"SERVICE_KEY={VALUE}\n")
    section = {"near": [f"127.0.0.1:{stranger.port}"], "watch": [str(watched)]}
    with child(directory, section) as started:
        yield ready(started)


@pytest.mark.parametrize("secret", [GITHUB, VALUE])
def test_a_method_is_no_message(serving: Child, stranger: Neighbour, secret: str) -> None:
    """Neither is it sent, nor written down."""
    place = f"127.0.0.1:{stranger.port}"
    said = asked(serving, f"{secret} http://{place}/ HTTP/1.1\r\nHost: {place}\r\n\r\n".encode())
    assert b" 400 " in said.partition(b"\r\n")[0]
    assert secret.encode() not in said
    told = serving.hear(Sent)
    assert (told.method, told.code) == ("-", "herma.egress.malformed")
    assert secret not in str(told)
    assert stranger.seen == []


@pytest.mark.parametrize("secret", [GITHUB, VALUE])
@pytest.mark.parametrize("name", ["{}.collector.invalid", "x{}.collector.invalid", "{}.x.collector.invalid"])
def test_a_name_is_no_message(serving: Child, secret: str, name: str) -> None:
    """Nobody resolves it, and the record has the rest of it only."""
    host = name.format(secret)
    if secret is GITHUB and name.startswith("x"):
        host = f"x.{host.removeprefix('x')}"
    said = asked(serving, f"CONNECT {host}:443 HTTP/1.1\r\nHost: {host}:443\r\n\r\n".encode())
    assert b" 403 " in said.partition(b"\r\n")[0]
    told = serving.hear(Sent)
    assert told.outcome == "denied"
    assert secret.lower() not in str(told).lower()
    assert told.host.endswith("collector.invalid")


@pytest.mark.parametrize(
    "odd",
    [
        b"CONNECT 169.254.169.254:80 HTTP/1.1\r\nHost: 169.254.169.254\r\n\r\n",
        b"GET http://2852039166/latest HTTP/1.1\r\nHost: 2852039166\r\n\r\n",
        b"GET http://0xa9fea9fe/latest HTTP/1.1\r\nHost: 0xa9fea9fe\r\n\r\n",
        b"GET http://[::ffff:169.254.169.254]/ HTTP/1.1\r\nHost: [::ffff:169.254.169.254]\r\n\r\n",
        b"GET http://[fd00:ec2::254]/ HTTP/1.1\r\nHost: [fd00:ec2::254]\r\n\r\n",
        b"GET http://metadata.google.internal./ HTTP/1.1\r\nHost: metadata.google.internal.\r\n\r\n",
        b"GET http://[fe80::1%25lo]/ HTTP/1.1\r\nHost: [fe80::1%25lo]\r\n\r\n",
        b"GET http://api.openai.com@169.254.169.254/ HTTP/1.1\r\nHost: 169.254.169.254\r\n\r\n",
        b"GET http://127.0.0.1:22/ HTTP/1.1\r\nHost: 127.0.0.1:22\r\n\r\n",
        b"CONNECT 0.0.0.0:8644 HTTP/1.1\r\nHost: 0.0.0.0:8644\r\n\r\n",
        b"GET http://localhost:8644/ HTTP/1.1\r\nHost: localhost:8644\r\n\r\n",
    ],
)
def test_no_spelling_leads_inside(serving: Child, odd: bytes) -> None:
    """To a metadata service, to the gate's own address, or to a neighbour that is not named."""
    answer = asked(serving, odd).partition(b"\r\n")[0]
    assert answer.split(b" ")[1:2] in ([b"400"], [b"403"], [b"502"]), answer
