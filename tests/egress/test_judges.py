"""What the gate judges by."""

from pathlib import Path

from herma.config.load import load
from herma.egress.judges import Judges, read_judges
from herma.policy.decision import Allow, Deny
from herma.policy.egress.destination import destination
from herma.policy.egress.outward import Kind
from herma.policy.egress.platform import InUse
from herma.policy.egress.watched import Watched
from support.redactor import KEY

SECTION = """
egress:
  mode: allow-list
  hosts: [listed.example.com]
  pinned: [pinned.example.com]
  models: [model.example.com]
  services: [service.example.com]
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
    """Platforms, models and pinned hosts as well; services only where somebody named them for this agent."""
    found = judges(tmp_path)
    for name in (
        "listed.example.com",
        "pinned.example.com",
        "model.example.com",
        "service.example.com",
        "matrix.example.org",
        "api.telegram.org",
    ):
        place = destination(name, 443)
        assert place is not None
        assert isinstance(found.destinations.asked(place), Allow), name
    for name in ("stranger.example.com", "api.github.com"):
        place = destination(name, 443)
        assert place is not None
        assert isinstance(found.destinations.asked(place), Deny), name


def test_what_goes_to_models_and_pinned_hosts_is_not_read(tmp_path: Path) -> None:
    """A platform has a name, nobody else."""
    found = judges(tmp_path)
    seen = {}
    for name in (
        *(f"{one}.example.com" for one in ("listed", "pinned", "model", "service")),
        "matrix.example.org",
    ):
        place = destination(name, 443)
        assert place is not None
        seen[name.partition(".")[0]] = (found.unread(place), found.platform(place), found.outward.kind(place))
    assert seen == {
        "listed": (False, "", Kind.OTHER),
        "pinned": (True, "", Kind.OTHER),
        "model": (True, "", Kind.MODEL),
        "service": (False, "", Kind.SERVICE),
        "matrix": (False, "matrix", Kind.PLATFORM),
    }


def test_what_is_shown_or_recorded_holds_no_watched_line(tmp_path: Path) -> None:
    """Whatever the mode of the look for them is."""
    line = "k3y-0f-th3-t3st-0001"
    file = tmp_path / "herma.yaml"
    file.write_text("upstream: {url: 'http://127.0.0.1:9'}\negress: {exfiltration: monitor}")
    settings = load(file, {})
    assert settings.egress is not None
    found = read_judges(settings, settings.egress, KEY, Watched.of(KEY, [f"NOTE={line}"]))
    shown, findings = found.masker.body(f"see {line}".encode(), b"text/plain", InUse(()))
    assert line.encode() not in shown
    assert findings
