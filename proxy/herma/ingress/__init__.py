"""The ingress gate: requests come in here, and leave judged or not at all."""

from herma.ingress.gate import handler, wire_error
from herma.ingress.plane import Generation, Plane, Planes
from herma.ingress.record import AuditSink, Meter, Record

__all__ = ["AuditSink", "Generation", "Meter", "Plane", "Planes", "Record", "handler", "wire_error"]
