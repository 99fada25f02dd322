"""Exchanges for tests of checks: a head, a route, a principal and a body."""

import json
from typing import Any

from herma.policy.exchange import Exchange
from herma.policy.grant import Principal, Scope
from herma.policy.jsondoc import Document
from herma.policy.message.canonical import Head, canonical_head
from herma.policy.routing.profile import Match
from herma.policy.routing.route import Route

__all__ = ["ADMIN", "CALLER", "exchange", "head", "match"]

CALLER = Principal("caller", frozenset({Scope.RUN, Scope.APPROVE}))
ADMIN = Principal("admin", frozenset({Scope.ADMIN}))


def head(method: str = "POST", path: str = "/v1/runs", **fields: str) -> Head:
    headers = [(name.replace("_", "-").encode(), value.encode()) for name, value in fields.items()]
    made = canonical_head(method.encode(), path.encode(), "1.1", [(b"Host", b"localhost"), *headers])
    assert isinstance(made, Head)
    return made


def match(
    operation: str = "run.start", *, known: bool = True, scope: Scope = Scope.RUN, **fields: Any
) -> Match:
    return Match(Route("POST", "/v1/runs", operation, scope, **fields), {}, known)


def exchange(
    value: Any = None,
    *,
    route: Match | None = None,
    principal: Principal | None = CALLER,
    raw: bytes | None = None,
    form: bool = False,
    sent: Head | None = None,
) -> Exchange:
    document = None
    if value is not None:
        document = Document(
            json.dumps(value, ensure_ascii=False).encode() if raw is None else raw, value, form
        )
    return Exchange("1", sent or head(), route or match(), "192.0.2.1", principal, document)
