"""Masked lines of a text are put back where they were shown, and nowhere else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.change.lines import restored_text
from herma.policy.entry.yamltext import read_yaml
from herma.policy.jsondoc import strings

MASK = "[password:7f3a91c2]"
HELD = """\
# the key is s3cret
model:
  default: stub
  api_key: s3cret
servers:
  one:
    url: https://a.example.com
    headers: {token: s3cret, x: y}
  two:
    key: |
      -----BEGIN-----
      aaaa
      bbbb
    url: https://b.example.com
last: s3cret"""
SHOWN = HELD.replace("      -----BEGIN-----\n      aaaa\n      bbbb", "      [private_key:0badcafe]").replace(
    "s3cret", MASK
)


def test_a_text_that_is_saved_as_it_was_shown_is_as_it_was() -> None:
    """Comments, flow style, a secret of several lines, the last line."""
    found = restored_text(SHOWN, SHOWN, HELD)
    assert found.text == HELD
    assert found.lines == (1, 4, 8, 11, 13)


def test_lines_may_be_edited_around_masked_ones() -> None:
    """Whatever else is written, the values stay where they are."""
    new = SHOWN.replace("default: stub", "default: other\n  more: x").replace("b.example", "c.example")
    edited = HELD.replace("default: stub", "default: other\n  more: x").replace("b.example", "c.example")
    assert restored_text(new, SHOWN, HELD).text == edited


@pytest.mark.parametrize(
    "new",
    [
        "model:\n  default: x\nevil:\n  api_key: [password:7f3a91c2]\n",
        "servers:\n  evil:\n    url: https://evil.example.com\n    headers: {token: [password:7f3a91c2], x: y}\n",
        "last: {a: b}\nmodel:\n  last: [password:7f3a91c2]\n",
        "model: [unclosed\n  api_key: [password:7f3a91c2]\n",
        "note: >\n  api_key: [password:7f3a91c2]\n  tail\nlast: [password:7f3a91c2]\n",
        "model:\n  api_key: x[password:7f3a91c2]\n",
        "model:\n  api_key: [password:00000000]\n",
        "nothing: masked\n",
        "",
    ],
)
def test_a_secret_does_not_travel(new: str) -> None:
    """A line below another key, an edited line, a text that cannot be read: nothing at all is put back."""
    found = restored_text(new, SHOWN, HELD)
    assert found == (new, ())


def test_one_line_that_travels_keeps_all_from_being_put_back() -> None:
    """Half of a text would be no text that anybody has seen."""
    new = SHOWN + "\nevil:\n  api_key: [password:7f3a91c2]\n"
    assert restored_text(new, SHOWN, HELD) == (new, ())


@pytest.mark.parametrize(
    ("shown", "held"),
    [
        ("a: [x:00000000]\nb: 1", "a: s3cret\nb: 2"),
        ("a: [x:00000000]\nc: [x:00000000]", "a: s3cret\nc: other"),
        ("a: 1\nb: [x:00000000]", "a: 2\nb: s3cret"),
        ("a: [x:00000000]\nb: 1", "a: s3cret"),
        ("a: 1\nb: [x:00000000]", "a: 1"),
        ("k: [x:00000000]\nk: [x:00000000]", "k: s3cret\nk: other"),
    ],
)
def test_texts_that_do_not_run_side_by_side_give_nothing_back(shown: str, held: str) -> None:
    """Then nobody can say what a line stands for."""
    new = shown if "k:" in shown else shown + "\n"
    found = restored_text(new, shown, held)
    if shown.startswith("a: [x:00000000]\nc"):
        # Different lines, each with its own value.
        assert found.text == held + "\n"
    else:
        assert found == (new, ())


NAMES = st.sampled_from(["model", "servers", "api_key", "last", "evil", "default"])
LINES = st.lists(
    st.sampled_from(SHOWN.split("\n"))
    | st.builds(lambda name, depth: f"{'  ' * depth}{name}: {MASK}", NAMES, st.integers(0, 2)),
    max_size=12,
)


@given(LINES)
def test_secrets_only_stand_where_they_are_held(lines: list[str]) -> None:
    """However lines of the page are put together, nothing of a secret goes where it was not."""
    found = restored_text("\n".join(lines), SHOWN, HELD)
    if found.lines:
        held = dict(strings(read_yaml(HELD)))
        for place, text in strings(read_yaml(found.text), keys=True):
            if "s3cret" in text or "BEGIN" in text:
                assert held.get(place) == text
