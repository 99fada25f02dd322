"""The configured surfaces, once the profile is known: each must name an operation that can be switched.

A wrong name would leave open what was meant to be off.
"""

from collections.abc import Mapping

from herma.config.surface import Surface
from herma.errors import ConfigError, Problem
from herma.policy.routing.profile import Profile
from herma.policy.routing.surfaces import objection, with_surfaces

__all__ = ["switched"]


def switched(profile: Profile, configured: Mapping[str, Surface]) -> Profile:
    """Give the profile as it is configured.

    Raises:
        ConfigError: an operation is not there, or cannot be opened; carries every problem.
    """
    problems = [
        Problem(surface.at, "surfaces.operation", message)
        for name, surface in configured.items()
        if (message := objection(profile, name, surface.scope.scope))
    ]
    if problems:
        raise ConfigError(problems)
    return with_surfaces(profile, {name: surface.scope.scope for name, surface in configured.items()})
