"""The configured exemptions, once the rules are known: each must name a rule and a route that exist.

A rule that was renamed or removed would leave an exemption that means nothing today and something tomorrow.
"""

from collections.abc import Iterable, Sequence

from herma.config.exemption import Exemption as Configured
from herma.errors import ConfigError, Problem
from herma.policy.exemption import Exemption, Exemptions, Kind, Subject, route_name
from herma.policy.routing.profile import Profile
from herma.policy.rule import Rule

__all__ = ["read_exemptions"]


def read_exemptions(
    configured: Sequence[Configured], rules: Iterable[Rule], profiles: Iterable[Profile]
) -> Exemptions:
    """Make the exemptions that the checks apply; without profiles, routes are not looked up.

    A route is exempt at every upstream that has it.

    Indicators, bounds and the checks of callers cannot be exempted: they are no rules.

    Raises:
        ConfigError: one names a rule or a route that does not exist; carries every problem.
    """
    ids = {rule.id for rule in rules}
    routes = {route_name(route) for profile in profiles for route in profile.routes}
    problems: list[Problem] = []
    for one in configured:
        if one.rule not in ids:
            problems.append(Problem(one.at, "exemptions.rule", _unknown_rule(one.rule)))
        if routes and one.subject.route is not None and one.subject.route not in routes:
            message = (
                f"no profile in use has a route {one.subject.route}; write method and template as it does"
            )
            problems.append(Problem(one.at, "exemptions.route", message))
    if problems:
        raise ConfigError(problems)
    return Exemptions([_made(one) for one in configured])


def _unknown_rule(rule: str) -> str:
    if rule.startswith("ioc-"):
        return f"{rule} is an indicator, which cannot be exempted; correct the indicator itself"
    return f"no rule for entries or prompts has the id {rule}; `herma rules list` shows them"


def _made(one: Configured) -> Exemption:
    subject = one.subject
    if subject.server is not None:
        kind, name = Kind.SERVER, str(subject.server)
    elif subject.job is not None:
        kind, name = Kind.JOB, str(subject.job)
    else:
        kind, name = Kind.ROUTE, str(subject.route)
    return Exemption(str(one.rule), Subject(kind, name), one.expires, str(one.digest or ""))
