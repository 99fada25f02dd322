"""What the gate judges by: read from the configuration and its content, and put in the place of what was read before."""

from dataclasses import dataclass

from herma.config.egress import Egress, Sealed
from herma.config.settings import Settings
from herma.content.library import Library
from herma.policy.egress.destination import Destination, Destinations
from herma.policy.egress.exfiltration import Exfiltration
from herma.policy.egress.host_pattern import HostPattern, covered
from herma.policy.egress.masking import Masker
from herma.policy.egress.outward import Kind, Outward
from herma.policy.egress.platform import Platforms
from herma.policy.egress.service import Service, Services
from herma.policy.egress.watched import Watched
from herma.policy.secret import Secret

__all__ = ["Judges", "read_judges"]


@dataclass(frozen=True, slots=True)
class Judges:
    """All that judges; one value, so that no request is judged by two versions of it.

    `masker` is for what is shown or recorded, and knows what is watched in every mode. `pinned` are hosts whose programs trust no
    authority but their own.
    """

    destinations: Destinations
    outward: Outward
    platforms: Platforms
    masker: Masker
    pinned: tuple[HostPattern, ...] = ()

    def unread(self, place: Destination) -> bool:
        """Tell whether what goes there is not looked at."""
        return self.outward.kind(place) is Kind.MODEL or covered(self.pinned, place.name, place.port)

    def platform(self, place: Destination) -> str:
        """Name the platform of a destination; nothing for others."""
        found = self.platforms.at(place.name, place.port)
        return "" if found is None else found.id


def read_judges(settings: Settings, egress: Egress, key: Secret, watched: Watched) -> Judges:
    """Read rules, platforms, models, services and indicators; this takes a moment and touches files only.

    Args:
        settings: Where the files are.
        egress: The section of the gate.
        key: Of the fingerprints, where the settings name none.
        watched: What stands in the watched files.

    Raises:
        ContentError: a file cannot be used.
    """
    library = Library(settings.content)
    known = library.platforms({name: one.hosts for name, one in egress.platforms.items()})
    models = (*library.models(), *egress.models)
    services = Services((*library.services(), Service("egress.services", egress.services)))
    redactor = library.redactor(
        settings.redaction.fingerprint_key or key, [kind.rule_id for kind in settings.redaction.optional]
    )
    platforms, masker = Platforms(known), Masker(redactor)
    # In mode `allow-list` whom the gate knows is listed, too; of services only those that somebody named for this agent.
    named = (*egress.hosts, *egress.services, *egress.pinned)
    listed = (*named, *models, *(host for one in known for host in one.hosts))
    return Judges(
        destinations=Destinations(egress.mode, library.indicators(), listed, egress.near),
        outward=Outward(
            platforms,
            models,
            masker,
            Exfiltration(redactor, watched),
            egress.exfiltration,
            services=services,
            pass_sealed=egress.sealed is Sealed.PASS,
        ),
        platforms=platforms,
        masker=masker.knowing(watched),
        pinned=egress.pinned,
    )
