"""What the agent's program is told."""

import json

from herma.egress.refusal import FIELD, refusal
from herma.policy.decision import Deny


def test_a_refusal_is_a_problem() -> None:
    """In the form of RFC 9457, marked as the gate's own."""
    answer = refusal(Deny(403, "herma.egress.secret", "The request holds a secret."), "0123")
    assert answer.status_code == 403
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers[FIELD] == "0123"
    said = json.loads(answer.text or "")
    assert (said["status"], said["code"], said["exchange"]) == (403, "herma.egress.secret", "0123")
