"""Variables that change what programs load, where they go, and what they check.

The names are data (`names` in the options of rules), each list with the condition under which it counts. Case is folded: who
writes `ld_preload` means something by it, and proxies are read in both cases.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from herma.policy.address import Host, hosts, is_foreign
from herma.policy.entry.source import Sources, under
from herma.policy.rule import Rule
from herma.policy.text.views import reading

__all__ = ["Environment"]

_SCRATCH = re.compile(
    r"(?:^|[:;=,\s])(?:/(?:var/)?tmp|/dev/shm|/run/user/\d{1,8}|/proc/|/home/[^/]{1,32}/\.cache|\\\\|https?:|%temp%|c:\\users\\public|c:\\windows\\temp)"
)
_COMMAND = re.compile(r"[\s;|&$`%#]|/(?:var/)?tmp/|/dev/shm/")
_OFF = frozenset({"0", "false", "no", "off", "none", "disable", "disabled", "never", ""})
_ON = frozenset({"1", "true", "yes", "on", "always", "all", "*"})


class Environment:
    """Judges variables by the lists of a set of rules."""

    def __init__(self, rules: Sequence[Rule], sources: Sources) -> None:
        self._exact: dict[str, set[str]] = {}
        self._endings: list[tuple[str, str]] = []
        self._known = sources.names("registry") | sources.names("forge")
        for rule in rules:
            for kind, names in rule.options.get("names", {}).items():
                for name in map(str, names):
                    if name.startswith("*"):
                        self._endings.append((name[1:], kind))
                    else:
                        self._exact.setdefault(name, set()).add(kind)

    def effects(self, env: Mapping[str, str]) -> Iterator[str]:
        """Give the effects of setting these variables: `env:` and the kind of the list whose condition holds."""
        for name, value in env.items():
            upper = reading(name).strip().upper().replace("-", "_")
            kinds = self._exact.get(upper, set()) | {
                kind for ending, kind in self._endings if upper.endswith(ending)
            }
            text = reading(value).strip().lower()
            yield from (f"env:{kind}" for kind in kinds if kind not in _WHEN or _WHEN[kind](text))
            yield from self._targets(kinds, text)

    def _targets(self, kinds: set[str], value: str) -> Iterator[str]:
        """Give what follows from the host that a variable names."""
        if not kinds & {"endpoint", "proxy", "index"}:
            return
        found = list(hosts(value))
        # The name of a host with a scheme is read twice, the second time without it.
        for host in [host for host in found if host.scheme or host.address is not None] or found:
            if not is_foreign(host):
                continue
            plain = host.scheme == "http"
            for kind in kinds & {"endpoint", "proxy", "index"}:
                if host.address is not None or (kind == "index" and plain):
                    yield f"env:{kind}:raw"
                elif kind == "proxy" or (kind == "index" and not self._is_known(host)):
                    yield f"env:{kind}:foreign"
                elif kind == "endpoint" and plain:
                    yield "env:endpoint:plain"

    def _is_known(self, host: Host) -> bool:
        return under(host, self._known)


def _scratch(value: str) -> bool:
    return _SCRATCH.search(value) is not None


# Lists without a condition here count whatever the value is.
_WHEN: dict[str, Callable[[str], bool]] = {
    "loads_from": _scratch,
    "searches": lambda value: _scratch(value) or value.startswith((".:", ":")) or value == ".",
    "commands": lambda value: _COMMAND.search(value) is not None,
    "checks": lambda value: value in _OFF,
    "unchecks": lambda value: value in _ON or "." in value or ":" in value,
    "endpoint": lambda _value: False,
    "proxy": lambda _value: False,
    "index": lambda _value: False,
}
