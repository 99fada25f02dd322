"""How a worker tells the hub what the console shows: notices that are small, and read strictly.

["open", total, [[who, operation, route, kind, since, upstream], …]]
["counts", [[minute, row, amount], …]]
["refused", [[exchange, at, who, method, route, operation, status, code, reason, [[rule, level, place, attack], …], upstream], …]]
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final, Protocol

from herma.console import Found, Open, Refused
from herma.runtime.recent import Counts, Recent
from herma.store import MessageError

__all__ = ["ACTIVITY", "Heard", "hand_over"]

ACTIVITY: Final = "activity"

# A message between processes holds 64 KiB. With these bounds, and two bytes a character at worst, a refusal takes some 7 KiB and an
# exchange under way less than one.
REFUSALS_PER_NOTICE: Final = 8
ROWS_PER_NOTICE: Final = 500
MAX_NAME_CHARS: Final = 64
MAX_ROUTE_CHARS: Final = 160
MAX_REASON_CHARS: Final = 300
MAX_MARK_CHARS: Final = 16


class Line(Protocol):
    """What leads to the hub."""

    def notify(self, topic: str, payload: Any) -> bool:
        """Tell it something; return False when that cannot be sent now."""
        ...


class Heard:
    """What the hub knows of each worker's exchanges under way, and of what all of them decided."""

    def __init__(self, recent: Recent) -> None:
        self._recent = recent
        self._open: dict[str, tuple[int, tuple[Open, ...]]] = {}

    def gone(self, worker: str) -> None:
        """Forget what a worker had under way."""
        self._open.pop(worker, None)

    def under_way(self) -> tuple[int, tuple[Open, ...]]:
        """Return how many exchanges are under way, and those that the workers named, the longest first."""
        listed = [one for _, named in self._open.values() for one in named]
        return sum(total for total, _ in self._open.values()), tuple(
            sorted(listed, key=lambda one: one.since)
        )

    def hear(self, worker: str, payload: Any) -> None:
        """Take one notice.

        Raises:
            MessageError: it is none of the three.
        """
        match payload:
            case ["open", int(total), [*rows]]:
                self._open[worker] = total, tuple(map(_open, rows))
            case ["counts", [*rows]]:
                self._recent.merge((), _counts(rows))
            case ["refused", [*rows]]:
                self._recent.merge(map(_refused, rows), {})
            case _:
                raise MessageError("a worker's activity is malformed")


def hand_over(line: Line, recent: Recent, total: int, listed: Sequence[Open]) -> None:
    """Tell the hub what is new; what cannot be sent now is kept for the next time."""
    line.notify(ACTIVITY, ["open", total, [_written(one) for one in listed]])
    refusals, counts = recent.take()
    rows = [[begins, name, amount] for begins, row in counts.items() for name, amount in row.items()]
    for batch in _cut(rows, ROWS_PER_NOTICE):
        if not line.notify(ACTIVITY, ["counts", batch]):
            recent.merge((), _counts(batch))
    for some in _cut(refusals, REFUSALS_PER_NOTICE):
        if not line.notify(ACTIVITY, ["refused", [_told(one) for one in some]]):
            recent.merge(some, {})


def _cut[T](items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    for at in range(0, len(items), size):
        yield items[at : at + size]


def _short(text: str, most: int = MAX_NAME_CHARS) -> str:
    """Give a text its bound; a character that takes more than two bytes in a message becomes a question mark."""
    return "".join(one if " " <= one <= "~" else "?" for one in text[:most])


def _written(one: Open) -> list[Any]:
    route, upstream = _short(one.route, MAX_ROUTE_CHARS), _short(one.upstream)
    return [_short(one.who), _short(one.operation), route, one.kind, one.since, upstream]


def _told(one: Refused) -> list[Any]:
    return [
        _short(one.exchange),
        one.at,
        _short(one.who),
        _short(one.method, MAX_MARK_CHARS),
        _short(one.route, MAX_ROUTE_CHARS),
        _short(one.operation),
        one.status,
        _short(one.code),
        _short(one.reason, MAX_REASON_CHARS),
        [_marked(found) for found in one.found],
        _short(one.upstream),
    ]


def _marked(found: Found) -> list[Any]:
    place = _short(found.place, MAX_ROUTE_CHARS)
    return [
        _short(found.rule_id),
        _short(found.level, MAX_MARK_CHARS),
        place,
        _short(found.attack, MAX_MARK_CHARS),
    ]


def _open(row: Any) -> Open:
    match row:
        case [str(who), str(operation), str(route), str(kind), int(since) | float(since), str(upstream)]:
            return Open(who, operation, route, kind, since, upstream)
        case _:
            raise MessageError("a worker's exchanges are malformed")


def _counts(rows: Sequence[Any]) -> Counts:
    counts: Counts = {}
    for row in rows:
        match row:
            case [int(begins), str(name), int(amount)]:
                counts.setdefault(begins, {})[name] = amount
            case _:
                raise MessageError("a worker's decisions are malformed")
    return counts


def _refused(row: Any) -> Refused:
    match row:
        case [
            str(exchange), int(at) | float(at), str(who), str(method), str(route), str(operation),
            int(status), str(code), str(reason), [*found], str(upstream),
        ]:  # fmt: skip
            rules = tuple(map(_found, found))
            return Refused(exchange, at, who, method, route, operation, status, code, reason, rules, upstream)
        case _:
            raise MessageError("a worker's refusals are malformed")


def _found(row: Any) -> Found:
    match row:
        case [str(rule), str(level), str(place), str(attack)]:
            return Found(rule, level, place, attack)
        case _:
            raise MessageError("a worker's findings are malformed")
