"""Tokens that start jobs are for one agent server and for nothing else: judged once the whole configuration is read."""

from herma.config.reader import Reader
from herma.config.settings import Settings
from herma.config.upstream import place_of
from herma.errors import Source

__all__ = ["judge_audiences"]


def judge_audiences(reader: Reader, settings: Settings) -> None:
    """Refuse an issuer and audience that stand for more than one purpose, or for more than one agent server (RFC 8725 section 3.9)."""
    served: dict[tuple[str, str], Source] = {
        (one.issuer, one.audience): reader.at(("auth", "tokens", index, "audience"))
        for index, one in enumerate(settings.auth.tokens)
    }
    for name, upstream in settings.all_upstreams().items():
        issuers = upstream.cron_fire.issuers if upstream.cron_fire is not None else ()
        for index, one in enumerate(issuers):
            at = reader.at((*place_of(name), "cron_fire", "issuers", index, "audience"))
            earlier = served.setdefault((one.issuer, one.audience), at)
            if earlier is not at:
                message = f"the same issuer and audience are at {earlier}; give each purpose and each agent server its own"
                reader.problem(at, "cron_fire.audience", message)
