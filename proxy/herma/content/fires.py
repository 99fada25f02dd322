"""The routes that start jobs, opened where the configuration says who may use them."""

from collections.abc import Mapping
from dataclasses import replace

from herma.config.settings import Settings
from herma.config.upstream import place_of
from herma.errors import ConfigError, Problem, Source
from herma.policy.routing.profile import Profile

__all__ = ["opened"]


def opened(profiles: Mapping[str, Profile], settings: Settings) -> dict[str, Profile]:
    """Give the profiles of all upstreams, with the route that starts jobs open where somebody may use it.

    Raises:
        ConfigError: an upstream has no such route; carries every problem.
    """
    problems, made = [], dict(profiles)
    for name, upstream in settings.all_upstreams().items():
        if upstream.cron_fire is None:
            continue
        profile = profiles[name]
        if not any(route.fires for route in profile.routes):
            place = ".".join((*map(str, place_of(name)), "cron_fire"))
            message = f"{place}: an upstream of the profile {profile.name} has no jobs to start; take it out"
            problems.append(Problem(Source(settings.path), "cron_fire.profile", message))
        routes = tuple(replace(route, closed=False) if route.fires else route for route in profile.routes)
        made[name] = replace(profile, routes=routes)
    if problems:
        raise ConfigError(problems)
    return made
