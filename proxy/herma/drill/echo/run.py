"""One background run: a question may stand in its way, and its events wait for one reader.

Nothing happens by itself. A run goes as far as it can when it is started, when its question is answered, and when it is
stopped; so it needs no task, and the same requests give the same events.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from herma.drill.echo.turn import Turn, words

__all__ = ["CHOICES", "Run"]

CHOICES = ("once", "session", "always", "deny")
_ALIASES = {"approve": "once", "approved": "once", "allow": "once"}


class Run:
    """A run and what it has told so far."""

    def __init__(
        self, run_id: str, session_id: object, turn: Turn, model: str, clock: Callable[[], float]
    ) -> None:
        self.id = run_id
        self.read_by_someone = False
        self.ended = False
        self.asking = False
        self.events: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self._turn = turn
        self._clock = clock
        self._status: dict[str, Any] = {
            "object": "hermes.run",
            "run_id": run_id,
            "status": "running",
            "updated_at": clock(),
            "created_at": clock(),
            "session_id": session_id,
            "model": model,
            "last_event": None,
        }
        self._ask() if turn.command is not None else self._finish("")

    @property
    def status(self) -> dict[str, Any]:
        """The run as `GET /v1/runs/{id}` shows it."""
        return dict(self._status)

    def answer(self, choice: object) -> str | None:
        """Answer the open question; None when the choice is none of the offered ones."""
        word = choice.strip().lower() if isinstance(choice, str) else ""
        word = _ALIASES.get(word, word)
        if word not in CHOICES:
            return None
        self.asking = False
        self._tell("approval.responded", choice=word, resolved=1)
        self._tell("tool.completed", tool="terminal", duration=0.0, error=word == "deny")
        self._finish(word)
        return word

    def stop(self) -> None:
        """End the run here; its open question counts as denied. A run without one has ended already."""
        self.asking = False
        self._tell("tool.completed", tool="terminal", duration=0.0, error=True)
        self._tell("run.cancelled")
        self._end("cancelled")

    def _ask(self) -> None:
        self._tell("tool.started", tool="terminal", preview=self._turn.preview)
        self.asking = True
        self._tell(
            "approval.request",
            command=self._turn.command,
            pattern_key="echo",
            pattern_keys=["echo"],
            description="echo agent: every command is asked for",
            allow_permanent=True,
            choices=list(CHOICES),
        )
        self._status["status"] = "waiting_for_approval"

    def _finish(self, choice: str) -> None:
        output = self._turn.output(choice)
        for word in words(output):
            self._tell("message.delta", delta=word)
        asked, answered = self._turn.usage(output)
        usage = {"input_tokens": asked, "output_tokens": answered, "total_tokens": asked + answered}
        self._tell("run.completed", output=output, usage=usage)
        self._status |= {"output": output, "usage": usage}
        self._end("completed")

    def _end(self, status: str) -> None:
        self._status["status"] = status
        self.ended = True
        self.events.put_nowait(None)

    def _tell(self, event: str, **fields: Any) -> None:
        now = self._clock()
        self._status |= {"last_event": event, "updated_at": now}
        self.events.put_nowait({"event": event, "run_id": self.id, "timestamp": now, **fields})
