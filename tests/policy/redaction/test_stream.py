"""Plain text in pieces: no cut of any rule's example lets through what the whole text loses."""

from functools import lru_cache
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from herma.policy.redaction.channel import DEADLINE_S
from herma.policy.redaction.stream import StreamRedactor
from support.redactor import PASSWORD, masked, redactor, rules

# A piece of a secret of this length is a leak.
LEAK_CHARS = 8
EXAMPLES = [example for rule in rules() for example in rule.examples.match]
OPEN_KINDS = [
    "curl -u 'editor:46Vf c6Ee TWCG g8qF wAQX HYSu' https://blog.example/posts",
    "Recovery codes for kim:\n8fe9e-74b8c\n901b1-8910c\n5c85d-ca554\nStore them offline.",
    "net use Z: \\\\nas\\share F4keU850dbP /user:ACME\\bob /persistent:yes",
    'const apiKey =\n  "F4keK3yF0rT3stN0x";\nconst b = 1;',
    "bot token 1234567890:AAF4keK3yF0rT3stF4keK3yF0rT3stF4keK is set",
    'adapter: mysql2\npassword: <%= "ginger-thunder-271" %>\npool: 5',
]


@lru_cache(maxsize=4096)
def lost(text: str) -> tuple[str, ...]:
    """Give the runs of a text that masking takes away."""
    out = masked(text)
    parts = [text[edit.start : edit.end] for edit in redactor().edits(text)]
    runs = {part[at : at + LEAK_CHARS] for part in parts for at in range(len(part) - LEAK_CHARS + 1)}
    return tuple(run for run in runs if run not in out)


def run(pieces: list[str]) -> str:
    stream = StreamRedactor(redactor())
    return "".join(stream.feed(piece, 0.0) for piece in pieces) + stream.finish()


def leaks(text: str, cuts: list[int]) -> list[str]:
    places = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    out = run([text[a:b] for a, b in pairwise(places)])
    return [part for part in lost(text) if part in out]


def test_a_character_at_a_time_no_example_leaks() -> None:
    """Each example of each rule."""
    assert [text for text in [*EXAMPLES, *OPEN_KINDS] if leaks(text, list(range(len(text))))] == []


@given(st.sampled_from([*EXAMPLES, *OPEN_KINDS]), st.lists(st.integers(0, 4096), max_size=6))
def test_no_split_of_an_example_leaks(text: str, cuts: list[int]) -> None:
    """What the whole text loses is in no output."""
    assert leaks(text, cuts) == []


def test_what_is_held_leaves_at_its_deadline() -> None:
    """A line that nothing has explained is released, and nothing before it is due."""
    stream = StreamRedactor(redactor())
    assert stream.tick(0.0) == ""
    out = stream.feed("net use Z: \\\\nas\\share plain", 1.0)
    assert stream.deadline() == 1.0 + DEADLINE_S
    assert stream.tick(1.0) == ""
    assert out + stream.tick(1.0 + DEADLINE_S) == "net use Z: \\\\nas\\share plain"


def test_what_would_be_explained_too_late_is_masked_at_the_deadline() -> None:
    """A password that only the next option would tell does not leave because the option is slow."""
    stream = StreamRedactor(redactor())
    out = stream.feed(f"net use Z: \\\\nas\\share {PASSWORD}", 1.0) + stream.tick(2.0)
    out += stream.feed(" /user:bob", 2.0) + stream.finish()
    assert PASSWORD not in out
    assert stream.take_findings() != ()
