"""The pass of all grammars over one text."""

from hypothesis import given
from hypothesis import strategies as st

from herma.policy.redaction.hit import UNJUDGED_ID
from herma.policy.redaction.sweep import STRETCH_CHARS
from herma.policy.redaction.work import PIECE_CHARS, Work
from support.redactor import GITHUB, PASSWORD, masked, redactor

FINDER = redactor().finder


def found(text: str) -> set[tuple[int, int, str]]:
    return {(hit.start, hit.end, hit.rule_id) for hit in FINDER.find(text)}


def test_a_secret_at_any_border_of_stretches_is_found() -> None:
    """Where the text is cut for the gate makes no difference."""
    line = f"export API_TOKEN={GITHUB} && curl -u a:{PASSWORD} h\n"
    for shift in range(0, len(line), 3):
        text = "." * (STRETCH_CHARS - shift) + "\n" + line
        out = masked(text)
        assert out.endswith(masked(line)), shift


def test_the_stretches_together_find_what_the_lines_find() -> None:
    """A long text is its lines."""
    lines = [f"PASSWORD_{number}={PASSWORD}{number} # {GITHUB}\n" for number in range(600)]
    text = "".join(lines)
    assert len(text) > 2 * STRETCH_CHARS
    assert masked(text) == "".join(map(masked, lines))


def test_what_is_not_looked_at_for_want_of_work_is_masked_where_a_rule_could_begin() -> None:
    """Pieces without a keyword pass; the line of the first keyword is masked from its beginning."""
    quiet = "nothing here\n" * (PIECE_CHARS // 6)
    text = f"{quiet}echo {PASSWORD} | docker login --password-stdin\nafter it\n\n{quiet}"
    work = Work(len(text))
    work.left = -1
    (hit,) = FINDER.find(text, work)
    assert hit.rule_id == UNJUDGED_ID
    assert text[: hit.start] == quiet
    assert quiet.endswith(text[hit.end :])
    assert len(text) - hit.end > len(quiet) - 2 * PIECE_CHARS


def test_work_that_ends_in_the_middle_masks_from_there() -> None:
    """What was judged stays judged."""
    text = f"API_TOKEN={GITHUB}\n" * 400
    work = Work(len(text))
    work.left = 5000
    hits = FINDER.find(text, work)
    (unseen,) = [hit for hit in hits if hit.rule_id == UNJUDGED_ID]
    assert 0 < unseen.start < len(text) == unseen.end
    assert len(hits) > 10


def test_a_keyword_inside_a_placeholder_is_none() -> None:
    """Also where many placeholders stand in a row."""
    assert found("[password:01234567]" * 200) == set()
    assert found("[token:01234567] " * 50 + GITHUB) == {(850, 850 + len(GITHUB), "github-pat")}


PARTS = st.sampled_from(
    ["token", "tokens", "key", "path", "_", "-", ".", "=", ": ", " ", "\n", "s", "x", "F4keP4ss_68", "\u00e9"]
)


@given(st.lists(PARTS, max_size=12).map("".join))
def test_what_was_seen_before_changes_nothing(text: str) -> None:
    """A name that announced nothing is passed over where it stands alone, and only there."""
    FINDER.names.nameless.clear()
    first = found(text)
    assert found(text) == first
