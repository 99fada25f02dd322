"""The handshake of a WebSocket towards the upstream: which target it asks for, and with which credential."""

from herma.policy.message.target import Target, parameter_names
from herma.policy.secret import Secret

__all__ = ["handshake_target"]


def handshake_target(target: Target, param: str, token: Secret | None) -> bytes:
    """Return the target to send, with the upstream's key in `param` if it takes one there.

    Browsers cannot set a header on a handshake, so some upstreams take their key in the query only. Whatever the caller had
    there under that name, in whatever spelling, is left out: it is nobody's business upstream.
    """
    if not param:
        return target.raw
    path = target.raw.partition(b"?")[0]
    pairs = [pair for pair in target.query.split(b"&") if pair and param not in parameter_names(pair)]
    if token is not None:
        pairs.append(param.encode("ascii") + b"=" + _encoded(token.reveal()))
    return path + b"?" + b"&".join(pairs) if pairs else path


def _encoded(value: bytes) -> bytes:
    # RFC 3986 section 2.3: everything but the unreserved characters.
    return b"".join(
        bytes([byte]) if bytes([byte]).isalnum() or byte in b"-._~" else b"%%%02X" % byte for byte in value
    )
