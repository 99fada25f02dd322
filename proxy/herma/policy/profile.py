"""What an upstream's routes mean, and which one a request asks for.

A path is matched exactly, by case and by segment: `/v1/runs/`, `/V1/runs` and `/v1/runs/x/y` are other paths than the
ones the profile names. Whatever is not named is `unknown`: authenticated, counted as a turn when it may start one,
inspected with everything there is, and never public.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from herma.policy.decision import Deny
from herma.policy.grant import Scope
from herma.policy.route import Auth, Creates, Dialect, Envelope, Owned, Route, Stream, Turn
from herma.policy.target import Target

__all__ = [
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

OPTIONS = "options"
"""The operation of an OPTIONS request for a known path that is no preflight: authenticated, nothing else."""

_NO_PARAMS: Mapping[str, str] = MappingProxyType({})
# What may change something may also start a turn.
_MAY_START_TURN = frozenset({"POST", "PUT", "PATCH"})


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


@dataclass(frozen=True)
class Profile:
    """The routes of one kind of upstream.

    `prefixes` are templates with one parameter that every route also has in front of it. `liveness` is the whole body
    that a caller without a key gets from a public route. `capabilities` tells where the upstream lists its routes,
    `running` how many turns it runs; None where it tells neither.

    Raises:
        ValueError: two routes with the same method and path, or a template that cannot be matched.
    """

    name: str
    min_version: str
    routes: tuple[Route, ...]
    liveness: str = '{"status":"ok"}'
    prefixes: tuple[str, ...] = ()
    families: tuple[Family, ...] = ()
    headers: tuple[tuple[bytes, str], ...] = ()
    unknown_checks: tuple[str, ...] = ()
    envelope: Envelope = Envelope.OPENAI
    cookies: bool = False
    capabilities: Readout | None = None
    running: Readout | None = None
    version: Readout | None = None
    run_status: RunStatus | None = None
    _plain: "_Table" = field(init=False, repr=False, compare=False)
    _prefixed: "_Table" = field(init=False, repr=False, compare=False)
    _prefix_parts: tuple[tuple[str, ...], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Build the tables; a prefixed twin of a public route is not public, only the exact path is."""
        object.__setattr__(self, "_plain", _Table(self.routes))
        object.__setattr__(self, "_prefixed", _Table([replace(route, public=False) for route in self.routes]))
        object.__setattr__(self, "_prefix_parts", tuple(_parts(prefix) for prefix in self.prefixes))

    def match(self, method: str, target: Target) -> Match | Deny:
        """Find the route; a known path with another method is 405, a closed route is 403, all else is a match."""
        segments, prefix = self._strip(target.segments)
        table = self._prefixed if prefix else self._plain
        entry = table.find(segments)
        if entry is None:
            return self._unknown(method, segments, prefix)
        route = entry.by_method.get(method)
        if route is None:
            return Deny(405, "herma.route.method", f"This path takes {', '.join(entry.allowed)} only.")
        if route.closed:
            return Deny(403, "herma.route.closed", "This route is closed at the gate.")
        return Match(route, entry.params(segments), known=True, profile_prefix=prefix)

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
            return next(iter(entry.by_method.values())).envelope
        return self._unknown("GET", segments, prefix).route.envelope

    def knows(self, method: str, template: str) -> bool:
        """Tell whether the profile names a route, whatever its path parameters are called."""
        entry = self._plain.shapes.get(_shape(_parts(template)))
        return entry is not None and method in entry.by_method

    def _strip(self, segments: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
        """Take one prefix off, once: what is left is not stripped again, by the upstream neither."""
        for parts in self._prefix_parts:
            if len(segments) > len(parts):
                params = _bind(parts, segments)
                if params is not None:
                    return segments[len(parts) :], next(iter(params.values()))
        return segments, ""

    def _unknown(self, method: str, segments: tuple[str, ...], prefix: str) -> Match:
        envelope, scope, owned, run_param, params = self.envelope, Scope.RUN, None, "", _NO_PARAMS
        for family in self.families:
            bound = _bind(_parts(family.template), segments)
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


@dataclass(frozen=True, slots=True)
class _Entry:
    """One path template and its methods."""

    by_method: Mapping[str, Route]
    allowed: tuple[str, ...]
    names: tuple[tuple[int, str], ...]

    def params(self, segments: tuple[str, ...]) -> Mapping[str, str]:
        return {name: segments[index] for index, name in self.names} if self.names else _NO_PARAMS


class _Table:
    """Path templates, looked up by dictionary: one try for each set of parameter positions a length knows."""

    def __init__(self, routes: Sequence[Route]) -> None:
        by_shape: dict[tuple[str, ...], list[Route]] = {}
        for route in routes:
            by_shape.setdefault(_shape(_parts(route.template)), []).append(route)
        self.shapes = {shape: _entry(group) for shape, group in by_shape.items()}
        masks: dict[int, set[tuple[int, ...]]] = {}
        for shape in by_shape:
            holes = tuple(index for index, part in enumerate(shape) if not part)
            masks.setdefault(len(shape), set()).add(holes)
        # The fewer parameters the earlier: `/v1/runs/stats` is itself before it is `/v1/runs/{run_id}`.
        self._masks = {size: tuple(sorted(held, key=lambda m: (len(m), m))) for size, held in masks.items()}

    def find(self, segments: tuple[str, ...]) -> _Entry | None:
        # An empty segment (a trailing slash) stands for a parameter in a shape: it must never be looked up.
        if not segments[-1] and segments != ("",):
            return None
        for holes in self._masks.get(len(segments), ()):
            if not holes:
                shape = segments
            else:
                filled = list(segments)
                for index in holes:
                    filled[index] = ""
                shape = tuple(filled)
            entry = self.shapes.get(shape)
            if entry is not None:
                return entry
        return None


def _entry(group: list[Route]) -> _Entry:
    template = _parts(group[0].template)
    names = tuple((index, part[1:-1]) for index, part in enumerate(template) if part.startswith("{"))
    by_method = {route.method: route for route in group}
    if len(by_method) != len(group):
        raise ValueError(f"two routes for the same method and path: {group[0].template}")
    if any(_parts(route.template) != template for route in group):
        raise ValueError(f"the same path with other parameter names: {group[0].template}")
    get = by_method.get("GET")
    if get is not None and "HEAD" not in by_method:
        by_method["HEAD"] = replace(get, method="HEAD", public=False)
    allowed = tuple(sorted(by_method))
    by_method.setdefault(
        "OPTIONS", Route("OPTIONS", group[0].template, OPTIONS, Scope.STATUS, group[0].envelope)
    )
    return _Entry(MappingProxyType(by_method), allowed, names)


def _parts(template: str) -> tuple[str, ...]:
    parts = tuple(template.split("/")[1:])
    if not template.startswith("/") or (template != "/" and not all(parts)):
        raise ValueError(f"not a path template: {template!r}")
    return parts


def _shape(parts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple("" if part.startswith("{") and part.endswith("}") else part for part in parts)


def _bind(parts: tuple[str, ...], segments: tuple[str, ...]) -> Mapping[str, str] | None:
    """Match template parts with the first segments; None if they differ, else the parameters."""
    if len(segments) < len(parts):
        return None
    params: dict[str, str] = {}
    for part, segment in zip(parts, segments, strict=False):
        if part.startswith("{"):
            if not segment:
                return None
            params[part[1:-1]] = segment
        elif part != segment:
            return None
    return params
