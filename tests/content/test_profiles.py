"""Profiles are read strictly, and the shipped ones say what they have to."""

from pathlib import Path

import pytest

from herma.content.profiles import load_profile, parse_profile, profile_names
from herma.errors import ContentError
from herma.policy.grant import Scope
from herma.policy.routing.route import (
    Creates,
    Current,
    Dialect,
    Envelope,
    Owned,
    Serves,
    Socket,
    Stream,
    Turn,
)

MINIMAL = """\
name: tiny
min_version: '1'
session_headers: {X-Session: session}
routes:
  - method: POST
    path: /a/{x}
    operation: a.do
    scope: run
"""


def test_shipped_profiles_are_usable() -> None:
    """Every shipped file is a profile of its own name."""
    assert profile_names() == tuple(sorted(profile_names()))
    assert {"hermes-api", "hermes-dashboard", "openai"} <= set(profile_names())
    assert [load_profile(name).name for name in profile_names()] == list(profile_names())


@pytest.mark.parametrize("name", ["hermes-api", "openai"])
def test_shipped_profiles_are_closed_by_default(name: str) -> None:
    """Only liveness is public; what starts a turn needs a scope that may; streams have a dialect or are opaque."""
    for route in load_profile(name).routes:
        assert route.public is (route.template in {"/health", "/v1/health"})
        if route.turn is not Turn.NONE:
            assert route.scope in {Scope.RUN, Scope.CRON, Scope.ADMIN}
        if route.turn is Turn.BACKGROUND:
            assert route.response_run_pointer
        if route.dialect is not None:
            assert route.stream is not Stream.NEVER
        if route.run_param:
            assert route.owned == Owned("run", route.run_param)


def test_the_dashboard_gives_nothing_away() -> None:
    """Only the status is public; the logins are closed, and what gives the machine away is off."""
    profile = load_profile("hermes-dashboard")
    assert profile.strict
    assert [route.template for route in profile.routes if route.public] == ["/api/status"]
    closed = {route.operation for route in profile.routes if route.closed}
    assert {"page.api", "login", "event.write", "cron.fire"} <= closed
    served = {route.template for route in profile.routes if route.serves is Serves.PAGE}
    assert {"/", "/chat", "/config", "/profiles/new"} <= served
    assert {"shell", "secret.read", "file.write", "hook.write", "plugin.install", "restore"} <= profile.off
    assert {"guard.write", "billing.write", "chat.terminal"} <= profile.off
    assert (profile.call_names, profile.call_places) == (("/profile", "/slug"), ("/cwd",))
    sockets = {
        route.template: route.socket for route in profile.routes if route.socket is not Socket.MESSAGES
    }
    assert sockets == {
        "/api/ws": Socket.CALLS,
        "/api/pty": Socket.TERMINAL,
        "/api/events": Socket.EVENTS,
        "/api/plugins/kanban/events": Socket.EVENTS,
    }
    for route in profile.routes:
        if route.operation.endswith((".write", ".install", ".update")) and route.method != "GET":
            assert route.scope in {Scope.ADMIN, Scope.RUN, Scope.CRON}, route.template
        if route.scope in {Scope.STATUS, Scope.READ}:
            assert route.method == "GET", route.template


def test_the_dashboard_knows_what_may_be_called() -> None:
    """What gives a shell is off however it is called, what reads needs no more than the scope `read`."""
    profile = load_profile("hermes-dashboard")
    by_operation = {call.route.operation: set[str]() for call in profile.calls}
    for call in profile.calls:
        by_operation[call.route.operation].add(call.name)
        if call.route.scope is Scope.READ:
            assert call.route.operation in {"read", "session.read"}, call.name
    assert by_operation["shell"] == {"shell.exec", "cli.exec", "slash.exec", "command.dispatch"}
    assert by_operation["guard.write"] == {"config.set"}
    assert {"secret.write", "plugin.install", "file.read", "mcp.run"} <= set(by_operation)


