"""What a profile says of the places where an upstream tells something: paths, pointers into answers, a page with its key."""

import re

from herma.content.node import Node
from herma.policy.message.html import PageKey
from herma.policy.routing.profile import Readout, RunStatus
from herma.policy.routing.turn_events import TurnEvents

__all__ = [
    "is_template",
    "read_exact_path",
    "read_page_key",
    "read_pointer",
    "read_pointers",
    "read_readout",
    "read_run_status",
    "read_template",
    "read_turn_events",
]

_TURN_EVENTS = ("begin", "done", "end", "fail", "stop", "leave")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_POINTER = re.compile(r"(?:/(?:[^~/]|~[01])*)*")
_TEMPLATE = re.compile(r"/|(?:/(?:\{[a-z_]+\}|[A-Za-z0-9._~-]+))+")


def is_template(text: str) -> bool:
    """Tell whether a text is a path, with or without parameters."""
    return _TEMPLATE.fullmatch(text) is not None


def read_template(node: Node) -> str:
    """Read the template of a path.

    Raises:
        ContentError: it is none.
    """
    template = node.text("path")
    if not _TEMPLATE.fullmatch(template):
        raise node.error("expected a path such as /v1/runs/{run_id}", "path")
    return template


def read_exact_path(node: Node, key: str) -> str:
    """Read a path without parameters; empty where there is none.

    Raises:
        ContentError: it is none.
    """
    path = node.text(key, "")
    if path and (not _TEMPLATE.fullmatch(path) or "{" in path):
        raise node.error("expected an exact path", key)
    return path


def read_pointer(node: Node, key: str) -> str:
    """Read a JSON Pointer.

    Raises:
        ContentError: it is none.
    """
    pointer = node.text(key)
    if not _POINTER.fullmatch(pointer):
        raise node.error("expected a JSON Pointer", key)
    return pointer


def read_pointers(node: Node, key: str) -> tuple[str, ...]:
    """Read JSON Pointers.

    Raises:
        ContentError: it is none.
    """
    pointers = node.texts(key)
    for index, pointer in enumerate(pointers):
        if not _POINTER.fullmatch(pointer):
            raise node.error("expected a JSON Pointer", key, index)
    return pointers


def read_readout(node: Node, key: str) -> Readout | None:
    """Read where the upstream tells something; None where it does not.

    Raises:
        ContentError: it is none.
    """
    found = node.node(key, ("path", "pointer"), ("path", "pointer"))
    return None if found is None else Readout(read_template(found), read_pointer(found, "pointer"))


def read_run_status(node: Node) -> RunStatus | None:
    """Read where the upstream tells how a run is; None where it does not.

    Raises:
        ContentError: it is none.
    """
    found = node.node("run_status", ("path", "pointer", "ended"), ("path", "pointer", "ended"))
    if found is None:
        return None
    ended = frozenset(found.texts("ended"))
    if not ended:
        raise found.error("a run that never ends would keep its slot for ever", "ended")
    return RunStatus(read_template(found), read_pointer(found, "pointer"), ended)


def read_turn_events(node: Node) -> TurnEvents | None:
    """Read how the upstream tells of the turns that calls start; None where it does not.

    Raises:
        ContentError: it is none.
    """
    keys = ("kind", "names", "call", "idle", *_TURN_EVENTS)
    found = node.node("turn_events", keys, ("kind", "names", "call"))
    if found is None:
        return None
    return found.checked(
        "kind",
        lambda: TurnEvents(
            kind=read_pointer(found, "kind"),
            names=read_pointers(found, "names"),
            call=read_pointer(found, "call"),
            idle=read_pointer(found, "idle"),
            **{key: frozenset(found.texts(key)) for key in _TURN_EVENTS},
        ),
    )


def read_page_key(node: Node) -> PageKey | None:
    """Read where the upstream writes its key into a page; None where it does not.

    Raises:
        ContentError: it is none.
    """
    found = node.node("page_key", ("path", "name"), ("path", "name"))
    if found is None:
        return None
    name = found.text("name")
    if not _VARIABLE.fullmatch(name):
        raise found.error("expected the name of a variable", "name")
    return PageKey(read_exact_path(found, "path"), name)
