"""Settings that turn a guard off, hand out secrets, or bring in code: kin of server entries that are no commands.

Which settings and values count is data: `settings` in the options of rules, each written `key=value`, `<any>` for any value.
"""

from collections.abc import Iterator, Sequence

from herma.policy.command.path import resolve_path
from herma.policy.entry.certificate import certificate_effects
from herma.policy.entry.entry import Entry, Kind
from herma.policy.entry.keys import fold
from herma.policy.entry.place import is_whole
from herma.policy.entry.source import Sources
from herma.policy.rule import Rule

__all__ = ["Settings"]

_ANY = "<any>"
_PASSED = fold("env_passthrough")


class Settings:
    """Judges settings by the lists of a set of rules."""

    def __init__(self, rules: Sequence[Rule], sources: Sources) -> None:
        self._sources = sources
        self._kinds: dict[tuple[str, str], set[str]] = {}
        self._mounts: set[str] = set()
        for rule in rules:
            self._mounts.update(map(str, rule.options.get("mounts", ())))
            for kind, lines in rule.options.get("settings", {}).items():
                for line in map(str, lines):
                    key, _, value = line.partition("=")
                    self._kinds.setdefault((fold(key), value), set()).add(kind)

    def effects(self, entry: Entry) -> Iterator[str]:
        """Give the effects of what an entry sets, and of a server's settings for its connection."""
        match entry.kind:
            case Kind.SERVER:
                yield from certificate_effects(entry.fields)
            case Kind.SOURCE:
                yield from self._sources.of(str(entry.fields.get("source", "")))
            case Kind.SETTING:
                told = "told" if entry.fields.get("told") else "setting"
                yield from (f"{told}:{kind}" for kind in self._of(entry))
            case Kind.VOLUMES:
                if any(map(self._opens, entry.fields.get("volumes", ()))):
                    yield "setting:mount"
            case Kind.PASSES:
                names = [str(name).lower() for name in entry.fields.get("passes", ())]
                kinds = {kind for name in names for kind in self._kinds.get((_PASSED, name), ())}
                yield from (f"setting:{kind}" for kind in kinds)
            case _:
                # The others are judged by what they run.
                return

    def _opens(self, volume: str) -> bool:
        """Tell whether a volume gives the sandbox what is kept from it: a whole home or system, keys, another engine."""
        here = volume.strip().lower().partition(":")[0]
        path = resolve_path(here)
        return ":" in volume and (
            is_whole(path) or any(path == mount or path.startswith(mount + "/") for mount in self._mounts)
        )

    def _of(self, entry: Entry) -> set[str]:
        parts = [fold(part) for part in str(entry.fields.get("setting", "")).split(".")]
        value = str(entry.fields.get("value", "")).strip()
        found: set[str] = set()
        for start in range(len(parts)):
            key = ".".join(parts[start:])
            found |= self._kinds.get((key, value), set()) | self._kinds.get(
                (key, _ANY if value else ""), set()
            )
        return found
