"""What a growing text has shown so far."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from herma.policy.redaction.gate import lowered
from herma.policy.redaction.watch import SUSPICIOUS, Watch
from support.redactor import redactor

FINDER = redactor().finder
TEXTS = st.lists(
    st.sampled_from(
        ["echo ", "Password", "tok", "en", " ", "\n", "aB", "1", "seed phrase", "x", "é", "\\", "printf"]
    ),
    max_size=20,
).map("".join)


@given(TEXTS, st.lists(st.integers(0, 120), max_size=20))
@settings(max_examples=200)
def test_pieces_show_what_the_whole_shows(text: str, cuts: list[int]) -> None:
    """However a text is cut: the last keyword, the last suspicious characters, the line and its first command."""
    watch = Watch(FINDER)
    for a, b in pairwise(sorted({0, len(text), *(min(cut, len(text)) for cut in cuts)})):
        watch.take(text[a:b])
    lower = lowered(text)
    line = text.rfind("\n") + 1
    command = FINDER.commands.first_start(lower[line:])
    assert watch.total == len(text)
    assert max(watch.keyword, 0) == FINDER.gate.last_end(lower)
    assert watch.line == line
    assert watch.command == (line + command if command >= 0 else -1)
    ends = [at + len(found.group()) for at in range(len(text)) if (found := SUSPICIOUS.match(text, at))]
    # Of two that overlap the search sees the first.
    assert max(ends, default=-1) - 2 <= watch.suspicious <= max(ends, default=-1)
