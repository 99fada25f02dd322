"""What the detectors are timed on: ordinary inputs first, for those are what a gate sees all day."""

import json

from quality.lines import SHIPPED, lines

__all__ = [
    "CLEAN_COMMAND",
    "LOG",
    "PROMPT",
    "SECRET_COMMAND",
    "TEXT_4_KB",
    "dense",
    "entries",
    "events",
    "prompts",
]

MB = 10**6
CLEAN_COMMAND = (
    "cd /srv/app && git pull --ff-only && docker compose up -d --build web worker && curl -fsS http://localhost:8080/healthz"
    " | jq .status && tail -n 50 /var/log/app/current.log | grep -v DEBUG | sort | uniq -c"
)
# A value in the format of a vendor that no vendor ever issued.
SECRET_COMMAND = "curl -H 'Authorization: Bearer ghp_F4keK3yF0rT3stF4keK3yF0rT3stF4keK3yF' https://api.example.com/x && echo done"
LOG = "\n".join(
    f"2026-12-01T10:{at % 60:02d}:11Z INFO worker-{at} handled request id=8f14e45f-ceea-467f-a0d6-{at:012d}"
    f" path=/v1/items/{at} status=200 tokens={at * 3} in 12ms"
    for at in range(8000)
)[:MB]
_SENTENCES = (
    "Every morning at 8, check the status of our deployment pipelines, compare the numbers with yesterday, and write a short"
    " summary for the team channel. Mention failing jobs, their owners and since when they fail. "
)
PROMPT = (_SENTENCES * 12)[:2048]
# An answer with prose and commands in it.
TEXT_4_KB = ((_SENTENCES + "\n$ " + CLEAN_COMMAND + "\n") * 12)[:4096]


def dense() -> str:
    """Give text full of what only looks like a secret: hashes, ids, keys of other kinds."""
    text = "\n".join(line["text"] for line in lines(SHIPPED, "clean"))
    return (text * (MB // len(text) + 1))[:MB]


def entries() -> list[tuple[str, object]]:
    """Give the innocent MCP entries of the corpus."""
    return [(line["name"], line["entry"]) for line in lines(SHIPPED, "mcp_benign")]


def prompts() -> list[str]:
    """Give the innocent prompts of the corpus."""
    return [line["prompt"] for line in lines(SHIPPED, "cron_benign")]


def events(count: int) -> list[bytes]:
    """Give the events of a streamed answer, a few characters each, as a model writes them."""
    text = (_SENTENCES * (count // 40 + 1))[: 5 * count]
    made = []
    for at in range(0, len(text), 5):
        delta = {"index": 0, "delta": {"content": text[at : at + 5]}, "finish_reason": None}
        made.append(
            b"data: "
            + json.dumps({"id": "chatcmpl-1", "object": "chat.completion.chunk", "choices": [delta]}).encode()
            + b"\n\n"
        )
    return made
