"""Files in formats of others: STIX bundles and MISP events, told apart by what they say."""

from herma.content.ioc.draft import Imported, Terms
from herma.content.ioc.misp_event import import_events, is_events
from herma.content.ioc.stix_bundle import import_bundle, is_bundle
from herma.errors import ContentError, Source
from herma.policy.jsondoc import JsonError, parse

__all__ = ["MAX_FOREIGN_BYTES", "import_foreign"]

# Twenty thousand indicators with all that is said about them.
MAX_FOREIGN_BYTES = 32 * 1024 * 1024
MAX_DEPTH = 64
MAX_MEMBERS = 2_000_000


def import_foreign(content: bytes, file: str, terms: Terms) -> Imported:
    """Read the indicators of a file.

    Raises:
        ContentError: it is neither format, or larger than a gate should carry.
    """
    if len(content) > MAX_FOREIGN_BYTES:
        raise ContentError(f"larger than {MAX_FOREIGN_BYTES} bytes", Source(file))
    try:
        value = parse(content, max_depth=MAX_DEPTH, max_keys=MAX_MEMBERS).value
    except JsonError as error:
        raise ContentError(f"no JSON that could be read in one way only: {error}", Source(file)) from None
    try:
        if is_bundle(value):
            return import_bundle(value, terms, file)
        if is_events(value):
            return import_events(value, terms, file)
    except ValueError as error:
        raise ContentError(str(error), Source(file)) from None
    raise ContentError("neither a STIX bundle nor a MISP event", Source(file))
