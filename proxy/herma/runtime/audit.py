"""The audit: one JSON line for each decision, with OCSF's words where it has them.

A line holds names, codes, ids and durations. It never holds a body, a header value, a query or a credential; what comes
from the request (the method, the caller's address) is of a closed form or was parsed before it gets here.
"""

import json
import os
import stat
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from herma.egress.line import Sent, Told
from herma.ingress import Record
from herma.policy.decision import Finding

__all__ = ["AUDIT_LOST", "AuditLog"]

# The event that is counted for each line that was lost.
AUDIT_LOST = "audit_lost"

# One write call of at most this many bytes is atomic for append-only files and pipes (POSIX PIPE_BUF on Linux), so that
# the lines of several workers never mix.
MAX_LINE_BYTES = 4096

_STANDARD_OUTPUT = 1

# O_NONBLOCK: opening a pipe that nobody reads must fail, not wait.
_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK

# OCSF 1.3, classes HTTP Activity (4002) and Network Activity (4001), and their disposition ids.
_CLASS_UID = 4002
_NETWORK_CLASS_UID = 4001
# What the egress gate calls a tunnel and a handshake, of which no request is known.
_TUNNELS = ("CONNECT", "TLS")
_DISPOSITIONS = {"answered": 1, "denied": 2, "client_gone": 1, "aborted": 2, "failed": 2, "upstream_gone": 1}


class AuditLog:
    """Writes to a file (made 0600) or, for `-`, to standard output. Writing never raises into an exchange.

    `lose` is called for each line that could not be written whole.

    Raises:
        OSError: the target cannot be opened for writing; a link never is.
    """

    def __init__(self, target: str, lose: Callable[[], None] = lambda: None) -> None:
        if target == "-":
            self._descriptor, self._owned = _STANDARD_OUTPUT, False
        else:
            self._descriptor, self._owned = os.open(target, _FLAGS, 0o600), True
            # Only a file is narrowed: changing /dev/null would break it for everybody.
            if stat.S_ISREG(os.fstat(self._descriptor).st_mode):
                os.fchmod(self._descriptor, 0o600)
        self._offset = time.time() - time.monotonic()
        self._lose = lose

    def write(self, record: Record, finished: float) -> None:
        """Write the line of one exchange."""
        line: dict[str, Any] = {
            "class_uid": _CLASS_UID,
            "time": round((self._offset + record.started) * 1000),
            "exchange": record.exchange,
            "disposition_id": _DISPOSITIONS.get(record.outcome, 0),
            "outcome": record.outcome,
            "src_endpoint": {"ip": record.address},
            "actor": record.principal,
            "upstream": record.upstream,
            "http_method": record.method,
            "route": record.route,
            "operation": record.operation,
            "status": record.status,
            "code": record.code,
            "rules": [_rule(found) for found in record.findings],
            "redactions": record.redactions,
            "bytes_in": record.bytes_in,
            "bytes_out": record.bytes_out,
            "duration_ms": round((finished - record.started) * 1000, 1),
            "judged_ms": _since(record, record.judged),
            "upstream_head_ms": _since(record, record.upstream_head),
        }
        if record.job:
            line["job"] = record.job
        self.event(line)

    def sent(self, sent: Sent) -> None:
        """Write the line of what the agent sent out, or wanted to."""
        self.event(
            {
                "class_uid": _NETWORK_CLASS_UID if sent.method in _TUNNELS else _CLASS_UID,
                "time": sent.started_ms,
                "exchange": sent.exchange,
                "direction": "egress",
                "disposition_id": _DISPOSITIONS.get(sent.outcome, 0),
                "outcome": sent.outcome,
                "dst_endpoint": {"hostname": sent.host, "port": sent.port},
                "kind": sent.kind,
                "platform": sent.platform,
                "http_method": sent.method,
                "status": sent.status,
                "code": sent.code,
                "rules": list(map(_told, sent.findings)),
                "redactions": sent.redactions,
                "bytes_out": sent.bytes_out,
                "duration_ms": sent.duration_ms,
            }
        )

    def event(self, line: dict[str, Any]) -> None:
        """Write any line; one that does not fit is written without its rules, or lost if it is still too long."""
        data = _encode(line)
        if len(data) > MAX_LINE_BYTES:
            data = _encode({**line, "rules": [], "truncated": True})
        try:
            whole = len(data) <= MAX_LINE_BYTES and os.write(self._descriptor, data) == len(data)
        except OSError:
            whole = False
        if not whole:
            self._lose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._owned:
            os.close(self._descriptor)


def _encode(line: dict[str, Any]) -> bytes:
    # ensure_ascii also escapes C1 controls and bidi marks: a log reader's terminal sees plain ASCII only.
    return json.dumps(line, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"


def _rule(found: Finding) -> dict[str, Any]:
    said: dict[str, Any] = {
        "id": found.rule_id,
        "level": found.level,
        "place": found.shown_place,
        "attack": found.attack,
    }
    return {**said, "exempted": True} if found.exempted else said


def _told(found: Told) -> dict[str, Any]:
    return {"id": found.rule_id, "level": found.level, "place": found.place, "attack": found.attack}


def _since(record: Record, moment: float | None) -> float | None:
    return None if moment is None else round((moment - record.started) * 1000, 1)
