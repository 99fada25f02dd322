"""Surfaces of the configuration, once the profile is known."""

import pytest

from herma.content.profiles import load_profile
from herma.content.surfaces import switched
from herma.errors import ConfigError
from support.config_text import parsed


def test_what_is_named_is_switched() -> None:
    """Everything else stays as the profile has it."""
    settings = parsed("surfaces: {shell: {scope: admin}, mcp.write: {scope: off}}\n")
    before = load_profile("hermes-dashboard")
    after = switched({"default": before}, settings.surfaces)["default"]
    routes = (*after.routes, *(call.route for call in after.calls))
    off = {route.operation for route in routes if route.off}
    assert off == (before.off | {"mcp.write"}) - {"shell"}


def test_every_wrong_name_is_told_with_its_place() -> None:
    """All of them at once."""
    settings = parsed("surfaces:\n  shel: {scope: admin}\n  login: {scope: admin}\n  page: {scope: off}\n")
    with pytest.raises(ConfigError) as caught:
        switched({"default": load_profile("hermes-dashboard")}, settings.surfaces)
    first, second = caught.value.problems
    assert (first.source.column, second.source.line - first.source.line) == (3, 1)
    assert "did you mean 'shell'?" in first.message
    assert "login is closed" in second.message


def test_an_operation_of_any_upstream_can_be_named() -> None:
    """One table says who may use what, behind whichever upstream it is."""
    settings = parsed("surfaces: {shell: {scope: admin}}\n")
    profiles = {"default": load_profile("hermes-api"), "dashboard": load_profile("hermes-dashboard")}
    after = switched(profiles, settings.surfaces)
    assert after["default"] == profiles["default"]
    assert not [
        call for call in after["dashboard"].calls if call.route.operation == "shell" and call.route.off
    ]