def test_calls_are_read() -> None:
    """Several methods may ask for the same; a word in the parameters may ask for less."""
    text = (
        MINIMAL
        + """token_param: token
calls:
  - {names: [a.get, b_c], operation: read, scope: read}
  - {names: [job], at: /action, values: [list], operation: read, scope: read}
  - {names: [job], operation: job.write, scope: admin, text: [/p], checks: [prompt]}
"""
    )
    profile = parse_profile(text.encode(), "tiny.yaml")
    assert profile.token_param == "token"
    assert [(call.name, call.at, set(call.values)) for call in profile.calls] == [
        ("a.get", "", set()),
        ("b_c", "", set()),
        ("job", "/action", {"list"}),
        ("job", "", set()),
    ]
    last = profile.calls[-1].route
    assert (last.operation, last.scope, last.text, last.checks) == (
        "job.write",
        Scope.ADMIN,
        ("/p",),
        ("prompt",),
    )


def test_every_run_verb_belongs_to_the_owner() -> None:
    """No route below a run, a stored response or a session is open to a key that does not own it."""
    for route in load_profile("hermes-api").routes:
        for param, kind in (("run_id", "run"), ("response_id", "response"), ("session_id", "session")):
            if f"{{{param}}}" in route.template:
                assert route.owned == Owned(kind, param), route.template


def test_minimal_profile_is_read() -> None:
    """What is not said is the strict default."""
    profile = parse_profile(MINIMAL.encode(), "tiny.yaml")
    assert (profile.name, profile.liveness, profile.envelope) == ("tiny", '{"status":"ok"}', Envelope.OPENAI)
    assert profile.headers == ((b"x-session", "session"),)
    assert profile.capabilities is None
    assert profile.run_status is None
    assert not profile.cookies


def test_full_route_is_read() -> None:
    """Every field of a route arrives."""
    profile = parse_profile(
        (
            MINIMAL
            + """\
    envelope: flat
    turn: background
    stream: always
    dialect: hermes.run
    max_body_bytes: 10
    text: ['', /a/*/b~1c]
    checks: [cron]
    run_param: x
    response_run_pointer: /id
    auth: adapter
    owned: {kind: run, param: x}
    creates: [{kind: run, pointer: /id}, {kind: session, header: X-Session}]
    refers: [{kind: session, pointer: /s}]
    headers: [x-session]
    closed: true
    current: {path: /a, pointer: /now, body: /new, merges: true, param: profile}
    reduced: [/up, /a/b]
    paths: [path, worktreePath]
kept: [a.do]
"""
        ).encode(),
        "tiny.yaml",
    )
    (route,) = profile.routes
    assert (route.envelope, route.turn, route.stream) == (Envelope.FLAT, Turn.BACKGROUND, Stream.ALWAYS)
    assert (route.dialect, route.max_body_bytes, route.auth) == (Dialect.HERMES_RUN, 10, "adapter")
    assert (route.text, route.checks) == (("", "/a/*/b~1c"), ("cron",))
    assert (route.run_param, route.response_run_pointer, route.closed) == ("x", "/id", True)
    assert route.owned == Owned("run", "x")
    assert route.creates == (Creates("run", "/id"), Creates("session", header=b"x-session"))
    assert route.refers == (("session", "/s"),)
    assert route.headers == ((b"x-session", "session"),)
    assert route.current == Current("/a", "/now", "/new", merges=True, param="profile")
    assert route.keeps
    assert route.reduced == ("/up", "/a/b")
    assert route.paths == ("path", "worktreePath")


def test_what_the_dashboard_asks_by_itself_is_said() -> None:
    """Else a page that is left open would keep its session alive."""
    profile = load_profile("hermes-dashboard")
    polled = {route.template for route in profile.routes if route.polled}
    assert {"/api/status", "/api/sessions", "/api/logs", "/api/actions/{name}/status"} <= polled
    assert "/api/config" not in polled
    assert [call.route.template for call in profile.calls if call.route.polled] == ["session.create"]


