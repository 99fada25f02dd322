"""Claims about `herma.policy.entry.directory`."""

import pytest

from herma.policy.command.shell import read_script
from herma.policy.entry.effect import effects
from herma.policy.entry.vocabulary import Vocabulary
from support.guard_content import rules

VOCABULARY = Vocabulary(rules("mcp"))

PLACES = {
    "a directory in a directory": "cd /etc; cd cron.d; cp /srv/x x",
    "a directory that is pushed": "pushd /etc/cron.d; cp /srv/x x",
    "an option's directory": "env -C /etc/cron.d cp /srv/x x",
    "an option with its directory": "git --chdir=/etc/cron.d x; tar --directory=/etc/cron.d -xf /srv/x.tar; cp x /etc/cron.d/y",
}


@pytest.mark.parametrize("script", PLACES.values(), ids=PLACES.keys())
def test_paths_are_seen_from_where_a_command_runs(script: str) -> None:
    """A relative path may lie in every directory that was changed to."""
    assert "writes:boot" in effects(read_script(script), VOCABULARY)


def test_a_long_walk_is_refused_and_a_short_one_is_none() -> None:
    """Each relative change doubles where one may be."""
    walk = "; ".join(f"cd d{number}" for number in range(9))
    assert "runs:temporary" in effects(read_script(walk), VOCABULARY)
    assert "runs:temporary" not in effects(read_script("cd ~/src && cd server && x"), VOCABULARY)
