"""The real agent with its real adapters of Telegram, Discord and Slack, which speak to stub platforms by their true names.

Whoever approves commands does so there, and sees what the agent sent.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote_plus

import pytest

from support.caller import Client
from support.egress import EgressGate
from support.hermes import Hermes
from support.leak import COMMAND, assert_no_secret, sse_texts
from support.network import own_network
from support.platform_server import Arrived, PlatformServer
from support.platforms import Platforms, platforms
from support.stub_model import StubModel

pytestmark = pytest.mark.e2e
NAMES = ("telegram", "discord", "slack")
READABLE = ("curl -sS -m 2", "X-Vault-Token", "127.0.0.1:18699", "| bash", "rm -rf ./scratch")
# What a secret is called tells of the words beside it, which each platform writes in its way; the fingerprint is the secret's.
PLACEHOLDER = re.compile(r"\[[a-z0-9_-]+:([0-9a-f]{8,})\]")


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where all of it is kept."""
    return tmp_path_factory.mktemp("adapters")


@pytest.fixture(scope="module")
def chats(directory: Path) -> Iterator[Platforms]:
    """The platforms, in a network of their own."""
    with own_network(), platforms(directory) as running:
        yield running


@pytest.fixture(scope="module")
def mind(chats: Platforms) -> Iterator[StubModel]:
    """The model, in the same network."""
    assert chats
    with StubModel() as running:
        yield running


def _turn(platform: PlatformServer, command: str) -> Arrived:
    """Let the operator ask for a command and refuse it when asked; return the prompt."""
    platform.say("SAY:Good morning.")
    platform.wait(lambda one: b"morning" in one.body)
    platform.forget()
    platform.say(f"RUN:{command}")
    prompt = platform.wait(platform.is_prompt)
    platform.press(prompt, "Deny")
    platform.wait(lambda one: b"tool said" in unquote_plus(one.body.decode()).encode())
    return prompt


def _read(platform: PlatformServer) -> str:
    """Give all that arrived, as the platform understands it."""
    return "\n".join(
        f"{one.method} {one.target}\n{one.body.decode()}\n{unquote_plus(one.target)}\n{unquote_plus(one.body.decode())}"
        for one in platform.arrived
    )


def test_the_leak_is_there_without_the_gate(chats: Platforms, mind: StubModel, directory: Path) -> None:
    """The suite can fail: connected directly, every adapter shows secrets to the platform."""
    environ = chats.environ | chats.directly
    with Hermes(directory / "direct", mind.url, environ=environ, launcher=chats.launcher):
        for name in NAMES:
            platform = chats.by_name[name]
            prompt = _turn(platform, COMMAND)
            for shown in (*platform.texts(prompt), _read(platform)):
                with pytest.raises(AssertionError, match="shows"):
                    assert_no_secret(shown)


@dataclass(frozen=True, slots=True)
class Guarded:
    """The agent between the two sides of one gate."""

    gate: EgressGate
    hermes: Hermes


@pytest.fixture(scope="module")
def guarded(chats: Platforms, mind: StubModel, directory: Path) -> Iterator[Guarded]:
    """The gate, then the agent, which connects to the platforms through it as it starts."""
    for platform in chats.by_name.values():
        platform.forget()
    hermes = Hermes(directory / "guarded", mind.url)
    gate = EgressGate(
        directory / "gate",
        hermes.url,
        ca_file=chats.root.path,
        launcher=chats.launcher,
        upstream_key=hermes.key,
    )
    gate.spawn()
    try:
        gate.wait_egress()
        hermes.environ |= chats.environ | gate.environ()
        with hermes:
            yield Guarded(gate, hermes)
    finally:
        gate.stop()


@dataclass(frozen=True, slots=True)
class Seen:
    """What a platform got in a turn: the prompt as its operator reads it, and all of it."""

    prompt: str
    everything: str


@pytest.fixture(scope="module")
def seen(guarded: Guarded, chats: Platforms) -> dict[str, Seen]:
    """One turn on each platform."""
    assert guarded.gate.egress()["up"]
    shown = {}
    for name, platform in chats.by_name.items():
        prompt = _turn(platform, COMMAND)
        shown[name] = Seen(platform.texts(prompt)[-1], _read(platform))
    return shown


@pytest.mark.parametrize("name", NAMES)
def test_a_prompt_arrives_masked(guarded: Guarded, seen: dict[str, Seen], name: str) -> None:
    """Nothing that the platform gets in a turn shows a secret; the command stays readable, and the buttons answer."""
    shown = seen[name]
    assert_no_secret(shown.everything)
    assert all(part in shown.prompt for part in READABLE), shown.prompt
    assert PLACEHOLDER.search(shown.prompt), shown.prompt
    lines = [line for line in guarded.gate.audit() if line.get("platform") == name]
    assert any(line["redactions"] for line in lines)


def test_both_sides_give_a_secret_the_same_fingerprint(guarded: Guarded, seen: dict[str, Seen]) -> None:
    """The prompt of a run, read by its stream, names its secrets as the prompts of the platforms do."""
    client = Client(guarded.gate)
    talk = client.follow(client.start_run(f"RUN:{COMMAND}"), answer="deny")
    by_event = {document.get("event"): document for document in sse_texts(talk.first.body)[0]}
    streamed = PLACEHOLDER.findall(by_event["approval.request"]["command"])
    assert streamed
    for name, shown in seen.items():
        assert PLACEHOLDER.findall(shown.prompt) == streamed, name


def test_nothing_is_written_down(guarded: Guarded, chats: Platforms, seen: dict[str, Seen]) -> None:
    """After all of it, nothing the gate wrote shows a secret, or a token of a platform."""
    assert seen
    assert guarded.gate.audit()
    written = guarded.gate.written() + guarded.gate.admin("/status").body.decode()
    assert_no_secret(written)
    tokens = tuple(value for value in chats.environ.values() if len(value) > 30)
    assert tokens
    assert_no_secret(written, tokens)
