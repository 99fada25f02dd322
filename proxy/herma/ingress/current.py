"""Asks the upstream what it holds, before something is written there, so that only what the write changes is judged.

An upstream that does not tell in time, or not clearly, is no reason to let anything pass: then the whole body is judged, and a
masked value in it is refused.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from herma.ingress.plane import Generation
from herma.ingress.question import question
from herma.policy.change.written import Standing, compared, completed, hidden, paired
from herma.policy.decision import Finding, Level, Mode
from herma.policy.exchange import Exchange
from herma.policy.jsondoc import Document, JsonError, find, parse
from herma.policy.message.form import FormError, urlencoded
from herma.policy.message.html import withheld
from herma.policy.routing.route import Current
from herma.wire import UpstreamError

__all__ = ["Looked", "look"]

# A dashboard on the same machine answers within 20 ms; a person waits for this once, when something is saved.
TIMEOUT_S: Final = 5.0
# The longest configuration seen has 60 KiB.
MAX_ANSWER_BYTES: Final = 1024 * 1024
# As much as the gate's own limits let a body have by default.
MAX_ANSWER_DEPTH: Final = 64
MAX_ANSWER_KEYS: Final = 100_000
# Profiles and providers are folders; the upstream has no other names.
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


@dataclass(frozen=True, slots=True)
class Looked:
    """What a body is once it was compared: `document` is sent, `news` is what of it has to be judged.

    `findings` say what was put back.
    """

    document: Document | None
    news: Document | None
    findings: tuple[Finding, ...] = ()


async def look(generation: Generation, exchange: Exchange, document: Document | None) -> Looked:
    """Compare a body with what the upstream holds; where that cannot be done, everything in it is new."""
    whole = Looked(document, document)
    where = exchange.match.route.current
    if where is None or document is None or document.form or not isinstance(document.value, dict):
        return whole
    which, path = _which(exchange, document.value, where), _filled(where.path, exchange.match.params)
    if which is None or path is None:
        return whole
    standing = await _standing(generation, path, which, where.pointer)
    if standing is not None and where.items is not None:
        standing = _paired(standing, where.items)
    if standing is not None and where.file and (names := hidden(document.value, where, standing)):
        file = await _standing(generation, where.file, which, where.file_pointer)
        standing = completed(standing, file, names) if file is not None else standing
    write = compared(document.value, where, standing) if standing is not None else None
    if write is None:
        return whole
    sent = _document(write.body) if write.places else document
    restored = tuple(Finding("mask-restored", Level.INFORMATIONAL, place) for place in write.places)
    return Looked(sent, _document(write.news), restored)


def _document(value: Any) -> Document:
    return Document(json.dumps(value, ensure_ascii=False).encode("utf-8"), value)


def _which(exchange: Exchange, body: dict[str, Any], where: Current) -> bytes | None:
    """Give the query that tells which of several configurations is meant; None when that is not clear."""
    if not where.param:
        return None if exchange.head.target.query else b""
    try:
        asked = urlencoded(exchange.head.target.query).get(where.param, [])
    except FormError:
        return None
    # The upstream takes the name in the body before that in the query.
    name = body.get(where.param) or (asked[0] if asked else "")
    if len(asked) > 1 or not isinstance(name, str):
        return None
    if not name:
        return b""
    return b"?%s=%s" % (where.param.encode(), name.encode()) if _NAME.fullmatch(name) else None


def _filled(path: str, params: Mapping[str, str]) -> str | None:
    """Put the parameters of the route where they stand; None for one that is no plain name."""
    for name, value in params.items():
        if f"{{{name}}}" in path:
            if not _NAME.fullmatch(value):
                return None
            path = path.replace(f"{{{name}}}", value)
    return path


def _paired(standing: Standing, items: tuple[str, str]) -> Standing | None:
    held, shown = paired(standing.held, items), paired(standing.shown, items)
    return None if held is None or shown is None else Standing(held, shown)


async def _standing(generation: Generation, path: str, which: bytes, pointer: str) -> Standing | None:
    raw = await _ask(generation, path.encode("ascii") + which)
    if raw is None:
        return None
    kept = withheld(raw, generation.upstream_key)
    shown = kept if generation.settings.redaction.mode is Mode.MONITOR else generation.redactor.json(kept)[0]
    try:
        values = [
            find(parse(text, max_depth=MAX_ANSWER_DEPTH, max_keys=MAX_ANSWER_KEYS).value, pointer)
            for text in (raw, shown)
        ]
    except JsonError:
        return None
    if any(len(found) != 1 for found in values):
        return None
    return Standing(values[0][0][1], values[1][0][1])


async def _ask(generation: Generation, target: bytes) -> bytes | None:
    try:
        status, body = await question(generation, target, max_bytes=MAX_ANSWER_BYTES, timeout_s=TIMEOUT_S)
    except (UpstreamError, TimeoutError):
        return None
    return body if status == 200 else None
