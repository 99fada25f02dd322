"""What the admin listener says when it refuses: RFC 9457, as Herma's own endpoints do."""

from aiohttp import web

__all__ = ["problem"]


def problem(status: int, code: str, detail: str, *, retry_after_s: int | None = None) -> web.Response:
    """Make the answer."""
    return web.json_response(
        {"type": "about:blank", "status": status, "code": code, "detail": detail},
        status=status,
        content_type="application/problem+json",
        headers={} if retry_after_s is None else {"Retry-After": str(retry_after_s)},
    )
