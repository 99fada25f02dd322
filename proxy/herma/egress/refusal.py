"""What the agent's program is told when something is not sent (RFC 9457)."""

import json
from typing import Final

from mitmproxy.http import Response

from herma.policy.decision import Deny

__all__ = ["FAILED", "FIELD", "refusal"]

# The field by which a refusal of the gate is told from an answer of the destination.
FIELD: Final = "x-herma-egress"
FAILED: Final = Deny(503, "herma.egress.failed", "The gate could not judge this.", close=True)


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
