"""What of a configuration makes the gate weaker than it can be, told in red on the console.

None of it is wrong: the configuration was accepted, and each has its reasons. But whoever looks at the gate should see it.
"""

from collections.abc import Iterable, Iterator

from herma.config.settings import Settings
from herma.config.surface import SurfaceScope
from herma.console import Concern, Upstream
from herma.policy.decision import Mode
from herma.policy.routing.profile import Profile

__all__ = ["concerns"]


def concerns(
    settings: Settings, profiles: Iterable[Profile], upstreams: Iterable[Upstream]
) -> tuple[Concern, ...]:
    """List them, the grave ones first."""
    found = [
        *(
            Concern(
                f"{one.name} can be reached beside the gate, on {', '.join(one.exposed)}.",
                "Bind the agent to 127.0.0.1: whatever is refused here can go round.",
            )
            for one in upstreams
            if one.exposed
        ),
        *_checks(settings),
        *_surfaces(settings, profiles),
        *(Concern(f"{warning.code}.", _sentence(warning.message)) for warning in settings.warnings),
        *_listeners(settings),
        *_left_out(settings),
    ]
    return tuple(sorted(found, key=lambda concern: not concern.grave))


def _checks(settings: Settings) -> Iterator[Concern]:
    for name, mode in settings.modes().items():
        if mode is not Mode.ENFORCE:
            yield _weakened(f"checks.{name}", mode, "passes")
    if settings.redaction.mode is not Mode.ENFORCE:
        yield _weakened("redaction", settings.redaction.mode, "leaves unmasked")


def _weakened(name: str, mode: Mode, what: str) -> Concern:
    does = f"only reports what it {what}" if mode is Mode.MONITOR else "does not look at anything"
    return Concern(f"{name} is in mode {mode.value}.", f"It {does}. Set `{name}.mode: enforce`.")


def _surfaces(settings: Settings, profiles: Iterable[Profile]) -> Iterator[Concern]:
    closed = {operation for profile in profiles for operation in profile.off}
    for name, surface in settings.surfaces.items():
        if surface.scope is not SurfaceScope.OFF and name in closed:
            advice = f"It is off by default, because it gives much away; here the scope {surface.scope.value} is enough."
            yield Concern(f"The surface {name} is switched on.", advice)


def _listeners(settings: Settings) -> Iterator[Concern]:
    for listener in settings.listen:
        if listener.public:
            # That nothing ends TLS is a warning of the configuration, and stands there as such.
            how = "with TLS" if listener.tls else "without TLS of its own"
            what = f"{listener.address} can be reached by others, {how}."
            yield Concern(what, "That is what the gate is for; see that it is meant.", grave=False)


def _left_out(settings: Settings) -> Iterator[Concern]:
    for one in settings.exemptions:
        what = f"The rule {one.rule} is not applied to one subject until {one.expires}."
        yield Concern(what, _sentence(str(one.reason)), grave=False)
    for suppressed in settings.content.ioc_suppress:
        what = f"The indicator {suppressed.id} is not used."
        yield Concern(what, _sentence(str(suppressed.reason)), grave=False)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].removesuffix('.')}."
