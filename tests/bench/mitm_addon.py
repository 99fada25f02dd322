"""What mitmproxy is given: a bearer check, and streaming both ways."""

import os

from mitmproxy import http

KEY = os.environ["BENCH_KEY"]


def requestheaders(flow: http.HTTPFlow) -> None:
    """Refuse a wrong key before the body is read."""
    if flow.request.headers.get("Authorization") != f"Bearer {KEY}":
        flow.response = http.Response.make(401)
        return
    flow.request.stream = True


def responseheaders(flow: http.HTTPFlow) -> None:
    """Pass the answer on as it comes."""
    if flow.response is not None:
        flow.response.stream = True
