"""Path templates looked up by dictionary: one try for each set of parameter positions that a path length knows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from herma.policy.grant import Scope
from herma.policy.routing.route import Envelope, Route

__all__ = ["NO_PARAMS", "OPTIONS", "Entry", "RouteTable", "bind", "split_template"]

OPTIONS = "options"
"""The operation of an OPTIONS request for a known path that is no preflight: authenticated, nothing else."""

NO_PARAMS: Mapping[str, str] = MappingProxyType({})


type Shape = tuple[str | None, ...]
"""A template with None for each parameter."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One path template and its methods."""

    by_method: Mapping[str, Route]
    allowed: tuple[str, ...]
    envelope: Envelope
    names: tuple[tuple[int, str], ...]

    def params(self, segments: tuple[str, ...]) -> Mapping[str, str]:
        """Take the parameters out of a path of this template."""
        return {name: segments[index] for index, name in self.names} if self.names else NO_PARAMS


class RouteTable:
    """The routes of a profile by path.

    Raises:
        ValueError: two routes with the same method and path, or one path with different parameter names.
    """

    def __init__(self, routes: Sequence[Route]) -> None:
        groups: dict[Shape, list[Route]] = {}
        for route in routes:
            groups.setdefault(shape(route.template), []).append(route)
        self._entries = {known: _entry(group) for known, group in groups.items()}
        masks: dict[int, set[tuple[int, ...]]] = {}
        for known in groups:
            holes = tuple(index for index, part in enumerate(known) if part is None)
            masks.setdefault(len(known), set()).add(holes)
        # The fewer parameters the earlier: `/v1/runs/stats` is itself before it is `/v1/runs/{run_id}`.
        self._masks = {size: tuple(sorted(held, key=lambda m: (len(m), m))) for size, held in masks.items()}

    def find(self, segments: tuple[str, ...]) -> Entry | None:
        """Find the entry of a path."""
        for holes in self._masks.get(len(segments), ()):
            filled: Shape = segments
            if holes:
                # The last segment of a path with a trailing slash is empty, and no parameter.
                if not segments[-1]:
                    continue
                filled = tuple(None if index in holes else part for index, part in enumerate(segments))
            entry = self._entries.get(filled)
            if entry is not None:
                return entry
        return None

    def by_template(self, template: str) -> Entry | None:
        """Find the entry of a template, whatever its parameters are called."""
        return self._entries.get(shape(template))


def split_template(template: str) -> tuple[str, ...]:
    """Cut a template into its parts.

    Raises:
        ValueError: it does not start with a slash, or has an empty part.
    """
    parts = tuple(template.split("/")[1:])
    if not template.startswith("/") or (template != "/" and not all(parts)):
        raise ValueError("a path template starts with a slash and has no empty parts")
    return parts


def shape(template: str) -> Shape:
    """Forget the names of a template's parameters."""
    return tuple(None if _is_param(part) else part for part in split_template(template))


def bind(parts: tuple[str, ...], segments: tuple[str, ...]) -> Mapping[str, str] | None:
    """Match template parts with the first segments of a path; None if they differ, else the parameters."""
    if len(segments) < len(parts):
        return None
    params: dict[str, str] = {}
    for part, segment in zip(parts, segments, strict=False):
        if _is_param(part):
            if not segment:
                return None
            params[part[1:-1]] = segment
        elif part != segment:
            return None
    return params


def _is_param(part: str) -> bool:
    return part.startswith("{") and part.endswith("}")


def _entry(group: list[Route]) -> Entry:
    parts = split_template(group[0].template)
    by_method = {route.method: route for route in group}
    if len(by_method) != len(group):
        raise ValueError(f"two routes for one method of {group[0].template}")
    if any(route.template != group[0].template for route in group):
        raise ValueError(f"two names for one parameter of {group[0].template}")
    get = by_method.get("GET")
    if get is not None and "HEAD" not in by_method:
        # The upstream answers HEAD as it likes; for the gate it reads what GET reads.
        by_method["HEAD"] = replace(get, method="HEAD", public=False)
    allowed = tuple(sorted(by_method))
    envelope = group[0].envelope
    by_method.setdefault("OPTIONS", Route("OPTIONS", group[0].template, OPTIONS, Scope.STATUS, envelope))
    names = tuple((index, part[1:-1]) for index, part in enumerate(parts) if _is_param(part))
    return Entry(MappingProxyType(by_method), allowed, envelope, names)
