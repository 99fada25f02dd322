"""What the agent's program is told when something is not sent (RFC 9457)."""

import json
import re
from typing import Final

from mitmproxy.http import Response

from herma.policy.decision import Deny

__all__ = ["FAILED", "FIELD", "reason_of", "refusal", "unreachable"]

# The field by which a refusal of the gate is told from an answer of the destination.
FIELD: Final = "x-herma-egress"
FAILED: Final = Deny(503, "herma.egress.failed", "The gate could not judge this.", close=True)

_UNVERIFIED: Final = Deny(502, "herma.egress.certificate", "The certificate of the destination is not right.")
_UNREACHABLE: Final = Deny(502, "herma.egress.unreachable", "The destination cannot be reached.")
_REASON: Final = re.compile(r"(herma\.egress\.[a-z_]+): (.+)")


def reason_of(deny: Deny) -> str:
    """Write why a connection is not made, for `unreachable`."""
    return f"{deny.code}: {deny.message}"


def unreachable(reason: str) -> Deny:
    """Say why there is no connection.

    mitmproxy's words repeat what the destination says of itself, and are not passed on.
    """
    if refused := _REASON.search(reason):
        return Deny(403, refused[1], refused[2], close=True)
    return _UNVERIFIED if "certificate" in reason.lower() else _UNREACHABLE


def refusal(deny: Deny, exchange: str) -> Response:
    """Make the answer; it repeats nothing of the request."""
    body = {
        "type": "about:blank",
        "title": "Refused by the egress gate",
        "status": deny.status,
        "code": deny.code,
        "detail": deny.message,
        "exchange": exchange,
    }
    fields = {"content-type": "application/problem+json", "cache-control": "no-store", FIELD: exchange}
    return Response.make(deny.status, json.dumps(body), fields)
