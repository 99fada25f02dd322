"""What an upstream's routes mean, and which one a request asks for.

A path is matched exactly, by case and by segment: `/v1/runs/`, `/V1/runs` and `/v1/runs/x/y` are other paths than the
ones the profile names. Whatever is not named is `unknown`: authenticated, counted as a turn when it may start one,
inspected with everything there is, and never public.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from herma.policy.decision import Deny
from herma.policy.grant import Scope
from herma.policy.jsondoc import find
from herma.policy.message.html import PageKey
from herma.policy.message.target import Target
from herma.policy.routing.calls import CallRoute, CallTable
from herma.policy.routing.route import Auth, Creates, Dialect, Envelope, Owned, Route, Stream, Turn
from herma.policy.routing.table import NO_PARAMS, OPTIONS, RouteTable, bind, split_template
from herma.policy.routing.turn_events import TurnEvents

__all__ = [
    "OPTIONS",
    "UNKNOWN",
    "Auth",
    "Creates",
    "Dialect",
    "Envelope",
    "Family",
    "Match",
    "Owned",
    "Profile",
    "Readout",
    "Route",
    "RunStatus",
    "Stream",
    "Turn",
    "undeclared",
]

UNKNOWN = "unknown"
"""The operation of a route that no profile names."""

_SLASHED = Deny(400, "herma.request.target", "The path of the request has no single meaning.", close=True)
_STRANGE = Deny(404, "herma.route.unknown", "The gate does not know this route.")
_STRANGE_CALL = Deny(404, "herma.rpc.unknown", "The gate does not know this call.")
_NO_NAME = Deny(400, "herma.rpc.name", "A name in the call is none: it could be a path.")
# What becomes a folder's or a file's name on the agent's machine, where the upstream does not look whether it is one.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
# What may change something may also start a turn.
_MAY_START_TURN = frozenset({"POST", "PUT", "PATCH"})


def _is_name(held: object) -> bool:
    return isinstance(held, str) and _NAME.fullmatch(held) is not None


@dataclass(frozen=True, slots=True)
class Match:
    """The route a request asks for, with its path parameters decoded.

    `known` is False when the profile does not name it. `profile_prefix` is the name in `/p/{profile}/…`, empty without.
    """

    route: Route
    params: Mapping[str, str]
    known: bool
    profile_prefix: str = ""


@dataclass(frozen=True, slots=True)
class Family:
    """How to treat unknown routes at or below a path; `template` may hold parameters."""

    template: str
    envelope: Envelope
    scope: Scope = Scope.RUN
    owned: Owned | None = None
    run_param: str = ""


@dataclass(frozen=True, slots=True)
class Readout:
    """A GET of the upstream's own that tells something: the path, and the JSON Pointer of the answer."""

    path: str
    pointer: str


@dataclass(frozen=True, slots=True)
class RunStatus:
    """Where the state of a run is polled (`path` is a template), and which states are ends."""

    path: str
    pointer: str
    ended: frozenset[str]

    def is_end(self, answer: object) -> bool:
        """Tell whether a parsed answer says that the run is over."""
        return any(state in self.ended for _, state in find(answer, self.pointer) if isinstance(state, str))


