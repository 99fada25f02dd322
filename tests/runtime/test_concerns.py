"""What the console shows in red."""

from dataclasses import replace

import pytest

from herma.config.load import parse
from herma.config.settings import Settings, Tls
from herma.config.values import FilePath
from herma.console import Concern, Upstream
from herma.content.profiles import load_profile
from herma.content.shipped import data_dir
from herma.runtime.concerns import concerns
from support.config_text import FAKE_KEY

KEY = "auth: {keys: [{name: laptop, key: '${KEY}', scopes: [admin]}]}\n"
ENVIRON = {"KEY": FAKE_KEY}


def settings(extra: str = "", *, key: bool = True, profile: str = "hermes-api") -> Settings:
    text = f"upstream: {{url: 'http://127.0.0.1:8642', profile: {profile}}}\n{KEY if key else ''}{extra}"
    return parse(text.encode(), "herma.yaml", ENVIRON)


def found(made: Settings, *upstreams: Upstream) -> tuple[Concern, ...]:
    profiles = [
        load_profile(upstream.profile, data_dir("rules").joinpath("profiles"))
        for upstream in made.all_upstreams().values()
    ]
    return concerns(replace(made, warnings=()), profiles, upstreams)


def test_a_gate_with_a_key_on_loopback_has_none() -> None:
    """The defaults are safe."""
    assert found(settings()) == ()


CASES = {
    "monitored": (settings("checks: {cron_scan: {mode: monitor}}\n"), "checks.cron_scan is in mode monitor."),
    "off": (settings("checks: {mcp_guard: {mode: 'off'}}\n"), "checks.mcp_guard is in mode off."),
    "unmasked": (settings("redaction: {mode: monitor}\n"), "redaction is in mode monitor."),
    "surface": (
        settings("surfaces: {chat.terminal: {scope: admin}}\n", profile="hermes-dashboard"),
        "The surface chat.terminal is switched on.",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_makes_it_weaker_is_grave(case: str) -> None:
    """It is named as the configuration names it."""
    made, what = CASES[case]
    (concern,) = found(made)
    assert concern.what == what
    assert concern.grave
    assert concern.advice


def test_a_surface_that_is_off_or_was_open_anyway_is_none() -> None:
    """Only what the profile holds closed and the configuration opens."""
    made = settings(
        "surfaces: {chat.terminal: {scope: 'off'}, status: {scope: admin}}\n", profile="hermes-dashboard"
    )
    assert found(made) == ()


def test_an_agent_beside_the_gate_comes_first() -> None:
    """Everything that is refused can go round."""
    exposed = Upstream("default", "http://127.0.0.1:8642", "hermes-api", True, "", exposed=("0.0.0.0",))
    first, second = found(settings("checks: {cron_scan: {mode: monitor}}\n"), exposed)
    assert "default can be reached beside the gate, on 0.0.0.0" in first.what
    assert "cron_scan" in second.what


def test_what_is_meant_to_be_so_is_a_note() -> None:
    """A public listener, an exemption and an indicator that is left out are told, after what is grave."""
    made = settings(
        "listen: [{address: '0.0.0.0:8443', public_names: [gate.example]}]\n"
        "exemptions: [{rule: mcp-tunnel, subject: {server: notes}, reason: known for years, expires: 2027-01-31}]\n"
        "content: {ioc_suppress: [{id: axios-npm-06, reason: our own mirror of it}]}\n"
        "checks: {cron_scan: {mode: monitor}}\n"
    )
    grave, listener, exempt, suppressed = found(made)
    assert [one.grave for one in (grave, listener, exempt, suppressed)] == [True, False, False, False]
    assert listener.what == "0.0.0.0:8443 can be reached by others, without TLS of its own."
    assert exempt.what == "The rule mcp-tunnel is not applied to one subject until 2027-01-31."
    assert exempt.advice == "Known for years."
    assert suppressed.what == "The indicator axios-npm-06 is not used."


def test_a_public_listener_in_clear_is_grave() -> None:
    """The warning of the configuration says so, beside the note; with TLS there is the note alone."""
    made = settings("listen: [{address: '0.0.0.0:8443', public_names: [gate.example]}]\n")
    shown = {one.what: one.grave for one in concerns(made, (), ())}
    assert shown["listen.cleartext."]
    assert shown["0.0.0.0:8443 can be reached by others, without TLS of its own."] is False
    listener = replace(made.listen[0], tls=Tls(FilePath("c"), FilePath("k")))
    (note,) = found(replace(made, listen=(listener,)))
    assert (note.grave, note.what.endswith("with TLS.")) == (False, True)


def test_warnings_of_the_configuration_are_shown() -> None:
    """As `herma check` tells them; that nobody has to say who they are is one."""
    (concern,) = (one for one in concerns(settings(key=False), (), ()) if one.what == "auth.none.")
    assert concern.advice.startswith("No key: everybody who can connect may call")
    assert concern.grave
