"""A refusal on its way to the answer, and the refusals that the ingress itself decides."""

from herma.policy.decision import Deny
from herma.policy.limits.lifecycle import RETRY_AFTER_S

__all__ = ["Refusal", "body_too_large", "draining", "full", "slow_down", "store_down", "upstream_failed"]


class Refusal(Exception):  # noqa: N818 - it carries a decision, it does not report an error
    """Ends a passage with this denial; raised before an answer was started."""

    def __init__(self, deny: Deny) -> None:
        super().__init__(deny.code)
        self.deny = deny


def body_too_large(limit: int) -> Deny:
    """The body is larger than the operation takes; the message names the limit (413)."""
    return Deny(
        413,
        "herma.body.too_large",
        f"The request body is larger than the limit of {limit} bytes.",
        close=True,
    )


def draining() -> Deny:
    """Herma is about to stop and starts no more turns (503)."""
    return Deny(
        503,
        "herma.draining",
        "The gate is stopping and starts no new turns. Try again shortly.",
        retry_after_s=RETRY_AFTER_S,
        retryable=True,
    )


def full(retry_after_s: int, which: str) -> Deny:
    """Every slot for turns is taken, of all callers or of this one (429)."""
    whose = "this key" if which == "principal" else "the agent"
    return Deny(
        429,
        "herma.limit.concurrency",
        f"Too many turns are running for {whose}. Try again shortly.",
        retry_after_s=max(1, retry_after_s),
        retryable=True,
    )


def slow_down(wait_s: float, code: str = "herma.limit.rate") -> Deny:
    """The caller asks too often, or guessed too often (429)."""
    return Deny(
        429,
        code,
        "Too many requests. Wait before the next one.",
        retry_after_s=max(1, int(wait_s + 0.999)),
        retryable=code == "herma.limit.rate",
    )


def store_down() -> Deny:
    """The shared state cannot be asked, so what needs it is refused (503)."""
    return Deny(
        503,
        "herma.store.unavailable",
        "The gate cannot reach its own state.",
        retry_after_s=2,
        retryable=True,
    )


# What became of the upstream, to the status and code of RFC 9110 section 15.6 and whether a repeat can help.
_UPSTREAM = {
    "connect": (503, "herma.upstream.unreachable", "The agent server cannot be reached."),
    "busy": (503, "herma.upstream.busy", "All connections to the agent server are in use."),
    "timeout": (504, "herma.upstream.timeout", "The agent server did not answer in time."),
    "too_large": (502, "herma.upstream.too_large", "The agent server's answer is larger than the limit."),
    "unjudged": (
        502,
        "herma.upstream.unjudged",
        "The agent server's answer could not be inspected and was withheld.",
    ),
}


def upstream_failed(kind: str, *, safe: bool) -> Deny:
    """The upstream gave no usable answer.

    Args:
        kind: what failed, one of the upstream client's error kinds.
        safe: whether a repeat cannot start the work twice; only then is the client told that it may retry.
    """
    status, code, message = _UPSTREAM.get(
        kind, (502, "herma.upstream.failed", "The agent server broke off or sent an unusable answer.")
    )
    retry_after = 2 if status == 503 else None
    return Deny(status, code, message, retry_after_s=retry_after, retryable=safe)
