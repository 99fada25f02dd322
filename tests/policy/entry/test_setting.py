"""Claims about `herma.policy.entry.setting`."""

import pytest

from herma.policy.entry.entry import Entry, Kind
from herma.policy.entry.setting import Settings
from herma.policy.entry.source import Sources
from support.guard_content import rules

SETTINGS = Settings(rules("mcp"), Sources(rules("mcp")))
JUDGED: dict[str, tuple[Kind, dict[str, object], set[str]]] = {
    "approvals off": (Kind.SETTING, {"setting": "config.approvals.mode", "value": "off"}, {"setting:off"}),
    "approvals on": (Kind.SETTING, {"setting": "approvals.mode", "value": "manual"}, set()),
    "told in a text": (
        Kind.SETTING,
        {"setting": "approvals.mode", "value": "off", "told": True},
        {"told:off"},
    ),
    "any value": (Kind.SETTING, {"setting": "dashboard.public_url", "value": "x"}, {"setting:weak"}),
    "no value": (Kind.SETTING, {"setting": "dashboard.public_url", "value": ""}, set()),
    "an allowlist of everything": (
        Kind.SETTING,
        {"setting": "command_allowlist", "value": "*"},
        {"setting:off"},
    ),
    "an allowlist": (Kind.SETTING, {"setting": "command_allowlist", "value": "git *"}, set()),
    "all variables": (Kind.PASSES, {"passes": ["GH_TOKEN", "*"]}, {"setting:passes"}),
    "some variables": (Kind.PASSES, {"passes": ["GH_TOKEN"]}, set()),
    "a source": (Kind.SOURCE, {"source": "http://192.0.2.1/x.git"}, {"source:raw"}),
    "a command": (Kind.COMMAND, {"command": "x"}, set()),
    "a server": (Kind.SERVER, {"command": "x"}, set()),
}


@pytest.mark.parametrize(("kind", "fields", "effects"), JUDGED.values(), ids=JUDGED.keys())
def test_a_setting_counts_by_its_value(kind: Kind, fields: dict[str, object], effects: set[str]) -> None:
    """Guards that are turned off, secrets handed out and strangers' code are named."""
    assert set(SETTINGS.effects(Entry("", fields, "", kind))) == effects
