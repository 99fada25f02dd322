"""Refusals of the admin listener."""

import json

from herma.console.problem import problem


def test_a_refusal_has_a_code_and_a_type_of_its_own() -> None:
    """RFC 9457."""
    said = problem(503, "herma.busy.connections", "Too many.", retry_after_s=30)
    assert (said.status, said.content_type) == (503, "application/problem+json")
    assert said.headers["Retry-After"] == "30"
    assert json.loads(str(said.text)) == {
        "type": "about:blank", "status": 503, "code": "herma.busy.connections", "detail": "Too many.",
    }  # fmt: skip
    assert "Retry-After" not in problem(403, "herma.admin.cross_site", "No.").headers
