"""The real agent with its real adapters of Telegram, Discord and Slack, which speak to stub platforms by their true names.

Whoever approves commands does so there, and sees what the agent sent.
"""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote_plus

import pytest

from support.hermes import Hermes
from support.leak import COMMAND, assert_no_secret
from support.network import own_network
from support.platform_server import Arrived, PlatformServer
from support.platforms import Platforms, platforms
from support.stub_model import StubModel

pytestmark = pytest.mark.e2e
NAMES = ("telegram", "discord", "slack")


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
