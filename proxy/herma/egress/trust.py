"""The authority that a configuration names, as the gate and the command line both open it."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from herma.config.egress import Egress
from herma.config.settings import Settings
from herma.content.library import Library
from herma.egress.authority import Authority
from herma.egress.exclusion import excluded_hosts
from herma.errors import ConfigError, Problem, Source
from herma.policy.egress.host_pattern import HostPattern

__all__ = ["open_authority", "require_proxy", "unsigned"]


def require_proxy(settings: Settings) -> None:
    """Refuse a configuration whose egress gate has nothing to run on.

    Raises:
        ConfigError: mitmproxy is not installed; the message says how it is.
    """
    if settings.egress is not None and find_spec("mitmproxy") is None:
        message = (
            "the egress gate needs mitmproxy; run `pip install 'herma[egress]'`, or take the section out"
        )
        raise ConfigError([Problem(Source(settings.path), "egress.missing", message)])


def unsigned(settings: Settings, egress: Egress) -> tuple[HostPattern, ...]:
    """Give the hosts that the authority is not to sign for: what goes there is not read.

    Raises:
        ContentError: the files of platforms or models cannot be used.
    """
    library = Library(settings.content)
    platforms = library.platforms({name: one.hosts for name, one in egress.platforms.items()})
    unread: Sequence[HostPattern] = (*library.models(), *egress.models, *egress.pinned)
    return excluded_hosts(unread, (host for platform in platforms for host in platform.hosts))


def open_authority(settings: Settings, egress: Egress) -> Authority:
    """Read the authority, or make it.

    Raises:
        ConfigError: its files cannot be used or made.
        ContentError: the files of platforms or models cannot be used.
    """
    more = Path(egress.ca_file) if egress.ca_file else None
    return Authority.open(Path(egress.state_dir), unsigned(settings, egress), more)
