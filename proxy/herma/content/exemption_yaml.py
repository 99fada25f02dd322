"""An exemption as it stands in a configuration, for whoever wants to copy it there."""

from collections.abc import Iterable, Iterator

from herma.policy.exemption import Exemption

__all__ = ["exemption_yaml"]


def exemption_yaml(exemptions: Iterable[Exemption]) -> Iterator[str]:
    """Write the lines; the reason is left empty on purpose: the configuration is not valid until somebody has said why."""
    yield "exemptions:"
    for one in exemptions:
        yield f"  - rule: {one.rule_id}"
        yield f"    subject: {{{one.subject.kind}: {_quoted(one.subject.name)}}}"
        if one.digest:
            yield f"    digest: {one.digest}"
        yield f"    expires: {one.expires.isoformat()}"
        yield "    reason: ''"


def _quoted(name: str) -> str:
    # YAML single quotes know one escape: the quote, doubled.
    return "'" + name.replace("'", "''") + "'"
