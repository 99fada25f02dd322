"""What one message makes the echo agent do."""

import json
import re
from dataclasses import dataclass
from typing import Any

__all__ = ["MAX_TEXT_CHARS", "Turn", "message_text", "turn_of", "words"]

# The real server cuts every text at this length without a word.
MAX_TEXT_CHARS = 65_536

_RUN = "RUN:"


@dataclass(frozen=True, slots=True)
class Turn:
    """A message and what follows from it. `command` is None when the message asks for none."""

    text: str
    command: str | None

    @property
    def preview(self) -> str:
        """The command on one line, raw: the real server shows it so, secrets and all."""
        return " ".join((self.command or "").split())

    @property
    def arguments(self) -> str:
        """The tool call's arguments: JSON inside a string, as models give them."""
        return json.dumps({"command": self.command})

    def output(self, choice: str) -> str:
        """Give the answer once the command, if there is one, was decided on."""
        if self.command is None:
            return f"You said: {self.text}"
        if choice == "deny":
            return "The command was denied and did not run."
        return f"The echo agent runs nothing. The command was: {self.command}"

    @property
    def pending(self) -> str:
        """The tool's result on routes where nobody can answer: the question, raw."""
        return json.dumps(
            {
                "output": "",
                "exit_code": -1,
                "status": "pending_approval",
                "approval_pending": True,
                "command": self.command,
                "description": "echo agent: every command is asked for",
                "pattern_key": "echo",
                "smart_denied": False,
                "allow_permanent": True,
            }
        )

    @property
    def unanswered(self) -> str:
        """The answer on routes where nobody can approve: it repeats the tool's result, as models do."""
        return self.output("") if self.command is None else f"The command waits for approval: {self.pending}"

    def usage(self, answer: str) -> tuple[int, int]:
        """Count words in and out; the real server counts tokens."""
        return len(self.text.split()), len(answer.split())


def turn_of(text: str) -> Turn:
    """Read a message: `RUN:<command>` asks for a command, anything else is echoed."""
    text = text[:MAX_TEXT_CHARS]
    return Turn(text, text.removeprefix(_RUN).strip() if text.startswith(_RUN) else None)


def message_text(value: Any) -> str:
    """Take the prompt out of a message, an input or a list of either; the last one counts, as upstream."""
    match value:
        case str():
            return value
        case {"content": content}:
            return message_text(content)
        case {"text": str(text)}:
            return text
        case [*_, {"role": _, "content": content}]:
            return message_text(content)
        case [*parts]:
            return "\n".join(part for part in map(message_text, parts) if part)
        case _:
            return ""


def words(text: str) -> list[str]:
    """Cut a text after each blank, so that the pieces add up to it."""
    return re.findall(r"\S*\s*", text)[:-1] if text else []
