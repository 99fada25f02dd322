"""The ingress gate: requests come in here, and leave judged or not at all."""

from herma.ingress.gate import handler, wire_error
from herma.ingress.plane import Generation, Plane, Planes
from herma.ingress.question import question
from herma.ingress.record import AuditSink, Meter, Record
from herma.ingress.socket_turns import sweep
from herma.ingress.upstream_key import UpstreamKey

__all__ = [
    "AuditSink",
    "Generation",
    "Meter",
    "Plane",
    "Planes",
    "Record",
    "UpstreamKey",
    "handler",
    "question",
    "sweep",
    "wire_error",
]
