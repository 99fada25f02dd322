"""A caller of the gate, for suites that talk to a real agent through it."""

import json
from dataclasses import dataclass
from typing import Any

from support.gate import Gate
from support.raw import Talk, opened, raw

__all__ = ["TURN_TIMEOUT_S", "Client"]

# A first turn imports half the agent; later ones take less than a second.
TURN_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class Client:
    """One caller of the gate."""

    gate: Gate
    key: str = "admin"

    def ask(
        self, method: str, target: str, body: Any = None, *, headers: list[tuple[str, str]] | None = None
    ) -> Talk:
        """Send one request and read the whole answer."""
        data = json.dumps(body).encode() if body is not None else b""
        message = self.gate.message(method, target, key=self.key, body=data, headers=headers or [])
        return raw(self.gate.port, message, timeout_s=TURN_TIMEOUT_S)

    def json(self, method: str, target: str, body: Any = None, *, status: int = 200) -> Any:
        """Send one request and return the document of its answer."""
        talk = self.ask(method, target, body)
        assert talk.status == status, (talk.status, talk.received[-800:])
        return json.loads(talk.first.body)

    def start_run(self, prompt: str, *, prefix: str = "") -> str:
        """Start a background run."""
        return str(self.json("POST", f"{prefix}/v1/runs", {"input": prompt}, status=202)["run_id"])

    def follow(self, run_id: str, *, answer: str | None = None, prefix: str = "", stop: bool = False) -> Talk:
        """Follow a run to the end of its stream; answer (or stop at) the first approval prompt."""
        target = f"{prefix}/v1/runs/{run_id}"
        with opened(self.gate.port, self.gate.message("GET", f"{target}/events", key=self.key)) as stream:
            if answer is not None or stop:
                stream.read_until(b"approval.request", TURN_TIMEOUT_S)
                stream.read_until(b"\n\n", TURN_TIMEOUT_S)
                if stop:
                    self.json("POST", f"{target}/stop", {})
                else:
                    self.json("POST", f"{target}/approval", {"choice": answer})
            return stream.talk(timeout_s=TURN_TIMEOUT_S)