@dataclass(frozen=True)
class Profile:
    """The routes of one kind of upstream.

    `prefixes` are templates with one parameter that every route also has in front of it. `liveness` is the whole body
    that a caller without a key gets from a public route. `capabilities` tells where the upstream lists its routes,
    `running` how many turns it runs, `own_login` whether it asks for a login of its own; None where it does not tell. `guarded` is
    a path that answers only to the upstream's key, empty where none is known; `page_key` tells the page in which it stands. `off` are operations that are closed until an operator
    switches them on. A `strict` profile takes no route that it does not name, whatever the configuration says. `calls` are what
    may be called over a WebSocket; there every profile is strict. `call_names` are JSON Pointers into the parameters of any call:
    what stands there is a plain name. `call_places` are others: a call that names such a place of the agent's machine needs the
    scope `admin`. `turn_events` tell of the turns that calls start. `token_param` is the query parameter in which the upstream takes
    its key on a handshake, empty where it takes it in a header. A `stateless` upstream can tell nothing once an answer is closed.

    Raises:
        ValueError: two routes with the same method and path, a template or a call that cannot be matched, or a call that starts a
            turn of which nothing is told.
    """

    name: str
    min_version: str
    routes: tuple[Route, ...]
    liveness: str = '{"status":"ok"}'
    prefixes: tuple[str, ...] = ()
    families: tuple[Family, ...] = ()
    headers: tuple[tuple[bytes, str], ...] = ()
    unknown_checks: tuple[str, ...] = ()
    off: frozenset[str] = frozenset()
    strict: bool = False
    calls: tuple[CallRoute, ...] = ()
    call_names: tuple[str, ...] = ()
    call_places: tuple[str, ...] = ()
    turn_events: TurnEvents | None = None
    token_param: str = ""
    envelope: Envelope = Envelope.OPENAI
    cookies: bool = False
    stateless: bool = False
    capabilities: Readout | None = None
    running: Readout | None = None
    own_login: Readout | None = None
    guarded: str = ""
    page_key: PageKey | None = None
    version: Readout | None = None
    run_status: RunStatus | None = None
    _plain: "RouteTable" = field(init=False, repr=False, compare=False)
    _prefixed: "RouteTable" = field(init=False, repr=False, compare=False)
    _calls: CallTable = field(init=False, repr=False, compare=False)
    _prefix_parts: tuple[tuple[str, ...], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Build the tables; a prefixed twin of a public route is not public, only the exact path is."""
        if self.turn_events is None and any(call.route.turn is not Turn.NONE for call in self.calls):
            raise ValueError("a call starts a turn, and there are no `turn_events` that tell of its end")
        object.__setattr__(self, "_plain", RouteTable(self.routes))
        object.__setattr__(
            self, "_prefixed", RouteTable([replace(route, public=False) for route in self.routes])
        )
        object.__setattr__(self, "_calls", CallTable(self.calls))
        object.__setattr__(self, "_prefix_parts", tuple(split_template(prefix) for prefix in self.prefixes))

    def match(self, method: str, target: Target) -> Match | Deny:
        """Find the route.

        A known path with another method is 405, a closed route is 403, an encoded slash where none is expected is 400; all
        else is a match.
        """
        segments, prefix = self._strip(target.segments)
        found = self._find(method, segments, prefix)
        if target.slashed and not (
            isinstance(found, Match) and found.route.encoded_slash and "/" not in prefix
        ):
            return _SLASHED
        return found

    def _find(self, method: str, segments: tuple[str, ...], prefix: str) -> Match | Deny:
        table = self._prefixed if prefix else self._plain
        entry = table.find(segments)
        if entry is None:
            return _STRANGE if self.strict else self._unknown(method, segments, prefix)
        route = entry.by_method.get(method)
        if route is None:
            return Deny(405, "herma.route.method", f"This path takes {', '.join(entry.allowed)} only.")
        return route.shut or Match(route, entry.params(segments), known=True, profile_prefix=prefix)

    def match_call(self, name: str, params: Mapping[str, Any]) -> Match | Deny:
        """Find the route of a JSON-RPC call; one that the profile does not know is refused."""
        route = self._calls.find(name, params)
        if route is None:
            return _STRANGE_CALL
        if route.shut is not None:
            return route.shut
        for pointer in self.call_names:
            if not all(held is None or _is_name(held) for _, held in find(params, pointer)):
                return _NO_NAME
        if any(held for pointer in self.call_places for _, held in find(params, pointer)):
            route = replace(route, scope=Scope.ADMIN)
        return Match(route, NO_PARAMS, known=True)

    def allowed_methods(self, target: Target) -> tuple[str, ...]:
        """Name the methods of a known path, for `Allow` (RFC 9110 section 10.2.1); empty for an unknown one."""
        segments, _ = self._strip(target.segments)
        entry = self._plain.find(segments)
        return entry.allowed if entry else ()

    def envelope_for(self, target: Target) -> Envelope:
        """Return the error shape of a path, whatever the method: for a refusal that `match` decided."""
        segments, prefix = self._strip(target.segments)
        entry = self._plain.find(segments)
        if entry is not None:
            return entry.envelope
        return self._unknown("GET", segments, prefix).route.envelope

    def knows(self, method: str, template: str) -> bool:
        """Tell whether the profile names a route, whatever its path parameters are called."""
        try:
            entry = self._plain.by_template(template)
        except ValueError:
            return False
        return entry is not None and method in entry.by_method

    def _strip(self, segments: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
        """Take one prefix off, once: what is left is not stripped again, by the upstream neither."""
        for parts in self._prefix_parts:
            if len(segments) > len(parts):
                params = bind(parts, segments)
                if params is not None:
                    return segments[len(parts) :], next(iter(params.values()))
        return segments, ""

    def _unknown(self, method: str, segments: tuple[str, ...], prefix: str) -> Match:
        envelope, scope, owned, run_param, params = self.envelope, Scope.RUN, None, "", NO_PARAMS
        for family in self.families:
            bound = bind(split_template(family.template), segments)
            if bound is not None:
                envelope, scope = family.envelope, family.scope
                owned, run_param, params = family.owned, family.run_param, bound
                break
        route = Route(
            method=method,
            template="",
            operation=UNKNOWN,
            scope=scope,
            envelope=envelope,
            turn=Turn.OPEN if method in _MAY_START_TURN else Turn.NONE,
            text=("",),
            checks=self.unknown_checks,
            run_param=run_param,
            stream=Stream.ASKED,
            owned=owned,
            headers=self.headers,
        )
        return Match(route, params, known=False, profile_prefix=prefix)


def undeclared(profile: Profile, announced: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Name the announced (method, path template) pairs that the profile does not know, as `METHOD path`, sorted.

    A pair that could not be a route at all is named too: nothing that is announced is silently skipped.
    """
    return tuple(
        sorted(f"{method} {path}" for method, path in set(announced) if not profile.knows(method, path))
    )
