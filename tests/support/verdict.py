"""What the attack suites assert of an answer, said once."""

import json

from support.gate import Gate
from support.raw import Ended, Response, Talk
from support.upstream import RecordingUpstream

__all__ = ["assert_own_error", "assert_refused", "code_of", "error_of"]


def error_of(response: Response) -> dict[str, object]:
    """Return the error object of a refusal, whatever the route's envelope."""
    document = json.loads(response.body)
    assert isinstance(document, dict), document
    error = document.get("error", document)
    return error if isinstance(error, dict) else document


def code_of(response: Response) -> str:
    """Return the stable code of a refusal."""
    error = error_of(response)
    return str(error.get("code") or error.get("herma_code") or "")


def assert_own_error(response: Response) -> None:
    """Fail unless the answer is a refusal of the gate itself, well framed and without server banner."""
    assert response.complete
    assert response.get("server") is None
    assert (response.get("content-type") or "").startswith(("application/json", "application/problem+json"))
    assert "herma." in response.body.decode()


def assert_refused(upstream: RecordingUpstream, talk: Talk, *statuses: int, closed: bool = False) -> Response:
    """Fail unless the only answer is one of these refusals, made by the gate, and the upstream saw nothing of it."""
    assert talk.responses, f"no answer; connection {talk.ended}, received {talk.received[:300]!r}"
    response = talk.first
    assert response.status in statuses, (response.status, response.body[:300])
    assert len(talk.responses) == 1, talk.statuses
    assert_own_error(response)
    if closed:
        assert talk.ended in {Ended.FIN, Ended.RESET}, talk.ended
    upstream.assert_untouched()
    return response


def assert_same_verdict(gate: Gate, upstream: RecordingUpstream, target: str | bytes, *statuses: int) -> None:
    """Fail unless the target is refused alike with and without a key that may do everything."""
    for key in (None, "admin"):
        assert_refused(upstream, gate.ask("GET", target, key=key), *statuses)
