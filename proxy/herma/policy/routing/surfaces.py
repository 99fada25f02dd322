"""What an operator makes of a profile: which operations are switched on, and which scope each needs.

A profile lists operations that are `off`: with them whoever calls could run code on the agent's machine, read its keys or
replace it as a whole, and hardly anybody needs them from afar. They stay off until they are named.
"""

import difflib
from collections.abc import Mapping
from dataclasses import replace

from herma.policy.grant import Scope
from herma.policy.routing.profile import Profile
from herma.policy.routing.route import Route

__all__ = ["objection", "with_surfaces"]


def objection(profile: Profile, operation: str, scope: Scope | None) -> str:
    """Tell why an operation cannot be switched so; empty where it can."""
    known = (*profile.routes, *(call.route for call in profile.calls))
    routes = [route for route in known if route.operation == operation]
    if not routes:
        near = difflib.get_close_matches(operation, {route.operation for route in known}, n=1)
        fix = (
            f"did you mean {near[0]!r}?"
            if near
            else f"its routes stand in rules/profiles/{profile.name}.yaml"
        )
        return f"the profile {profile.name} has no operation {operation!r}; {fix}"
    if scope is not None and all(route.closed for route in routes):
        return f"{operation} is closed in the profile {profile.name}, and no scope opens it; take it out"
    return ""


def with_surfaces(profile: Profile, surfaces: Mapping[str, Scope | None]) -> Profile:
    """Give the profile with the scope of each operation that is named; None switches it off."""
    allowed: dict[str, Scope | None] = {**dict.fromkeys(profile.off), **surfaces}

    def switched(route: Route) -> Route:
        scope = allowed.get(route.operation, route.scope)
        return replace(route, off=True) if scope is None else replace(route, scope=scope, off=False)

    return replace(
        profile,
        routes=tuple(switched(route) for route in profile.routes),
        calls=tuple(replace(call, route=switched(call.route)) for call in profile.calls),
    )
