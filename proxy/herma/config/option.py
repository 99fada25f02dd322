"""How a field of a settings dataclass is described: its default, its bounds and what it is for.

The reader, the JSON Schema and the reference page all read these descriptions, so that they cannot differ.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field
from types import MappingProxyType
from typing import Any, Final

__all__ = ["Option", "derived", "describe", "option"]

_KEY: Final = "herma.option"


@dataclass(frozen=True, slots=True)
class Option:
    """What a field's type cannot say.

    `minimum` and `maximum` bound a number. `choices` narrows an enum. `example` is shown in the reference. A `secret` is
    read from `<name>_file` or `<name>`; a `hashed` one also from `hash`. `required` has no default.
    """

    doc: str
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    example: str = ""
    secret: bool = False
    hashed: bool = False
    required: bool = False
    min_items: int = 0
    default_text: str = ""


def option(
    doc: str,
    *,
    default: Any = MISSING,
    factory: Callable[[], Any] | None = None,
    show: bool = True,
    **rest: Any,
) -> Any:
    """Declare a setting; `default` or `factory` give the value that stands when the key is absent."""
    required = default is MISSING and factory is None
    metadata: Mapping[str, Any] = MappingProxyType({_KEY: Option(doc, required=required, **rest)})
    if factory is not None:
        return field(default_factory=factory, metadata=metadata, repr=show)
    return field(default=default, metadata=metadata, repr=show)


def derived(*, default: Any) -> Any:
    """Declare a field that is worked out from others and has no key in the file."""
    return field(default=default)


def describe(item: Field[Any]) -> Option | None:
    """Return the description of a field, None for a derived one."""
    found = item.metadata.get(_KEY)
    return found if isinstance(found, Option) else None