def test_what_is_held_may_be_told_as_a_list_below_the_path_of_the_write() -> None:
    """As the settings of a provider are."""
    current = "    current: {path: '/a/{x}/now', pointer: /f, body: /v, items: {name: key, value: value}}\n"
    (route,) = parse_profile((MINIMAL + current).encode(), "tiny.yaml").routes
    assert route.current == Current("/a/{x}/now", "/f", "/v", items=("key", "value"))


def test_every_route_of_files_says_what_its_paths_are() -> None:
    """Else a path would be no path to the gate."""
    profile = load_profile("hermes-dashboard")
    routes = [route for route in profile.routes if route.operation.startswith("file.")]
    assert len(routes) > 25
    assert all("path" in route.paths for route in routes)
    calls = [call.route for call in profile.calls if call.route.operation == "file.read"]
    assert calls
    assert all("path" in route.paths for route in calls)


def test_what_the_dashboard_keeps_is_said() -> None:
    """A masked value is refused there, over a socket too; a chat may quote one."""
    profile = load_profile("hermes-dashboard")
    keeps = {route.operation for route in profile.routes if route.keeps}
    assert {"config.write", "secret.write", "mcp.write", "cron.update"} <= keeps
    assert "board.write" not in keeps
    calls = {call.name for call in profile.calls if call.route.keeps}
    assert {"config.set", "model.save_key", "cron.manage"} <= calls
    assert "prompt.submit" not in calls
    compared = {route.template: route.current for route in profile.routes if route.current}
    assert set(compared) == {
        "/api/config",
        "/api/config/raw",
        "/api/mcp/servers",
        "/api/memory/providers/{name}/config",
        "/api/model/moa",
    }
    for where in compared.values():
        assert profile.knows("GET", where.path)


