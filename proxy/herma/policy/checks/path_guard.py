"""Paths that callers name: no route that reads files reads secrets, and none that writes files writes what runs or is believed."""

from collections.abc import Iterator
from typing import Any, ClassVar, Final

from herma.policy.decision import Allow, Decision, Deny, Finding, Level
from herma.policy.exchange import Exchange, Phase
from herma.policy.file.place import Place, place_of
from herma.policy.message.form import FormError, urlencoded

__all__ = ["PathGuard"]

_WRITES: Final = frozenset({Place.SECRET, Place.AGENT, Place.SYSTEM, Place.UNREADABLE})
_READS: Final = frozenset({Place.SECRET, Place.UNREADABLE})
# As many as the requests of the upstream name at once, and some to spare.
MAX_PATHS: Final = 256


class PathGuard:
    """Judges what a profile says are paths: query parameters and members of the body (`paths` of a route).

    So are the places outside of the agent's home that an archive would be unpacked to (`archives`).
    Whoever may use a route of files could else read with it what `secret.read` is off for, and write what `hook.write` is.
    """

    id: ClassVar[str] = "path_guard"
    phases: ClassVar[frozenset[Phase]] = frozenset({Phase.REQUEST_HEAD, Phase.REQUEST_BODY})

    def decide(self, exchange: Exchange, phase: Phase) -> Decision:
        """Judge each path of the query, or of the body."""
        route = exchange.match.route
        if not route.paths and not route.archives:
            return Allow()
        refused = _WRITES if route.archives or route.operation.endswith(".write") else _READS
        named = _in_query(exchange) if phase is Phase.REQUEST_HEAD else _in_body(exchange)
        for count, (where, path) in enumerate(named):
            place = place_of(path) if isinstance(path, str) and count < MAX_PATHS else Place.UNREADABLE
            if place in refused:
                return Deny(403, *_REFUSALS[place], (Finding(f"file-{place}", Level.HIGH, where),))
        return Allow()


def _in_query(exchange: Exchange) -> Iterator[tuple[str, Any]]:
    try:
        held = urlencoded(exchange.head.target.query)
    except FormError:
        yield "query", None
    else:
        for name in exchange.match.route.paths:
            yield from (("query", path) for path in held.get(name, ()))


def _in_body(exchange: Exchange) -> Iterator[tuple[str, Any]]:
    document = exchange.document
    if document is None or not isinstance(document.value, dict):
        return
    for name in exchange.match.route.archives:
        files = document.value.get(name) if document.form else None
        # What stands in the agent's own home is judged by what it says.
        yield from (
            (f"/{name}", file["path"])
            for file in files or ()
            if isinstance(file, dict) and "content" not in file
        )
    for name in exchange.match.route.paths:
        held = document.value.get(name)
        # A form gives every value of a field.
        for path in held if isinstance(held, list) else [held]:
            if path is not None:
                yield f"/{name}", path


_REFUSALS: Final = {
    Place.SECRET: (
        "herma.file.secret",
        "The path leads to keys or passwords, which are not read or written through the gate.",
    ),
    Place.AGENT: (
        "herma.file.agent",
        "The path leads into the agent's home, which is not written file by file through the gate.",
    ),
    Place.SYSTEM: ("herma.file.system", "The path leads to what runs by itself on the agent's machine."),
    Place.UNREADABLE: ("herma.file.unreadable", "The path has no single meaning."),
}
