"""How an identity provider is asked whose certificate is from authorities of the operator's own."""

import asyncio
import ssl

from herma.identity.remote import FetchError, fetch
from herma.identity.sign_in import Fetch
from herma.policy.secret import Secret

__all__ = ["asking"]


def asking(ca_file: str | None) -> Fetch:
    """Return what asks a provider; with a PEM file of authorities only those are trusted.

    The file is read each time: whoever renews it need not restart the gate.
    """

    async def ask(
        url: str, *, max_bytes: int, form: bytes | None = None, authorization: Secret | None = None
    ) -> bytes:
        try:
            trusted = await asyncio.to_thread(ssl.create_default_context, cafile=ca_file) if ca_file else None
        except OSError:
            raise FetchError("the file of authorities cannot be read") from None
        return await fetch(
            url, max_bytes=max_bytes, form=form, authorization=authorization, authorities=trusted
        )

    return ask
