"""How platforms, the hosts of models and the services are listed beside the rules."""

from collections.abc import Sequence
from typing import Any

from herma.content.egress import MODELS, SERVICES, PlatformFile
from herma.content.library import EGRESS, Library
from herma.policy.egress.host_pattern import HostPattern
from herma.policy.egress.service import Service

__all__ = [
    "models_line",
    "models_summary",
    "platform_line",
    "platform_summary",
    "services_line",
    "services_summary",
]

_MODELS_TITLE = "Hosts that serve models"
_SERVICES_TITLE = "Services that are shown the agent's keys"


def platform_line(file: PlatformFile) -> str:
    """Write a platform on one line; one without hosts waits for those of the configuration."""
    platform = file.platform
    title = f"{platform.title} (hosts: `egress.platforms`)" if file.self_hosted else platform.title
    return f"{EGRESS:<9}  {platform.id:<32}  {'platform':<8}  {'':<6}  {title}"


def platform_summary(file: PlatformFile) -> dict[str, Any]:
    """Write a platform as JSON values."""
    return {
        "family": EGRESS,
        "kind": "platform",
        "id": file.platform.id,
        "title": file.platform.title,
        "hosts": [_written(host) for host in file.platform.hosts],
        "self_hosted": file.self_hosted,
        "file": file.source.file,
    }


def models_line(hosts: Sequence[HostPattern]) -> tuple[str, ...]:
    """Write the hosts of models on one line; none where there are none."""
    line = f"{EGRESS:<9}  {MODELS:<32}  {'models':<8}  {'':<6}  {_MODELS_TITLE}"
    return (line,) if hosts else ()


def models_summary(hosts: Sequence[HostPattern], library: Library) -> list[dict[str, Any]]:
    """Write the hosts of models as JSON values; none where there are none."""
    return [
        {
            "family": EGRESS,
            "kind": "models",
            "id": MODELS,
            "title": _MODELS_TITLE,
            "hosts": [_written(host) for host in hosts],
            "file": str(file),
        }
        for file in library.egress_files(MODELS)[:1]
        if hosts
    ]


def services_line(services: Sequence[Service]) -> tuple[str, ...]:
    """Write the services on one line; none where there are none."""
    line = f"{EGRESS:<9}  {SERVICES:<32}  {'services':<8}  {'':<6}  {_SERVICES_TITLE}"
    return (line,) if services else ()


def services_summary(services: Sequence[Service], library: Library) -> list[dict[str, Any]]:
    """Write the services as JSON values; none where there are none."""
    return [
        {
            "family": EGRESS,
            "kind": "services",
            "id": SERVICES,
            "title": _SERVICES_TITLE,
            "hosts": [_written(host) for service in services for host in service.hosts],
            "file": str(file),
        }
        for file in library.egress_files(SERVICES)[:1]
        if services
    ]


def _written(host: HostPattern) -> str:
    """Write a pattern as a configuration has it."""
    name = f"[{host.name}]" if ":" in host.name else host.name
    return f"{'*.' if host.below else ''}{name}{'' if host.port is None else f':{host.port}'}"
