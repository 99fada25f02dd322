"""Whom a network program of an entry talks to, and whether it sends something."""

import re
from collections.abc import Iterator

from herma.policy.address import hosts, is_foreign
from herma.policy.command.call import Call
from herma.policy.entry.place import is_whole

__all__ = ["LOCAL", "UNKNOWN", "network_effects"]

_UPLOAD = re.compile(
    r"^(?:-[a-z]{0,6}[dft]$|-d.|-f.|-t.|--data|--form|--upload-file|--post-|--body-|--json|-xpost|-xput|-h$)|^@|=@|^(?:post|put)$"
)
LOCAL = re.compile(r"\blocalhost\b|(?:^|\s)-\w{0,4}U\b|unix-|unix:|--unix-socket", re.IGNORECASE)
_DEVICE = re.compile(r"/dev/(?:tcp|udp)/([^/\s]{1,256})")
# What is filled in when it runs.
UNKNOWN = re.compile(r"\$[({\w]|`|<\(")


def network_effects(call: Call, kinds: frozenset[str]) -> Iterator[str]:
    """Give what a call says to other hosts, by the kinds of its program and by the devices of the shell."""
    if kinds & _NETWORK:
        yield from _talking(call, kinds)
    if "resolver" in kinds and _asks_with_data(call):
        yield from ("sends", "shell:talks" if call.shell else "alone:talks")
    for path in (*call.writes, *call.reads):
        device = _DEVICE.match(path)
        if device is not None and ("$" in device[1] or any(map(is_foreign, hosts(device[1])))):
            yield from ("shell:talks", "sends", "connects")


_NETWORK = frozenset({"downloader", "sender", "socket", "tunnel", "remote"})


def _talking(call: Call, kinds: frozenset[str]) -> Iterator[str]:
    """Give what a network program does, unless it asks this host or its neighbours."""
    if "%h" in call.argv or "%h:%p" in call.argv:
        # The way of an `ssh` through a proxy; what it carries is encrypted by its ends.
        if "remote" not in kinds:
            yield "alone:connects"
        return
    foreign = _foreign(call)
    if not any(foreign) and (foreign or UNKNOWN.search(call.line) is None or LOCAL.search(call.line)):
        return
    who = "shell" if call.shell else "alone"
    if kinds & {"downloader", "socket"}:
        yield f"{who}:talks"
    if "downloader" in kinds and foreign:
        yield from ("fetches", f"{who}:fetches")
    if "socket" in kinds:
        yield from ("connects", f"{who}:connects")
    if "sender" in kinds or call.piped or call.reads or any(map(_UPLOAD.match, call.line.lower().split())):
        yield "sends"
        if kinds & {"sender", "remote"} and any(map(is_whole, call.argv[1:])):
            yield "sends:home"


def _asks_with_data(call: Call) -> bool:
    """Tell whether a name is asked for whose first part is what a command printed or read: the name's server gets it."""
    for match in _LABEL.finditer(call.line):
        variable = match[1]
        # A variable in capitals comes from the entry, unless the command reads it.
        own = variable is not None and variable.isupper() and not call.piped and not call.reads
        if not own and any(map(is_foreign, hosts(match[2]))):
            return True
    return False


# The name of such a server behind a variable, a substitution, what `xargs` fills in, or nothing where a value was not known.
_LABEL = re.compile(
    r"(?:\$\{?(\w{1,64})\}?|[)`%]|\{\}|(?<=\s)(?=-{0,8}\.))[\w-]{0,64}\.((?:[\w-]{1,63}\.){1,8}[a-zA-Z]\w{1,62})(?![\w./])"
)


def _foreign(call: Call) -> list[bool]:
    """Tell of each host that a call names whether it is foreign; names without a scheme count where there is nothing better."""
    found = [host for host in hosts(call.line) if host.scheme or host.address is not None]
    if not found:
        # `data.json` and `/tmp/x.sock` look like names of hosts.
        words = [word for word in call.argv[1:] if not word.startswith(_NO_HOST)]
        found = list(hosts(" ".join(words)))
    return [is_foreign(host) for host in found]


_NO_HOST = (
    "/",
    "./",
    "../",
    "~",
    "-",
    "@",
    "unix",
    "UNIX",
    "file:",
    "FILE:",
    "exec:",
    "EXEC:",
    "vsock",
    "VSOCK",
)
