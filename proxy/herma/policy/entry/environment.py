"""Variables that change what programs load, where they go, and what they check.

The names are data (`names` in the options of rules), each list with the condition under which it counts. So is what people usually
set them to (`usual`) and what is often meant well (`doubtful`): these parts of a value are taken out, and the rest is judged.
Case is folded: who writes `ld_preload` means something by it, and proxies are read in both cases.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from posixpath import basename

import regex

from herma.policy.address import Host, hosts, is_foreign
from herma.policy.entry.git import GitKeys
from herma.policy.entry.source import Sources, under
from herma.policy.entry.url import imitates
from herma.policy.pattern import compile_pattern
from herma.policy.rule import Rule
from herma.policy.text.views import reading

__all__ = ["Environment"]

_SCRATCH = re.compile(
    r"(?:^|[:;=,\s])(?:/(?:var/)?tmp|/dev/shm|/run/user/\d{1,8}|/proc/|/home/[^/]{1,32}/\.cache|[^\s:;,=]{0,200}/uploads(?:[/:;,]|$)|\\\\|https?:|%temp%|c:\\users\\public|c:\\windows\\temp)"
)
_COMMAND = re.compile(r"[\s;|&$`%#]|/(?:var/)?tmp/|/dev/shm/")
# A file whose name begins with a dot, outside of homes.
_HIDDEN = re.compile(r"(?:^|[:;=,\s@])(/(?:srv|opt|var|mnt|usr)/[^\s:;,]{1,200})")
_USUAL_HIDDEN = frozenset(
    {".venv", ".bundle", ".pnpm", ".yarn", ".nvm", ".npm", ".tox", ".cache", ".config", ".terraformrc", ".npmrc", ".gitconfig", ".git"}
)  # fmt: skip
# A path outside of the directories where systems and tools have programs and settings.
_STRANGE = re.compile(
    r"/(?!(?:usr|bin|sbin|opt|nix|snap|applications|library|system|app|etc|lib|lib64|dev/null|home/linuxbrew|run/current-system|root/\.nvm|mnt/[a-z]/(?:program|windows))(?:/|$))"
    r"(?!(?:home|users)/[^/]{1,40}/(?:\.nvm|\.volta|\.local|\.asdf|\.cargo|\.bun|\.deno|\.(?:py|rb)env|\.config|miniconda3|anaconda3|[\w.-]{1,40}/))"
)
# A file that others read as orders.
_SURFACE = re.compile(
    r"/etc/|/cron|\.ssh/|/\.(?:bash(?!_history)|zsh(?!_history)|profile|login|xprofile|xsession|vimrc|inputrc|gitconfig|npmrc|pam_)|/autostart/|/systemd/|/launch(?:agents|daemons)/|\.pth$"
)
# What stands between the parts of a value.
_SEPARATORS = " \t:;,"
# One pattern over one value; the subset of patterns keeps it far below.
MAX_SUB_S = 0.02
_OFF = frozenset({"0", "false", "no", "off", "none", "disable", "disabled", "never", ""})
_ON = frozenset({"1", "true", "yes", "on", "always", "all", "*"})


class Environment:
    """Judges variables by the lists of a set of rules."""

    def __init__(self, rules: Sequence[Rule], sources: Sources) -> None:
        self._sources = sources
        self._git = GitKeys(rules)
        self._exact: dict[str, set[str]] = {}
        self._endings: list[tuple[str, str]] = []
        self._known = sources.names("registry") | sources.names("forge")
        self._vendors = sources.names("vendor")
        self._tunnels = sources.names("tunnel")
        self._usual = _patterns(rules, "usual")
        self._doubtful = _patterns(rules, "doubtful")
        for rule in rules:
            for kind, names in rule.options.get("names", {}).items():
                for name in map(str, names):
                    if name.startswith("*"):
                        self._endings.append((name[1:], kind))
                    else:
                        self._exact.setdefault(name, set()).add(kind)

    def effects(self, env: Mapping[str, str]) -> Iterator[str]:
        """Give the effects of setting these variables: `env:` and the kind of the list whose condition holds."""
        for name, value in (*env.items(), *self._git.variables(env)):
            upper = _plain(name)
            kinds = self._exact.get(upper, set()) | {
                kind for ending, kind in self._endings if upper.endswith(ending)
            }
            text = reading(value).strip().lower()
            rest, doubtful = self._rest(upper, text)
            yield from (f"env:{kind}" for kind in kinds if _WHEN.get(kind, bool)(rest))
            if doubtful:
                yield "env:doubtful"
            yield from self._targets(kinds, text)
            if "fetched" in kinds:
                yield from self._sources.of(text)

    def rest(self, env: Mapping[str, str]) -> dict[str, str]:
        """Give the variables without what is usual or often meant well in them, and without those of which nothing is left."""
        rests = {}
        for name, value in env.items():
            upper = _plain(name)
            known = upper in self._usual or upper in self._doubtful
            rests[name] = self._rest(upper, reading(value).strip().lower())[0] if known else value
        return {name: value for name, value in rests.items() if value}

    def _rest(self, name: str, text: str) -> tuple[str, bool]:
        """Give what is left of a value, and whether something doubtful was taken out."""
        if "/../" in text:
            # A path that leads out of where it seems to be is nothing usual.
            return text, False
        try:
            for pattern in self._usual.get(name, ()):
                text = pattern.sub(" ", text, timeout=MAX_SUB_S)
            before = text
            for pattern in self._doubtful.get(name, ()):
                text = pattern.sub(" ", text, timeout=MAX_SUB_S)
        except TimeoutError:
            return text, False
        return text.strip() if text.strip(_SEPARATORS) else "", text != before

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
                tunnel = under(host, self._tunnels)
                if host.address is not None or (kind == "index" and plain) or (tunnel and kind == "proxy"):
                    yield f"env:{kind}:raw"
                elif kind == "endpoint" and tunnel:
                    yield "env:endpoint:tunnel"
                elif kind == "proxy" or (kind == "index" and not self._is_known(host)):
                    yield f"env:{kind}:foreign"
                elif kind == "endpoint" and self._imitates(host):
                    yield "url:imitates"
                elif kind == "endpoint" and plain:
                    yield "env:endpoint:plain"

    def _imitates(self, host: Host) -> bool:
        return not under(host, self._vendors) and imitates(host.name, self._vendors)

    def _is_known(self, host: Host) -> bool:
        return under(host, self._known)


def _plain(name: str) -> str:
    return reading(name).strip().upper().replace("-", "_")


def _patterns(rules: Sequence[Rule], option: str) -> dict[str, list[regex.Pattern[str]]]:
    found: dict[str, list[regex.Pattern[str]]] = {}
    for rule in rules:
        for group in rule.options.get(option, ()):
            patterns = [compile_pattern(str(value)) for value in group["values"]]
            for name in group["names"]:
                found.setdefault(str(name), []).extend(patterns)
    return found


def _scratch(value: str) -> bool:
    """Tell whether a path lies where everybody may write, is hidden, or is an address."""
    names = (basename(match[1].rstrip("/")) for match in _HIDDEN.finditer(value))
    return _SCRATCH.search(value) is not None or any(
        name.startswith(".") and name not in _USUAL_HIDDEN for name in names
    )


# Lists without a condition here count whatever the value is, unless it is empty.
_WHEN: dict[str, Callable[[str], bool]] = {
    "loads_from": _scratch,
    "searches": lambda value: _scratch(value) or value.startswith((".:", ":")) or value == ".",
    "commands": lambda value: _COMMAND.search(value) is not None,
    "prompts": lambda value: re.search(r"\$\(|`|<\(|/tmp/|/dev/shm/", value) is not None,
    "names_program": lambda value: _STRANGE.match(value) is not None,
    "checks": lambda value: value in _OFF,
    "unchecks": lambda value: value in _ON or "." in value or ":" in value,
    "writes_to": lambda value: re.search(r"/\.(?!\w{1,20}_history$)\w|/etc/|/cron", value) is not None,
    "writes_file": lambda value: _SURFACE.search(value) is not None,
    "fetched": lambda _value: False,
    "endpoint": lambda _value: False,
    "proxy": lambda _value: False,
    "index": lambda _value: False,
}
