"""Sessions: created, listed, renamed, forked, read and deleted."""

from aiohttp import web

from herma.drill.echo.answers import body_of, ok, openai_error
from herma.drill.echo.readout import MODEL
from herma.drill.echo.state import STATE, EchoState, Record, keep

__all__ = ["create", "delete", "fork", "index", "messages", "read", "unknown", "update"]


async def index(request: web.Request) -> web.Response:
    """List all sessions, newest first."""
    data = list(reversed(request.app[STATE].sessions.values()))
    return ok({"object": "list", "data": data, "has_more": False})


async def create(request: web.Request) -> web.Response:
    """Make an empty session."""
    body = await body_of(request)
    if body is None:
        return openai_error(400, "Invalid JSON in request body")
    return _new(request.app[STATE], body, body.get("title"), None)


async def read(request: web.Request) -> web.Response:
    """Show a session."""
    session = request.app[STATE].sessions.get(request.match_info["session_id"])
    return _show(session) if session is not None else unknown()


async def update(request: web.Request) -> web.Response:
    """Change a session's title or end reason; nothing else can be changed."""
    session = request.app[STATE].sessions.get(request.match_info["session_id"])
    if session is None:
        return unknown()
    body = await body_of(request)
    if not body or not body.keys() <= {"title", "end_reason"}:
        return openai_error(400, "Only title and end_reason can be changed")
    session |= body
    return _show(session)


async def delete(request: web.Request) -> web.Response:
    """Forget a session and its messages."""
    state, key = request.app[STATE], request.match_info["session_id"]
    if state.sessions.pop(key, None) is None:
        return unknown()
    state.messages.pop(key, None)
    return ok({"object": "hermes.session.deleted", "id": key, "deleted": True})


async def messages(request: web.Request) -> web.Response:
    """Give the transcript, tool calls raw."""
    state, key = request.app[STATE], request.match_info["session_id"]
    if key not in state.sessions:
        return unknown()
    return ok({"object": "list", "session_id": key, "data": state.messages.get(key, [])})


async def fork(request: web.Request) -> web.Response:
    """Copy a session."""
    state, key = request.app[STATE], request.match_info["session_id"]
    parent = state.sessions.get(key)
    if parent is None:
        return unknown()
    body = await body_of(request)
    if body is None:
        return openai_error(400, "Invalid JSON in request body")
    answer = _new(state, body, body.get("title") or parent["title"], key)
    if answer.status == 201:
        keep(state.messages, next(reversed(state.sessions)), list(state.messages.get(key, [])))
    return answer


def unknown() -> web.Response:
    """Answer for a session that is not there."""
    return openai_error(404, "Session not found", "session_not_found")


def _new(state: EchoState, body: Record, title: object, parent: str | None) -> web.Response:
    key = body.get("id") or body.get("session_id") or state.new_id(32)
    if not isinstance(key, str):
        return openai_error(400, "Session id must be a string", "invalid_session_id")
    if key in state.sessions:
        return openai_error(409, "Session already exists", "session_exists")
    session = {
        "id": key,
        "source": "api_server",
        "model": MODEL,
        "title": title,
        "started_at": state.clock(),
        "end_reason": None,
        "message_count": len(state.messages.get(parent or "", [])),
        "parent_session_id": parent,
    }
    keep(state.sessions, key, session)
    return _show(session, 201)


def _show(session: Record, status: int = 200) -> web.Response:
    return ok({"object": "hermes.session", "session": session}, status)
