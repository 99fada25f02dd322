"""What a profile says of the turns that calls over a WebSocket start: data only, no judgement."""

from dataclasses import dataclass

__all__ = ["TurnEvents"]


@dataclass(frozen=True, slots=True)
class TurnEvents:
    """How an upstream tells over a WebSocket when turns begin and end.

    `kind` and `names` are JSON Pointers into its events: what happened, and which turn it is about (the first of `names` that is
    there). `call` points into the parameters of a call: there stands the turn that it is about, or starts. `begin`, `done`, `end` and `fail` are kinds of events: a turn began; its text is complete,
    and the agent may go on by itself; it is over; it failed, and is over if it had not begun. `idle` points at what is False in an event
    when the agent runs no turn of that name. `stop` are calls after which a turn that has not begun may never begin, without a word;
    `leave` are those after which the agent says nothing more of a turn.
    """

    kind: str
    names: tuple[str, ...]
    call: str
    begin: frozenset[str] = frozenset()
    done: frozenset[str] = frozenset()
    end: frozenset[str] = frozenset()
    fail: frozenset[str] = frozenset()
    idle: str = ""
    stop: frozenset[str] = frozenset()
    leave: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        """Refuse what would hold the slots of turns for ever.

        Raises:
            ValueError: no event tells of an end.
        """
        if not (self.end or self.idle):
            raise ValueError("a turn that never ends would keep its slot for ever")
