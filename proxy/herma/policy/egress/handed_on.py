"""Secrets that a platform is told to show to an address: `secret_token` of `setWebhook` at Telegram stands beside its `url`.

Where that address is nobody whom the operator named, the secret is judged as one that goes to a stranger: by itself, whatever it is
called. One that was made for this purpose passes, one of a watched file or of another vendor does not.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final

from herma.policy.egress.divided import form_of, json_spans
from herma.policy.egress.platform import HandedOn
from herma.policy.egress.service import FORM
from herma.policy.message.form import as_text, form_decoded, parts

__all__ = ["handed_on"]

_HOST: Final = re.compile(
    r"https?://([A-Za-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::([0-9]{1,5}))?(?:[/?#].*)?"
)

# A name and a port, and whether the operator named them.
type Named = Callable[[str, int], bool]


def handed_on(
    raw: bytes, content_type: bytes, handed: tuple[HandedOn, ...], is_named: Named
) -> Iterator[bytes]:
    """Give the secrets in a query or a body that are handed on to strangers.

    Raises:
        FormError: it is a form that can be read in two ways.
    """
    if not handed:
        return
    values = list(_values(raw, content_type))
    for one in handed:
        addresses = [value for pointer, value in values if pointer == one.address]
        if addresses and all(_is_named(address, is_named) for address in addresses):
            continue
        yield from (value.encode() for pointer, value in values if one.secrets.covers(pointer))


def _is_named(address: str, is_named: Named) -> bool:
    found = _HOST.fullmatch(address)
    # Without an address a web hook is taken away.
    return not address or (found is not None and is_named(found[1].lower(), int(found[2] or 443)))


def _values(raw: bytes, content_type: bytes) -> Iterator[tuple[str, str]]:
    match form_of(content_type):
        case b"multipart/form-data":
            for part in parts(raw, content_type):
                yield f"/{part.name}", as_text(raw[part.content])
        case kind if kind == FORM:
            for pair in raw.split(b"&"):
                name, _, value = pair.partition(b"=")
                yield f"/{as_text(form_decoded(name))}", as_text(form_decoded(value))
        case _:
            text = as_text(raw)
            for pointer, (start, end) in json_spans(text).items():
                yield pointer, text[start:end].replace("\\/", "/")
