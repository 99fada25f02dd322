"""Which operation a JSON-RPC call asks for: by its method, and for some methods by a word in its parameters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from herma.policy.jsondoc import find
from herma.policy.routing.route import Route

__all__ = ["CALL", "CallRoute", "CallTable"]

CALL: Final = "CALL"
"""What stands for the HTTP method in the route of a call; its template is the method of the call."""


@dataclass(frozen=True, slots=True)
class CallRoute:
    """One way to call a method.

    With `at`, a JSON Pointer into the parameters, only a call that has one of `values` there, exactly, is meant; every other call
    of the method is what the entry without `at` says.
    """

    route: Route
    at: str = ""
    values: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """The method of the call."""
        return self.route.template


class CallTable:
    """The calls of a profile by method.

    Raises:
        ValueError: a method is given twice without `at`, or only with it: some calls of it would be unknown.
    """

    def __init__(self, calls: Sequence[CallRoute]) -> None:
        by_name: dict[str, list[CallRoute]] = {}
        for call in calls:
            by_name.setdefault(call.name, []).append(call)
        for name, entries in by_name.items():
            if sum(not entry.at for entry in entries) != 1:
                raise ValueError(f"the call {name} needs exactly one entry for all its other parameters")
            entries.sort(key=lambda entry: not entry.at)
        self._by_name = by_name

    def find(self, name: str, params: Mapping[str, Any]) -> Route | None:
        """Give the route of a call; None when the profile does not know its method."""
        for entry in self._by_name.get(name, ()):
            if not entry.at or any(
                isinstance(word, str) and word in entry.values for _, word in find(params, entry.at)
            ):
                return entry.route
        return None
