"""Request heads for tests: built through the real canonicaliser, so that a test cannot judge what it would refuse."""

from herma.policy.message.canonical import Head, canonical_head

__all__ = ["make_head"]


def make_head(
    *headers: tuple[bytes, bytes],
    method: bytes = b"GET",
    target: bytes = b"/v1/runs",
    host: bytes = b"127.0.0.1:8643",
    version: str = "1.1",
) -> Head:
    """Build an accepted head."""
    head = canonical_head(method, target, version, [(b"Host", host), *headers])
    assert isinstance(head, Head), head
    return head
