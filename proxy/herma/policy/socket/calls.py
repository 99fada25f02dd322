"""JSON-RPC 2.0 calls in a WebSocket message: what each asks for, and how a refused one is answered.

The upstream reads a message with `json.loads` after taking blanks off, and looks `method` up in a table; what it does not know
it answers with an error. Here a message is read strictly: what has no single meaning is refused whole.
"""

import json
from dataclasses import dataclass, field
from typing import Any, Final

from herma.policy.decision import Deny
from herma.policy.jsondoc import JsonError, parse

__all__ = ["Call", "answer", "read_call"]

MAX_ID_CHARS: Final = 256
MAX_NAME_CHARS: Final = 128

# The range that JSON-RPC 2.0 (section 5.1) leaves to servers. The upstream uses 4000 and above.
_REFUSED: Final = -32001
_UNREADABLE: Final = -32600


@dataclass(frozen=True, slots=True)
class Call:
    """One call. `id` is None for a notification, which nobody answers; `params` is empty where none were given."""

    id: str | int | None
    method: str
    params: dict[str, Any] = field(repr=False)


def read_call(message: bytes, *, max_depth: int, max_keys: int) -> Call | Deny:
    """Read a message as one call, or refuse it. A batch is refused: the upstream takes none."""
    try:
        value = parse(message, max_depth=max_depth, max_keys=max_keys).value
    except JsonError as error:
        return Deny(400, error.code, str(error))
    if isinstance(value, list):
        return Deny(400, "herma.rpc.batch", "A message holds one call; batches are not taken.")
    return _call(value) or Deny(400, "herma.rpc.malformed", "The message is no JSON-RPC call.")


def answer(call_id: str | int | None, deny: Deny) -> bytes:
    """Write the answer to a refused call; the stable code of the refusal is in `data`."""
    code = _UNREADABLE if deny.status == 400 else _REFUSED
    data: dict[str, object] = {"code": deny.code, "status": deny.status}
    if deny.retry_after_s is not None:
        data["retry_after_s"] = deny.retry_after_s
    error = {"code": code, "message": deny.message, "data": data}
    return json.dumps({"jsonrpc": "2.0", "id": call_id, "error": error}).encode()


def _call(item: Any) -> Call | None:
    if not isinstance(item, dict):
        return None
    call_id, method, params = item.get("id"), item.get("method"), item.get("params")
    if not isinstance(method, str) or not 0 < len(method) <= MAX_NAME_CHARS:
        return None
    if not (params is None or isinstance(params, dict)):
        return None
    if isinstance(call_id, bool) or not (call_id is None or isinstance(call_id, str | int)):
        return None
    if isinstance(call_id, str) and len(call_id) > MAX_ID_CHARS:
        return None
    return Call(call_id, method, params or {})
