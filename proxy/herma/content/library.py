"""All content that one configuration judges by: what ships with Herma or replaces it, and what operators add.

An operator's rule is added to the others and never replaces one: two rules of one id are an error, so that nobody switches
a rule off by accident.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from herma.config.exemption import Exemption
from herma.config.settings import Content
from herma.content.egress import PlatformFile, load_models, load_platforms, load_services, read_platforms
from herma.content.exemptions import read_exemptions
from herma.content.ioc import Collection, IndicatorSources, collect, load_public_key
from herma.content.likeness import load_likeness
from herma.content.rule_file import load_rule
from herma.content.rules import load_rules, read_rule_file, rule_files
from herma.content.shipped import data_dir
from herma.content.vocabulary import load_vocabulary
from herma.errors import ContentError, Source
from herma.policy.checks import RuleSet
from herma.policy.checks.content_judge import ContentJudge
from herma.policy.egress.host_pattern import HostPattern
from herma.policy.egress.platform import Platform
from herma.policy.egress.service import Service
from herma.policy.indicator import IndicatorSet
from herma.policy.redaction.redactor import Redactor
from herma.policy.routing.profile import Profile
from herma.policy.rule import Rule
from herma.policy.secret import Secret

__all__ = ["EGRESS", "FAMILIES", "Library"]

# The families of rules, each a directory of that name.
FAMILIES: Final = ("mcp", "cron", "redaction")
# The directory of platforms, of hosts that serve models and of services, which are no rules but stand beside them.
EGRESS: Final = "egress"

# An id is the name of a file, and never a path.
_ID: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")


class Library:
    """Reads content where the configuration says it is; keeps nothing but the places."""

    def __init__(self, content: Content | None = None) -> None:
        """Take the places; without a configuration, what ships with Herma.

        Raises:
            ContentError: the shipped data is missing, or a directory of own rules holds none.
        """
        content = content or Content()
        self.base: Traversable = Path(content.rules_dir) if content.rules_dir else data_dir("rules")
        self._own = tuple(map(Path, content.rules_dirs))
        self._content = content
        for directory in self._own:
            _examine(directory)

    def rules(self, family: str) -> tuple[Rule, ...]:
        """Read and prove the rules of one family.

        Raises:
            ContentError: with the place of the first thing wrong.
        """
        return load_rules(self.base.joinpath(family), family, self._own_of(family))

    def _own_of(self, family: str) -> list[Path]:
        return [place for directory in self._own if (place := directory / family).is_dir()]

    def platforms(self, hosts: Mapping[str, Sequence[HostPattern]] | None = None) -> tuple[Platform, ...]:
        """Read the chat platforms that have hosts; `hosts` gives them more, by the platform's id.

        Raises:
            ContentError: a file cannot be used, a host is taken twice, or hosts are of no platform.
        """
        return load_platforms(self.base.joinpath(EGRESS), hosts, self._own_of(EGRESS))

    def platform_files(self) -> tuple[PlatformFile, ...]:
        """Read the files of all platforms, with hosts or without, and their examples.

        Raises:
            ContentError: a file cannot be used.
        """
        return read_platforms(self.base.joinpath(EGRESS), self._own_of(EGRESS))

    def egress_files(self, identifier: str) -> tuple[Traversable, ...]:
        """Find the files of a platform, or those of models or services; none when there are none of this id."""
        if not _ID.fullmatch(identifier):
            return ()
        found = (place.joinpath(EGRESS, f"{identifier}.yaml") for place in (self.base, *self._own))
        return tuple(file for file in found if file.is_file())

    def models(self) -> tuple[HostPattern, ...]:
        """Read the hosts that serve models.

        Raises:
            ContentError: a file cannot be used.
        """
        return load_models(self.base.joinpath(EGRESS), self._own_of(EGRESS))

    def services(self) -> tuple[Service, ...]:
        """Read the services that are shown keys.

        Raises:
            ContentError: a file cannot be used.
        """
        return load_services(self.base.joinpath(EGRESS), self._own_of(EGRESS))

    def rule(self, rule_id: str) -> Rule | None:
        """Read one rule; None when there is none of this id.

        Raises:
            ContentError: its file cannot be used.
        """
        if not _ID.fullmatch(rule_id):
            return None
        for family in FAMILIES:
            for directory in (*self._own, self.base):
                file = directory.joinpath(family, f"{rule_id}.yaml")
                if file.is_file():
                    return load_rule(read_rule_file(file), str(file), family)
        return None

    def file_of(self, rule: Rule) -> str:
        """Tell which file defines a rule of this library."""
        return str(self._defining(rule))

    def text_of(self, rule: Rule) -> str:
        """Give the text of the file that defines a rule of this library."""
        return read_rule_file(self._defining(rule)).decode()

    def _defining(self, rule: Rule) -> Traversable:
        for directory in self._own:
            if (file := directory / rule.family / f"{rule.id}.yaml").is_file():
                return file
        return self.base.joinpath(rule.family, f"{rule.id}.yaml")

    def rule_set(
        self,
        exemptions: Sequence[Exemption] = (),
        profiles: Iterable[Profile] = (),
        indicators: IndicatorSet | None = None,
    ) -> RuleSet:
        """Read what entries and jobs are judged by; without profiles, exempted routes are not looked up.

        Indicators that were read already are not read again: their files could be others by now.

        Raises:
            ContentError: a file cannot be used.
            ConfigError: an exemption names a rule or a route that does not exist.
        """
        cron, mcp = self.rules("cron"), self.rules("mcp")
        found = RuleSet(
            cron=cron,
            mcp=mcp,
            words=load_vocabulary(self.base.joinpath("cron", "words")),
            likeness=load_likeness(self.base.joinpath("cron")),
            indicators=indicators or self.indicators(),
            exemptions=read_exemptions(exemptions, (*cron, *mcp), profiles),
        )
        if self._own or self._content.rules_dir:
            # Only what is made of rules tells whether their options mean something; what ships is proved by the suite.
            self._made(lambda: ContentJudge(found, None))
        return found

    def _made[T](self, make: Callable[[], T]) -> T:
        try:
            return make()
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            places = ", ".join(map(str, self._own)) or str(self.base)
            message = f"the options of a rule cannot be used: {type(error).__name__}: {error}"
            raise ContentError(message, Source(places)) from error

    def indicators(self) -> IndicatorSet:
        """Read the indicators.

        Raises:
            ContentError: a file cannot be used.
        """
        return self.collection(datetime.now(UTC)).indicators()

    def collection(self, now: datetime, floors: Mapping[str, int] | None = None) -> Collection:
        """Read the indicators with all that is known about them.

        Args:
            now: When it is, for what begins and ends.
            floors: The serials that were accepted before, by directory.

        Raises:
            ContentError: a file cannot be used, is not signed, or is older than what was accepted before.
        """
        content = self._content
        sources = IndicatorSources(
            base=Path(content.ioc_dir) if content.ioc_dir else data_dir("ioc"),
            shipped=not content.ioc_dir,
            more=tuple(map(Path, content.ioc_dirs)),
            keys=tuple(map(load_public_key, content.ioc_public_keys)),
            minimum=content.ioc_minimum_serial,
            suppressed={str(one.id): str(one.reason) for one in content.ioc_suppress},
        )
        return collect(sources, now, floors)

    def redactor(self, key: Secret, optional: Sequence[str] = ()) -> Redactor:
        """Make the redactor with the optional classes that are named, by the ids of their rules.

        Raises:
            ContentError: a rule cannot be used.
        """
        rules = self.rules("redaction")
        return self._made(lambda: Redactor(rules, key, optional))


def _examine(directory: Path) -> None:
    """Refuse a directory whose rules would not be read: they are looked for below the names of the families."""
    known = (*FAMILIES, EGRESS)
    families = " or ".join(f"{family}/" for family in known)
    if stray := rule_files(directory):
        raise ContentError(f"a rule stands in {families} of its directory; move it", Source(str(stray[0])))
    if (words := directory / "cron" / "words").exists():
        message = "own words are not read; a rule of your own uses those that ship, or a pattern"
        raise ContentError(message, Source(str(words)))
    if not any((directory / family).is_dir() for family in known):
        raise ContentError(f"no rules here; they were expected in {families}", Source(str(directory)))
