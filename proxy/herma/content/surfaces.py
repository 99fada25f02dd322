"""The configured surfaces, once the profiles are known: each must name an operation that can be switched.

A wrong name would leave open what was meant to be off.
"""

from collections.abc import Mapping

from herma.config.surface import Surface
from herma.errors import ConfigError, Problem
from herma.policy.routing.profile import Profile
from herma.policy.routing.surfaces import objection, with_surfaces

__all__ = ["switched"]


def switched(profiles: Mapping[str, Profile], configured: Mapping[str, Surface]) -> dict[str, Profile]:
    """Give the profiles of all upstreams as they are configured; an operation is switched in every one that has it.

    Raises:
        ConfigError: an operation is in none of them, or cannot be opened in any; carries every problem.
    """
    problems = []
    for name, surface in configured.items():
        messages = [objection(profile, name, surface.scope.scope) for profile in profiles.values()]
        if all(messages):
            problems.append(Problem(surface.at, "surfaces.operation", messages[-1]))
    if problems:
        raise ConfigError(problems)
    scopes = {name: surface.scope.scope for name, surface in configured.items()}
    return {name: with_surfaces(profile, scopes) for name, profile in profiles.items()}
