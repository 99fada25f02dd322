"""What workers tell the hub for the console."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.console import Found, Open, Refused
from herma.runtime.activity import ACTIVITY, REFUSALS_PER_NOTICE, ROWS_PER_NOTICE, Heard, hand_over
from herma.runtime.recent import MAX_OPEN, MAX_RULES, Recent
from herma.store import MessageError, Notice
from herma.store.messages import encode
from support.inprocess import Meter

REFUSED = Refused(
    "00000000000000aa", 12.5, "laptop", "POST", "/api/mcp", "mcp.write", 403, "herma.mcp.x", "No.",
    (Found("mcp-a", "critical", "/a/b", "T1105"),), "dashboard",
)  # fmt: skip
OPEN = Open("laptop", "run.events", "/v1/runs/{run_id}/events", "socket", 10.0, "dashboard")


class Line:
    """A line that takes so many notices; each must fit and survive the way."""

    def __init__(self, room: int = 10_000) -> None:
        self.room = room
        self.sent: list[Any] = []

    def notify(self, topic: str, payload: Any) -> bool:
        assert topic == ACTIVITY
        encode(Notice(topic, payload))
        if len(self.sent) >= self.room:
            return False
        self.sent.append(json.loads(json.dumps(payload)))
        return True


def recent_of(*refusals: Refused, counts: dict[int, dict[str, int]] | None = None) -> Recent:
    recent = Recent(Meter())
    recent.merge(refusals, counts or {})
    return recent


def heard(line: Line) -> tuple[Recent, Heard]:
    recent = Recent(Meter())
    hub = Heard(recent)
    for payload in line.sent:
        hub.hear("worker-0", payload)
    return recent, hub


def test_what_is_told_arrives_as_it_was() -> None:
    """Refusals with their rules, counts, and what is under way."""
    line = Line()
    hand_over(line, recent_of(REFUSED, counts={60: {"mcp": 1, "passed": 7}}), 5, [OPEN])
    recent, hub = heard(line)
    assert recent.refusals() == (REFUSED,)
    assert [(one.begins, one.counts) for one in recent.minutes()] == [(60, {"mcp": 1, "passed": 7})]
    assert hub.under_way() == (5, (OPEN,))


def test_workers_add_up_and_are_forgotten_when_they_are_gone() -> None:
    """A worker's last word is replaced by its next."""
    hub = Heard(Recent(Meter()))
    early = Open("alice", "chat", "", "socket", 1.0)
    for worker, total, listed in (("a", 3, [OPEN]), ("b", 1, [early]), ("a", 2, [OPEN])):
        line = Line()
        hand_over(line, Recent(Meter()), total, listed)
        hub.hear(worker, line.sent[0])
    assert hub.under_way() == (3, (early, OPEN))
    hub.gone("a")
    hub.gone("a")
    assert hub.under_way() == (1, (early,))


@given(st.text(max_size=2000), st.integers(1, 3 * REFUSALS_PER_NOTICE))
def test_whatever_is_told_fits_into_messages(text: str, count: int) -> None:
    """Long and odd texts are cut and made plain; none makes a message that cannot be sent."""
    found = (Found(text, text, text, text),) * MAX_RULES
    refusals = [
        Refused(f"{number:x}{text}", 1.0, "x" + text, text, text, text, 403, text, text, found, text)
        for number in range(count)
    ]
    line = Line()
    hand_over(line, recent_of(*refusals), 1, [Open(text, text, text, "socket", 1e9, text)] * MAX_OPEN)
    recent, _ = heard(line)
    assert len(recent.refusals()) == count


def test_the_longest_of_texts_fit() -> None:
    """At two bytes a character, which is as long as a plain one gets."""
    text = '"\\' * 2000
    found = (Found(text, text, text, text),) * MAX_RULES
    refused = Refused(text, 1.0, text, text, text, text, 403, text, text, found, text)
    line = Line()
    hand_over(
        line,
        recent_of(*[refused] * 150),
        1,
        [Open(text, text, text, "answer under way", 1e9, text)] * MAX_OPEN,
    )
    assert len(line.sent) == 1 + -(-150 // REFUSALS_PER_NOTICE)


def test_what_cannot_be_sent_is_kept() -> None:
    """A hub that does not read for a while misses nothing that is still remembered."""
    recent = recent_of(
        REFUSED, counts={60: {"mcp": 1}, 120: dict.fromkeys(map(str, range(ROWS_PER_NOTICE)), 1)}
    )
    hand_over(Line(0), recent, 0, [])
    assert recent.refusals() == (REFUSED,)
    assert recent.minutes()[0].counts == {"mcp": 1}
    line = Line()
    hand_over(line, recent, 0, [])
    assert [payload[0] for payload in line.sent] == ["open", "counts", "counts", "refused"]


GOOD = ["00aa", 1, "w", "m", "r", "o", 403, "c", "t", [["r", "l", "p", "a"]], "u"]
MALFORMED: dict[str, Any] = {
    "nothing": None,
    "unknown": ["other", 1],
    "total": ["open", "1", []],
    "open": ["open", 1, [["a", "b", "c", "d"]]],
    "since": ["open", 1, [["a", "b", "c", "d", "e"]]],
    "counts": ["counts", 1],
    "row": ["counts", [[60, "mcp"]]],
    "amount": ["counts", [[60, "mcp", 1.5]]],
    "refusal": ["refused", [["a"]]],
    "status": ["refused", [[*GOOD[:6], "403", *GOOD[7:]]]],
    "rule": ["refused", [[*GOOD[:9], [["r", "l", "p"]], "u"]]],
    "upstream": ["refused", [[*GOOD[:10], 1]]],
}


@pytest.mark.parametrize("case", MALFORMED)
def test_what_makes_no_sense_is_refused(case: str) -> None:
    """The worker is cut off then; the page shows nothing of it."""
    recent = Recent(Meter())
    with pytest.raises(MessageError):
        Heard(recent).hear("a", MALFORMED[case])
    assert recent.refusals() == ()


def test_the_good_one_is_taken() -> None:
    """What the malformed ones are made from."""
    recent = Recent(Meter())
    Heard(recent).hear("a", ["refused", [GOOD]])
    assert recent.refusals()[0].upstream == "u"