WRONG = {
    "unknown key": ("    colour: red\n", "unknown key"),
    "method": (MINIMAL.replace("POST", "post"), "capitals"),
    "trace": (MINIMAL.replace("POST", "TRACE"), "capitals"),
    "operation": (MINIMAL.replace("a.do", "A Do"), "lower-case words"),
    "scope": (MINIMAL.replace("scope: run", "scope: root"), "expected one of"),
    "path": (MINIMAL.replace("/a/{x}", "/a//{x}"), "expected a path"),
    "path with a star": (MINIMAL.replace("/a/{x}", "/a/*"), "expected a path"),
    "public with a parameter": ("    public: true\n", "only an exact GET path"),
    "public post": (MINIMAL.replace("/a/{x}", "/a") + "    public: true\n", "only an exact GET path"),
    "public without our key": (
        MINIMAL.replace("/a/{x}", "/a").replace("POST", "GET") + "    public: true\n    auth: jwt\n",
        "only an exact GET path",
    ),
    "owned param": ("    owned: {kind: run, param: y}\n", "no such parameter"),
    "run param": ("    run_param: y\n", "no such parameter"),
    "pointer": ("    text: [a]\n", "JSON Pointer"),
    "run pointer": ("    response_run_pointer: id\n", "JSON Pointer"),
    "check": ("    checks: [corn]\n", "expected one of approval, cron, prompt"),
    "header": ("    headers: [x-other]\n", "session_headers"),
    "creates nothing": ("    creates: [{kind: run}]\n", "either a pointer or a header"),
    "creates both": ("    creates: [{kind: run, pointer: /a, header: b}]\n", "either a pointer or a header"),
    "duplicate": ("  - {method: POST, path: '/a/{x}', operation: a, scope: run}\n", "two routes"),
    "no routes": ("name: tiny\nmin_version: '1'\nroutes: []\n", "protects nothing"),
    "missing": ("name: tiny\nroutes: []\n", "'min_version' is missing"),
    "prefix": (MINIMAL + "prefixes: [/p]\n", "one {parameter}"),
    "prefix without a slash": (MINIMAL + "prefixes: ['p/{x}']\n", "one {parameter}"),
    "family": (MINIMAL + "families: [{path: a}]\n", "expected a path"),
    "never ends": (MINIMAL + "run_status: {path: /a, pointer: /s, ended: []}\n", "never ends"),
    "readout": (MINIMAL + "running: {path: a, pointer: /s}\n", "expected a path"),
    "guarded path": (MINIMAL + "guarded: /api/{id}\n", "expected an exact path"),
    "prompt without text": ("    checks: [prompt]\n", "there is none"),
    "switched off": (MINIMAL + "switched_off: [b.do]\n", "an operation of one of the routes"),
    "kept": (MINIMAL + "kept: [b.do]\n", "an operation of one of the routes"),
    "current": ("    current: {path: '/a/{y}'}\n", "no other parameters"),
    "current file": (
        "    current: {path: /a, file: {path: '/a/{x}', pointer: /y}}\n",
        "without parameters",
    ),
    "current items": ("    current: {path: /a, items: {name: /k, value: v}}\n", "name of a member"),
    "current pointer": ("    current: {path: /a, body: b}\n", "JSON Pointer"),
    "current parameter": ("    current: {path: /a, body: /b, param: 'A b'}\n", "name of a query parameter"),
    "paths": ("    paths: [/path]\n", "the name of a parameter"),
    "reduced": ("    reduced: [/up, /a/*]\n", "single members"),
    "polled": ("    polled: true\n", "only a GET"),
    "serves": ("    serves: page\n", "only a GET"),
    "socket": ("    socket: raw\n", "expected one of messages"),
    "call": (MINIMAL + "calls: [{names: [A-b], operation: read, scope: read}]\n", "method of a call"),
    "call operation": (MINIMAL + "calls: [{names: [a], operation: A, scope: read}]\n", "lower-case words"),
    "call condition": (
        MINIMAL + "calls: [{names: [a], operation: a, scope: read, at: /x}]\n",
        "say together",
    ),
    "turn without an end": (
        MINIMAL + "turn_events: {kind: /a, names: [/b], call: /c, begin: [x]}\n",
        "never ends",
    ),
    "turn untold": (
        MINIMAL + "calls: [{names: [a], operation: a, scope: run, turn: open}]\n",
        "no `turn_events`",
    ),
    "call for the rest": (
        MINIMAL + "calls: [{names: [a], operation: a, scope: read, at: /x, values: [b]}]\n",
        "exactly one entry",
    ),
    "call prompt": (
        MINIMAL + "calls: [{names: [a], operation: a, scope: read, checks: [prompt]}]\n",
        "there is none",
    ),
    "token": (MINIMAL + "token_param: To ken\n", "name of a query parameter"),
    "yaml": ("\tx", "valid YAML"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_profile_stops_the_start(name: str) -> None:
    """What is not understood is an error with its place, never a route that is quietly something else."""
    text, message = WRONG[name]
    whole = text if text.startswith(("name", "\t")) else MINIMAL + text
    with pytest.raises(ContentError, match=message) as caught:
        parse_profile(whole.encode(), "tiny.yaml")
    assert caught.value.source.file == "tiny.yaml"


def test_profile_is_found_by_name_in_a_directory(tmp_path: Path) -> None:
    """An operator's directory is read instead of the shipped one, and nothing outside of it."""
    (tmp_path / "tiny.yaml").write_text(MINIMAL)
    assert profile_names(tmp_path) == ("tiny",)
    assert load_profile("tiny", tmp_path).name == "tiny"
    with pytest.raises(ContentError, match="no such profile; there are: tiny"):
        load_profile("hermes-api", tmp_path)
    with pytest.raises(ContentError, match="no such profile; there are: none"):
        load_profile("tiny", tmp_path / "missing")
    with pytest.raises(ContentError, match="lower-case letters"):
        load_profile("../tiny", tmp_path)


def test_file_name_and_profile_name_agree(tmp_path: Path) -> None:
    """A profile under a wrong file name is refused."""
    (tmp_path / "other.yaml").write_text(MINIMAL)
    with pytest.raises(ContentError, match="must be the file's name"):
        load_profile("other", tmp_path)
