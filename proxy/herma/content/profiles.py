"""Profiles as data: one YAML file an upstream, read strictly.

A wrong profile would open a route or leave it unjudged, so nothing is guessed: unknown keys, values and check names are
errors with their place, and so are pointers and parameters that name nothing.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources.abc import Traversable
from typing import Final

from herma.content.node import Node
from herma.content.readouts import (
    is_template,
    read_exact_path,
    read_page_key,
    read_pointer,
    read_pointers,
    read_readout,
    read_run_status,
    read_template,
    read_turn_events,
)
from herma.content.shipped import data_dir
from herma.errors import ConfigError, ContentError, Source
from herma.policy.grant import Scope
from herma.policy.message.canonical import METHODS
from herma.policy.routing.calls import CALL, CallRoute
from herma.policy.routing.profile import Family, Profile
from herma.policy.routing.route import (
    Auth,
    Creates,
    Current,
    Dialect,
    Envelope,
    Owned,
    Route,
    Serves,
    Socket,
    Stream,
    Turn,
)
from herma.yamlfile import load

__all__ = ["load_profile", "parse_profile", "profile_names"]

# The largest profile, of the dashboard with its hundreds of routes, stays below 100 KiB.
MAX_PROFILE_BYTES: Final = 512 * 1024
# Inspections beyond the ones that every body goes through.
CHECKS: Final = frozenset({"approval", "cron", "prompt"})

_NAME = re.compile(r"[a-z][a-z0-9-]{0,63}")
_OPERATION = re.compile(r"[a-z]+(?:\.[a-z_]+)?")
_CALL = re.compile(r"[a-z]+(?:[._][a-z]+)*")
_MEMBER = re.compile(r"[A-Za-z_]{1,64}")
_PARAMETERS = re.compile(r"\{[^}]*\}")
_PARAM = re.compile(r"[a-z_]*")

_TOP: Final = (
    "name", "description", "min_version", "envelope", "liveness", "cookies", "stateless", "prefixes", "session_headers",
    "capabilities", "version", "running", "own_login", "guarded", "page_key", "run_status", "unknown_checks", "switched_off", "kept", "strict", "token_param", "families",
    "routes", "calls", "call_names", "call_places", "turn_events",
)  # fmt: skip
_ROUTE: Final = (
    "method", "path", "operation", "scope", "envelope", "turn", "stream", "dialect", "public", "max_body_bytes", "text",
    "checks", "run_param", "response_run_pointer", "auth", "owned", "creates", "refers", "headers", "closed",
    "encoded_slash", "null_body", "socket", "serves", "current", "reduced", "paths", "archives", "polled", "fires",
)  # fmt: skip
_CALLS: Final = (
    "names", "operation", "scope", "turn", "response_run_pointer", "at", "values", "text", "checks", "paths", "polled",
)  # fmt: skip
_CURRENT: Final = ("path", "pointer", "body", "merges", "param", "file", "items")
_ITEMS: Final = ("name", "value")
_FILE: Final = ("path", "pointer")
_FAMILY: Final = ("path", "envelope", "scope", "owned", "run_param")


def profile_names(directory: Traversable | None = None) -> tuple[str, ...]:
    """Name the profiles of a directory, by default the shipped ones."""
    place = data_dir("rules/profiles") if directory is None else directory
    names = (entry.name for entry in place.iterdir() if entry.name.endswith(".yaml"))
    return tuple(sorted(name.removesuffix(".yaml") for name in names))


def load_profile(name: str, directory: Traversable | None = None) -> Profile:
    """Read a profile by name, from `directory` or from what ships with Herma.

    Raises:
        ContentError: there is no such profile, or it cannot be used.
    """
    place = data_dir("rules/profiles") if directory is None else directory
    if not _NAME.fullmatch(name):
        raise ContentError("a profile's name is lower-case letters, digits and hyphens", Source(str(place)))
    entry = place.joinpath(f"{name}.yaml")
    try:
        text = entry.read_bytes()
    except OSError as error:
        known = ", ".join(profile_names(directory)) if place.is_dir() else "none"
        raise ContentError(f"no such profile; there are: {known}", Source(str(entry))) from error
    profile = parse_profile(text, str(entry))
    if profile.name != name:
        raise ContentError(f"the name must be the file's name, {name!r}", Source(str(entry)))
    return profile


def parse_profile(text: bytes, file: str) -> Profile:
    """Read a profile from the text of its file.

    Raises:
        ContentError: with the place of the first thing wrong.
    """
    try:
        loaded = load(text, file, max_bytes=MAX_PROFILE_BYTES)
    except ConfigError as error:
        raise ContentError(error.problems[0].message, error.problems[0].source) from error
    return _profile(Node(loaded, (), loaded.value, _TOP, ("name", "min_version", "routes")))


def _profile(top: Node) -> Profile:
    envelope = top.choice("envelope", Envelope, Envelope.OPENAI)
    headers = tuple(
        (name.lower().encode("ascii", "replace"), kind) for name, kind in top.pairs("session_headers")
    )
    routes = tuple(
        _route(node, envelope, dict(headers))
        for node in top.nodes("routes", _ROUTE, ("method", "path", "operation", "scope"))
    )
    if not routes:
        raise top.error("a profile without routes protects nothing", "routes")
    calls = tuple(
        call
        for node in top.nodes("calls", _CALLS, ("names", "operation", "scope"))
        for call in _calls(node, envelope)
    )
    every = (*routes, *(call.route for call in calls))
    off, kept = _named(top, "switched_off", every), _named(top, "kept", every)
    prefixes = top.texts("prefixes")
    for index, prefix in enumerate(prefixes):
        if not is_template(prefix) or prefix.count("{") != 1:
            raise top.error("expected a path with one {parameter}", "prefixes", index)
    families = tuple(_family(node, envelope) for node in top.nodes("families", _FAMILY, ("path",)))
    return top.checked(
        "routes",
        lambda: Profile(
            name=top.text("name"),
            min_version=top.text("min_version"),
            routes=tuple(_keeping(route, kept) for route in routes),
            liveness=top.text("liveness", '{"status":"ok"}'),
            prefixes=prefixes,
            families=families,
            headers=headers,
            unknown_checks=_checks(top, "unknown_checks"),
            off=off,
            strict=top.flag("strict"),
            calls=tuple(replace(call, route=_keeping(call.route, kept)) for call in calls),
            call_names=read_pointers(top, "call_names"),
            call_places=read_pointers(top, "call_places"),
            turn_events=read_turn_events(top),
            token_param=_param(top, "token_param"),
            envelope=envelope,
            cookies=top.flag("cookies"),
            stateless=top.flag("stateless"),
            capabilities=read_readout(top, "capabilities"),
            running=read_readout(top, "running"),
            own_login=read_readout(top, "own_login"),
            guarded=read_exact_path(top, "guarded"),
            page_key=read_page_key(top),
            version=read_readout(top, "version"),
            run_status=read_run_status(top),
        ),
    )


def _route(node: Node, envelope: Envelope, session_headers: dict[bytes, str]) -> Route:
    method = node.text("method")
    if method.encode("ascii", "replace") not in METHODS:
        raise node.error("expected a method in capitals that the gate lets in", "method")
    operation = _operation(node)
    template = read_template(node)
    auth = node.choice("auth", Auth, Auth.KEY)
    public = node.flag("public")
    if public and (method != "GET" or "{" in template or auth is not Auth.KEY):
        raise node.error("only an exact GET path can be public", "public")
    return Route(
        method=method,
        template=template,
        operation=operation,
        scope=node.choice("scope", Scope, Scope.ADMIN),
        envelope=node.choice("envelope", Envelope, envelope),
        turn=node.choice("turn", Turn, Turn.NONE),
        dialect=node.choice("dialect", Dialect, Dialect.OPENAI_CHAT) if node.has("dialect") else None,
        public=public,
        max_body_bytes=node.size("max_body_bytes"),
        null_body=node.flag("null_body"),
        text=read_pointers(node, "text"),
        checks=_checks(node, "checks"),
        run_param=_run_param(node, template),
        response_run_pointer=read_pointer(node, "response_run_pointer"),
        auth=auth,
        stream=node.choice("stream", Stream, Stream.NEVER),
        owned=_owned(node, template),
        creates=tuple(
            _created(made) for made in node.nodes("creates", ("kind", "pointer", "header"), ("kind",))
        ),
        refers=tuple(
            (named.text("kind"), read_pointer(named, "pointer"))
            for named in node.nodes("refers", ("kind", "pointer"), ("kind", "pointer"))
        ),
        headers=_headers(node, session_headers),
        closed=node.flag("closed"),
        encoded_slash=node.flag("encoded_slash"),
        socket=node.choice("socket", Socket, Socket.MESSAGES),
        serves=_serves(node, method),
        current=_current(node, template),
        reduced=_members(node, "reduced"),
        paths=_paths(node, "paths"),
        archives=_paths(node, "archives"),
        polled=_polled(node, method),
        fires=_fires(node, auth),
    )


def _fires(node: Node, auth: Auth) -> str:
    path = node.text("fires")
    if path and not (is_template(path) and path.count("{job_id}") == path.count("{") == 1):
        raise node.error("expected a path with the parameter {job_id}", "fires")
    if path and auth is not Auth.JWT:
        raise node.error("only a route with `auth: jwt` starts jobs", "fires")
    return path


def _serves(node: Node, method: str) -> Serves:
    serves = node.choice("serves", Serves, Serves.ANSWERS)
    if serves is not Serves.ANSWERS and method != "GET":
        raise node.error("only a GET has a page or a file for its answer", "serves")
    return serves


def _polled(node: Node, method: str) -> bool:
    polled = node.flag("polled")
    if polled and method != "GET":
        raise node.error("only a GET is asked by itself", "polled")
    return polled


def _current(node: Node, template: str) -> Current | None:
    found = node.node("current", _CURRENT, ("path",))
    if found is None:
        return None
    file, items = found.node("file", _FILE, ("path", "pointer")), found.node("items", _ITEMS, _ITEMS)
    path = read_template(found)
    if not set(_PARAMETERS.findall(path)) <= set(_PARAMETERS.findall(template)):
        raise found.error("expected a path with no other parameters than those of the route", "path")
    return Current(
        path=path,
        pointer=read_pointer(found, "pointer"),
        body=read_pointer(found, "body"),
        merges=found.flag("merges"),
        param=_param(found, "param"),
        file=_exact(file) if file is not None else "",
        file_pointer=read_pointer(file, "pointer") if file is not None else "",
        items=(_member(items, "name"), _member(items, "value")) if items is not None else None,
    )


def _exact(node: Node) -> str:
    path = read_template(node)
    if "{" in path:
        raise node.error("expected a path without parameters", "path")
    return path


def _operation(node: Node) -> str:
    operation = node.text("operation")
    if not _OPERATION.fullmatch(operation):
        raise node.error("expected lower-case words such as run.start", "operation")
    return operation


def _calls(node: Node, envelope: Envelope) -> Iterator[CallRoute]:
    """Read one entry of `calls`: methods that ask for the same."""
    at, values = read_pointer(node, "at"), node.texts("values")
    if bool(at) != bool(values):
        raise node.error("`at` and `values` say together which calls of the method are meant", "at")
    for index, name in enumerate(node.texts("names")):
        if not _CALL.fullmatch(name):
            raise node.error("expected the method of a call such as session.create", "names", index)
        route = Route(
            method=CALL,
            template=name,
            operation=_operation(node),
            scope=node.choice("scope", Scope, Scope.ADMIN),
            envelope=envelope,
            turn=node.choice("turn", Turn, Turn.NONE),
            response_run_pointer=read_pointer(node, "response_run_pointer"),
            text=read_pointers(node, "text"),
            checks=_checks(node, "checks"),
            paths=_paths(node, "paths"),
            polled=node.flag("polled"),
        )
        yield CallRoute(route, at, frozenset(values))


def _family(node: Node, envelope: Envelope) -> Family:
    template = read_template(node)
    return Family(
        template=template,
        envelope=node.choice("envelope", Envelope, envelope),
        scope=node.choice("scope", Scope, Scope.RUN),
        owned=_owned(node, template),
        run_param=_run_param(node, template),
    )


def _owned(node: Node, template: str) -> Owned | None:
    owned = node.node("owned", ("kind", "param"), ("kind", "param"))
    if owned is None:
        return None
    found = Owned(owned.text("kind"), owned.text("param"))
    if f"{{{found.param}}}" not in template:
        raise owned.error("the path has no such parameter", "param")
    return found


def _run_param(node: Node, template: str) -> str:
    name = node.text("run_param")
    if name and f"{{{name}}}" not in template:
        raise node.error("the path has no such parameter", "run_param")
    return name


def _created(node: Node) -> Creates:
    made = Creates(
        node.text("kind"),
        read_pointer(node, "pointer"),
        node.text("header").lower().encode("ascii", "replace"),
    )
    if bool(made.pointer) == bool(made.header):
        raise node.error("expected either a pointer or a header")
    return made


def _headers(node: Node, known: dict[bytes, str]) -> tuple[tuple[bytes, str], ...]:
    names = [name.encode("ascii", "replace") for name in node.texts("headers")]
    for index, name in enumerate(names):
        if name not in known:
            raise node.error("expected one of the names in session_headers", "headers", index)
    return tuple((name, known[name]) for name in names)


def _checks(node: Node, key: str) -> tuple[str, ...]:
    names = node.texts(key)
    for index, name in enumerate(names):
        if name not in CHECKS:
            raise node.error(f"expected one of {', '.join(sorted(CHECKS))}", key, index)
    if "prompt" in names and key == "checks" and not node.texts("text"):
        raise node.error("the check `prompt` looks at `text`, and there is none", key)
    return names


def _named(top: Node, key: str, routes: tuple[Route, ...]) -> frozenset[str]:
    names = top.texts(key)
    for index, name in enumerate(names):
        if all(route.operation != name for route in routes):
            raise top.error("expected an operation of one of the routes", key, index)
    return frozenset(names)


def _keeping(route: Route, kept: frozenset[str]) -> Route:
    return replace(route, keeps=True) if route.operation in kept else route


def _param(node: Node, key: str) -> str:
    name = node.text(key)
    if not _PARAM.fullmatch(name):
        raise node.error("expected the name of a query parameter, in lower case", key)
    return name


def _paths(node: Node, key: str) -> tuple[str, ...]:
    names = node.texts(key)
    for index, name in enumerate(names):
        if not _MEMBER.fullmatch(name):
            raise node.error("expected the name of a parameter or of a member of the body", key, index)
    return names


def _member(node: Node, key: str) -> str:
    name = node.text(key)
    if not _MEMBER.fullmatch(name):
        raise node.error("expected the name of a member", key)
    return name


def _members(node: Node, key: str) -> tuple[str, ...]:
    pointers = read_pointers(node, key)
    if "" in pointers or any("*" in pointer for pointer in pointers):
        raise node.error("expected pointers to single members", key)
    return pointers
