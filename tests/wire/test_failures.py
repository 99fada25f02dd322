"""What can go wrong, told apart by who acts on it."""

import pytest

from herma.wire import (
    BodyMalformed,
    BodyTimeout,
    BodyTooLarge,
    Disconnected,
    RequestFailure,
    SlowReader,
    UpstreamError,
    UpstreamFailure,
)


@pytest.mark.parametrize(("kind", "status"), [(BodyTooLarge, 413), (BodyTimeout, 408), (BodyMalformed, 400)])
def test_a_failed_body_has_its_answer(kind: type[RequestFailure], status: int) -> None:
    """A handler that lets it pass is answered for."""
    assert kind.refusal.status == status
    assert kind.refusal.code.startswith("herma.")


def test_a_slow_reader_is_a_client_that_is_gone() -> None:
    """Whoever handles the one handles the other."""
    assert issubclass(SlowReader, Disconnected)


def test_an_upstream_failure_tells_whether_it_was_sent() -> None:
    """Only what was not sent may be sent again by somebody else."""
    error = UpstreamError(UpstreamFailure.BUSY, "full", sent=False)
    assert (error.kind, error.sent, str(error)) == ("busy", False, "full")
