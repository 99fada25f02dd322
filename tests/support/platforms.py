"""Telegram, Discord and Slack in one network, under the certificates of one test root."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from support.certificates import Authority, make_authority
from support.network import named, public
from support.platform_server import PlatformServer
from support.stub_discord import StubDiscord
from support.stub_slack import StubSlack
from support.stub_telegram import StubTelegram

__all__ = ["PROXY_VARIABLES", "Platforms", "platforms"]

PROXY_VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
_KINDS: tuple[type[PlatformServer], ...] = (StubTelegram, StubDiscord, StubSlack)


@dataclass(frozen=True, slots=True)
class Platforms:
    """The platforms by the name that the agent gives them, and what is before a command that is to find them."""

    by_name: dict[str, PlatformServer]
    root: Authority
    launcher: tuple[str, ...]

    @property
    def environ(self) -> dict[str, str]:
        """Give the variables with which the agent connects to all of them."""
        return {name: value for one in self.by_name.values() for name, value in one.environ.items()}

    @property
    def directly(self) -> dict[str, str]:
        """Give the variables that let a program connect without a proxy, trusting the test root."""
        # Without an answer of its resolver, the adapter of Telegram would try addresses that it knows by heart.
        fallback = {"HERMES_TELEGRAM_DISABLE_FALLBACK_IPS": "1"}
        return dict.fromkeys(PROXY_VARIABLES, "") | fallback | {"SSL_CERT_FILE": self.root.path}


@contextmanager
def platforms(directory: Path, names: dict[str, str] | None = None) -> Iterator[Platforms]:
    """Run all of them in this thread's network; `names` are further names and their addresses."""
    root = make_authority(directory, "platforms")
    found = dict(names or {})
    running: dict[str, PlatformServer] = {}
    with ExitStack() as stack:
        for number, kind in enumerate(_KINDS, 11):
            found |= dict.fromkeys(kind.names, public(number))
            name = kind.__name__.removeprefix("Stub").lower()
            pair = root.issue(name, *(f"dns:{host}" for host in kind.names))
            running[name] = stack.enter_context(kind(public(number), pair))
        yield Platforms(running, root, named(directory, found))
