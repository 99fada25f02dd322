"""What the agent asks a model goes through the gate unread: the certificate is the model's own, and so is every byte."""

import hashlib
import json
import ssl
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pytest

from support.certificates import make_authority
from support.egress import EgressGate
from support.leak import COMMAND
from support.network import named, own_network, public
from support.platforms import PROXY_VARIABLES
from support.stub_model import StubModel
from support.upstream import Hold, RecordingUpstream, sse_answer
from support.wire_tls import Pair

pytestmark = pytest.mark.e2e
# One that the operator names, and one of the list that the gate comes with.
OWN, LISTED = "model.example.com", "openrouter.ai"
# Prints the certificate that the client sees, then each piece of the answer on a line of its own.
CALLER = """
import hashlib, json, sys
from openai import OpenAI

client = OpenAI(base_url=f"https://{sys.argv[1]}/v1", api_key="sk-or-F4ke", max_retries=0, timeout=15)
asked = [{"role": "user", "content": sys.stdin.read()}]
create = client.chat.completions.with_streaming_response.create
with create(model="stub-model", messages=asked, stream=True) as answer:
    network = answer.http_response.extensions["network_stream"]
    certificate = network.get_extra_info("ssl_object").getpeercert(True)
    print(hashlib.sha256(certificate).hexdigest(), flush=True)
    for line in answer.iter_lines():
        if line:
            print(json.dumps(line), flush=True)
"""


@dataclass(frozen=True, slots=True)
class World:
    """The model, and the gate on the way to it."""

    model: StubModel
    pair: Pair
    root: str
    launcher: tuple[str, ...]
    gate: EgressGate
    environ: dict[str, str]

    def ask(self, host: str, *, through: bool) -> subprocess.Popen[str]:
        """Start a real client, which asks with a text full of secrets."""
        directly = dict.fromkeys(PROXY_VARIABLES, "") | {"SSL_CERT_FILE": self.root}
        caller = subprocess.Popen(
            [*(() if through else self.launcher), sys.executable, "-c", CALLER, host],
            env=self.environ if through else directly,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert caller.stdin is not None
        caller.stdin.write(f"SAY:{COMMAND}")
        caller.stdin.close()
        return caller


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """All of it, in a network of its own."""
    directory = tmp_path_factory.mktemp("models")
    with own_network():
        root = make_authority(directory, "world")
        pair = root.issue("model", f"dns:{OWN}", f"dns:{LISTED}")
        launcher = named(directory, dict.fromkeys((OWN, LISTED), public(21)))
        with (
            StubModel(address=public(21), port=443, context=pair.serving()) as model,
            RecordingUpstream() as agent,
            EgressGate(
                directory / "gate",
                agent.url,
                ca_file=root.path,
                egress={"models": [OWN]},
                launcher=launcher,
            ) as gate,
        ):
            gate.wait_egress()
            yield World(model, pair, root.path, launcher, gate, gate.environ())


def _fingerprint(pair: Pair) -> str:
    certificate = ssl.PEM_cert_to_DER_cert(Path(pair.cert).read_text())
    return hashlib.sha256(certificate).hexdigest()


def _lines(out: IO[str] | None) -> Iterator[Any]:
    assert out is not None
    for line in out:
        yield json.loads(line) if line.startswith('"') else line.strip()


@pytest.mark.parametrize("host", [OWN, LISTED])
def test_a_model_call_goes_through_untouched(world: World, host: str) -> None:
    """Through the gate the client sees the model's own certificate and the same bytes, and the model gets the same request."""
    heard, told = [], []
    for through in (False, True):
        world.model.forget()
        world.model.on("POST", "/v1/chat/completions", _words)
        with world.ask(host, through=through) as caller:
            heard.append(list(_lines(caller.stdout)))
            assert caller.stderr is not None
            assert heard[-1], caller.stderr.read()
        told.append([seen.raw for seen in world.model.forwarded])
    assert heard[0][0] == heard[1][0] == _fingerprint(world.pair)
    assert heard[0] == heard[1]
    assert "opaqueTOKENvalue1234567890" in "".join(heard[1])
    assert len(told[1]) == 1
    assert told[0] == told[1]


def test_an_answer_streams(world: World) -> None:
    """The first piece is there while the model has not thought of the second."""
    hold = Hold()
    first, last = b'data: {"choices": []}\n\n', b"data: [DONE]\n\n"
    world.model.forget()
    world.model.on("POST", "/v1/chat/completions", sse_answer(first, hold, last))
    with world.ask(OWN, through=True) as caller:
        lines = _lines(caller.stdout)
        assert next(lines) == _fingerprint(world.pair)
        assert next(lines) == first.decode().strip()
        hold.event.set()
        assert list(lines) == [last.decode().strip()]


def _words(_: Any) -> Any:
    pieces = [
        f"data: {json.dumps({'choices': [{'delta': {'content': word}}]})}\n\n" for word in COMMAND.split()
    ]
    return sse_answer(*(piece.encode() for piece in pieces), b"data: [DONE]\n\n")
