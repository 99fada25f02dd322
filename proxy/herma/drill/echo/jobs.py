"""Scheduled jobs: kept and shown, never executed."""

from aiohttp import web

from herma.drill.echo.answers import body_of, flat_error, ok
from herma.drill.echo.state import STATE, Record, keep

__all__ = ["create", "delete", "fire", "index", "pause", "read", "resume", "run_now", "update"]

MAX_PROMPT_CHARS = 5000
MAX_NAME_CHARS = 200

# What a caller may set; the real server drops every other field without a word.
_FIELDS = frozenset({"name", "schedule", "prompt", "deliver", "skills", "skill", "repeat", "enabled"})


async def index(request: web.Request) -> web.Response:
    """List all jobs."""
    return ok({"jobs": list(request.app[STATE].jobs.values())})


async def create(request: web.Request) -> web.Response:
    """Keep a new job."""
    body = await body_of(request)
    if body is None:
        return flat_error(500, "Invalid JSON")
    problem = _problem({"name": "", "schedule": "", **body})
    if problem:
        return flat_error(400, problem)
    state = request.app[STATE]
    job: Record = {
        "id": state.new_id(12),
        "prompt": "",
        "deliver": "local",
        "skills": [],
        "enabled": True,
        "state": "scheduled",
        "created_at": state.clock(),
        **{name: value for name, value in body.items() if name in _FIELDS},
    }
    keep(state.jobs, job["id"], job)
    return ok({"job": job})


async def read(request: web.Request) -> web.Response:
    """Show a job."""
    return await _with_job(request, {})


async def update(request: web.Request) -> web.Response:
    """Change a job."""
    body = await body_of(request)
    changes = {name: value for name, value in (body or {}).items() if name in _FIELDS}
    if not changes:
        return flat_error(400, "No valid fields to update")
    problem = _problem(changes)
    return flat_error(400, problem) if problem else await _with_job(request, changes)


async def delete(request: web.Request) -> web.Response:
    """Forget a job."""
    gone = request.app[STATE].jobs.pop(request.match_info["job_id"], None)
    return ok({"ok": True}) if gone is not None else flat_error(404, "Job not found")


async def pause(request: web.Request) -> web.Response:
    """Mark a job as paused."""
    return await _with_job(request, {"enabled": False, "state": "paused"})


async def resume(request: web.Request) -> web.Response:
    """Mark a job as scheduled."""
    return await _with_job(request, {"enabled": True, "state": "scheduled"})


async def run_now(request: web.Request) -> web.Response:
    """Mark a job as due now."""
    return await _with_job(request, {"next_run_at": request.app[STATE].clock()})


async def fire(_: web.Request) -> web.Response:
    """Refuse the remote trigger: no issuer of fire tokens is configured, which is the real server's default."""
    return flat_error(401, "invalid fire token")


async def _with_job(request: web.Request, changes: Record) -> web.Response:
    job = request.app[STATE].jobs.get(request.match_info["job_id"])
    if job is None:
        return flat_error(404, "Job not found")
    job |= changes
    return ok({"job": job})


def _problem(fields: Record) -> str:
    """Say what is wrong with the fields that are there; empty when nothing is."""
    name, schedule, prompt = (fields.get(field, "-") for field in ("name", "schedule", "prompt"))
    if not isinstance(name, str) or not name.strip():
        return "Name is required"
    if len(name) > MAX_NAME_CHARS:
        return f"Name must be at most {MAX_NAME_CHARS} characters"
    if not isinstance(schedule, str) or not schedule.strip():
        return "Schedule is required"
    if not isinstance(prompt, str) or len(prompt) > MAX_PROMPT_CHARS:
        return f"Prompt must be at most {MAX_PROMPT_CHARS} characters"
    return ""
