"""Which agent server a request reaches: by the listener it came in at, or by the name it asked for.

A listener that names an upstream leads there and nowhere else. At any other, the public names of an upstream lead to it, and
every other name to `upstream`. No name may lead to two places, and every upstream has to be reached somehow.
"""

import difflib
import re
from collections.abc import Iterator
from itertools import combinations

from herma.config.reader import Reader
from herma.config.settings import Listener, Settings
from herma.config.upstream import DEFAULT_UPSTREAM, place_of
from herma.config.values import PublicName, Unix
from herma.errors import Source

__all__ = ["Doors"]

# As `Name` has it: it stands in logs, metrics and the keys of shared state.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class Doors:
    """Judges listeners and upstreams together, once both are read."""

    def __init__(self, reader: Reader, settings: Settings) -> None:
        self._reader = reader
        self._settings = settings
        self._upstreams = settings.all_upstreams()

    def judge(self) -> None:
        """Note every problem."""
        self._judge_names()
        open_doors = [listener for listener in self._settings.listen if listener.upstream is None]
        named = {listener.upstream for listener in self._settings.listen}
        for index, listener in enumerate(self._settings.listen):
            self._judge_listener(index, listener)
        for name, upstream in self._upstreams.items():
            found = name == DEFAULT_UPSTREAM or bool(upstream.public_names)
            if name not in named and not (open_doors and found):
                message = f"no request can reach the upstream {name}; give it public_names, or name it at a listener"
                self._reader.problem(self._reader.key_at(place_of(name)), "upstreams.unreachable", message)

    def _judge_names(self) -> None:
        for name in self._settings.upstreams:
            at = self._reader.key_at(place_of(name))
            if not _NAME.fullmatch(name):
                message = "expected a name of up to 64 letters, digits, dots, dashes and underscores"
                self._reader.problem(at, "upstreams.name", message)
            elif name.lower() == DEFAULT_UPSTREAM:
                message = "the name stands for the one under `upstream`; choose another"
                self._reader.problem(at, "upstreams.name", message)
        for (first, first_at), (second, second_at) in combinations(self._public_names(), 2):
            if _overlap(first, second):
                message = f"found {second}, which leads to the upstream at {first_at} already; keep one"
                self._reader.problem(second_at, "upstreams.public_names", message)

    def _public_names(self) -> Iterator[tuple[PublicName, Source]]:
        for name, upstream in self._upstreams.items():
            for index, public in enumerate(upstream.public_names):
                yield public, self._reader.at((*place_of(name), "public_names", index))

    def _judge_listener(self, index: int, listener: Listener) -> None:
        own = listener.upstream or DEFAULT_UPSTREAM
        if own not in self._upstreams:
            near = difflib.get_close_matches(own, self._upstreams, n=1)
            fix = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(self._upstreams)}"
            message = f"there is no upstream {own}; {fix}"
            self._reader.problem(self._reader.at(("listen", index, "upstream")), "listen.upstream", message)
            return
        for place, public in enumerate(listener.public_names):
            at = self._reader.at(("listen", index, "public_names", place))
            for name, upstream in self._upstreams.items():
                if name != own and any(_overlap(public, other) for other in upstream.public_names):
                    message = f"found {public}, which leads to the upstream {name}; take it out here or there"
                    self._reader.problem(at, "listen.public_names", message)
        names = (*listener.public_names, *self._upstreams[own].public_names)
        if listener.public and not names and not isinstance(listener.address, Unix):
            message = "a public listener without public_names answers only to its own address; add the names callers use"
            self._reader.warn(self._reader.at(("listen", index, "address")), "listen.public_names", message)


def _overlap(first: PublicName, second: PublicName) -> bool:
    """Tell whether a `Host` can be both: a name without a port stands for several."""
    return first.host == second.host and (
        first.port is None or second.port is None or first.port == second.port
    )
