"""What an operator makes of a profile: which operations are switched on, and which scope each needs.

A profile lists operations that are `off`: with them whoever calls could run code on the agent's machine, read its keys or
replace it as a whole, and hardly anybody needs them from afar. They stay off until they are named.
"""

from collections.abc import Mapping
from dataclasses import replace

from herma.policy.grant import Scope
from herma.policy.routing.profile import Profile

__all__ = ["with_surfaces"]


def with_surfaces(profile: Profile, surfaces: Mapping[str, Scope | None]) -> Profile:
    """Give the profile with the scope of each operation that is named; None switches it off.

    Raises:
        ValueError: the profile has no such operation, or all its routes are closed whoever asks.
    """
    operations = {route.operation for route in profile.routes}
    reachable = {route.operation for route in profile.routes if not route.closed}
    for name, scope in surfaces.items():
        if name not in operations:
            known = ", ".join(sorted(reachable))
            raise ValueError(f"the profile {profile.name} has no operation {name!r}; it has {known}")
        if scope is not None and name not in reachable:
            raise ValueError(f"{name} is closed in the profile {profile.name}; no scope opens it")
    allowed: dict[str, Scope | None] = {**dict.fromkeys(profile.off), **surfaces}
    routes = []
    for route in profile.routes:
        scope = allowed.get(route.operation, route.scope)
        routes.append(replace(route, off=True) if scope is None else replace(route, scope=scope, off=False))
    return replace(profile, routes=tuple(routes))
