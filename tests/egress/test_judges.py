"""What the gate judges by."""

from pathlib import Path

from herma.config.load import load
from herma.egress.judges import Judges, read_judges
from herma.policy.decision import Allow, Deny
from herma.policy.egress.destination import destination
from herma.policy.egress.outward import Kind
from herma.policy.egress.watched import Watched
from support.redactor import KEY

SECTION = """
egress:
  mode: allow-list
  hosts: [listed.example.com]
  pinned: [pinned.example.com]
  models: [model.example.com]
  platforms: {matrix: {hosts: [matrix.example.org]}}
"""


def judges(directory: Path) -> Judges:
    """Read a configuration."""
    file = directory / "herma.yaml"
    file.write_text("upstream: {url: 'http://127.0.0.1:9'}" + SECTION)
    settings = load(file, {})
    assert settings.egress is not None
    return read_judges(settings, settings.egress, KEY, Watched(KEY))


def test_who_is_known_is_listed(tmp_path: Path) -> None:
    """Platforms, models and pinned hosts as well."""
    found = judges(tmp_path)
    for name in (
        "listed.example.com",
        "pinned.example.com",
        "model.example.com",
        "matrix.example.org",
        "api.telegram.org",
    ):
        place = destination(name, 443)
        assert place is not None
        assert isinstance(found.destinations.asked(place), Allow), name
    stranger = destination("stranger.example.com", 443)
    assert stranger is not None
    assert isinstance(found.destinations.asked(stranger), Deny)


def test_what_goes_to_models_and_pinned_hosts_is_not_read(tmp_path: Path) -> None:
    """A platform has a name, nobody else."""
    found = judges(tmp_path)
    seen = {}
    for name in ("listed.example.com", "pinned.example.com", "model.example.com", "matrix.example.org"):
        place = destination(name, 443)
        assert place is not None
        seen[name.partition(".")[0]] = (found.unread(place), found.platform(place), found.outward.kind(place))
    assert seen == {
        "listed": (False, "", Kind.OTHER),
        "pinned": (True, "", Kind.OTHER),
        "model": (True, "", Kind.MODEL),
        "matrix": (False, "matrix", Kind.PLATFORM),
    }
