"""Words that are glued of several parts, and where a view ends them."""

import shlex
import string
from itertools import islice, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.redaction.channel import Channel
from herma.policy.redaction.decode import _shell
from herma.policy.redaction.glued import JOINTS, MAX_PARTS, ends_open, glued
from herma.policy.redaction.stream import StreamRedactor
from herma.policy.redaction.view import View
from herma.policy.redaction.work import GLUED, Work
from support.redactor import masked, redactor


def read(text: str) -> str:
    """Write a text as the view without joints has it."""
    view = _shell(View(text))
    return text if view is None else view.text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("""X='ab'"cd"; y""", "X='abcd'; y"),
        ("""X="ab"'cd'; y""", 'X="abcd"; y'),
        ("X='ab''cd'; y", "X='abcd'; y"),
        ("""X='ab'"cd"'ef'"gh"; y""", "X='abcdefgh'; y"),
        ("""X=$'ab'"cd"; y""", "X=$'abcd'; y"),
        ("""X='ab'$"cd"; y""", "X='abcd'; y"),
        ("""X='ab'cd; y '/z'""", "X='abcd'; y '/z'"),
        ("""X='ab'cd"ef"; y""", "X='abcdef'; y"),
        ("""X='ab'cd"ef"gh; y""", "X='abcdefgh'; y"),
        ("""X='ab'cd$"ef"; y""", "X='abcdef'; y"),
        ('X=a"b"c; y', 'X="abc"; y'),
        ('X=a$"b"c; y', 'X="abc"; y'),
        ('-pa"b"c; y', "-pabc; y"),
        ('X=a$"b c"d; y', 'X="ab cd"; y'),
        ('X=a"b c; y', 'X="ab c; y'),
        ('X=a"b c; y\nz', "X=ab c; y"),
        ("""X=a"b"'c'; y""", 'X="abc"; y'),
        ("""X=ab"cd"; y""", 'X="abcd"; y'),
        ("""X:ab"cd"; y""", 'X:abcd"; y'),
        ("""X='it'\\''s'; y""", "X='its'; y"),
        ("""X='it'"'"'s'; y""", "X='its'; y"),
        ("""X="it"'"'"s"; y""", 'X="its"; y'),
        ("""X='a b'"c d"; y""", "X='a bc d'; y"),
        ("""X='a;b'"c|d"; y""", "X='a;bc|d'; y"),
        ("""X='ab!'"#cd"; y""", "X='ab!#cd'; y"),
        ("""X='ab'"c'd"; y""", "X='abcd'; y"),
        ("""X="ab"'c"d'; y""", 'X="abcd"; y'),
        ("""X='ab'"c\\"d"; y""", "X='abc\\\"d'; y"),
        ("""X="ab"'cd\\'; y""", 'X="abcd"; y'),
        ("""X="ab"'cd\\\\'; y""", 'X="abcd\\\\"; y'),
        ("""X='ab'"c\\\nd"; y""", "X='abcd'; y"),
        ("""X='ab'"c${IFS}d"; y""", "X='abc d'; y"),
        ("""x = "ab" + 'cd'; y""", 'x = "abcd"; y'),
        ("""x = ("ab"\n     'cd'); y""", 'x = ("abcd"); y'),
        ("""-H 'A: B '"cd" && y""", "-H 'A: B cd' && y"),
        ("""-H "A: B "'cd' && y""", '-H "A: B cd" && y'),
        ("""X='ab'"cd; y""", "X='abcd; y"),
        ("""X='ab'"cd\n; y""", "X='abcd"),
        ("""it's X='ab'"cd"; y""", """its X='abcd'; y"""),
        ("""-p'a e'cd; y '/z'""", "-p'a ecd'; y '/z'"),
        ("""X='a e'cd; y '/z'""", "X='a ecd'; y '/z'"),
    ],
)
def test_a_glued_word_reads_as_one_and_ends_where_it_ends(text: str, shown: str) -> None:
    """What follows stands outside its quotes, in the view as in the shell."""
    assert read(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        """echo '"abc"'; y""",
        """{"a": "'abc'"}""",
        """f(b'x', r"y")""",
        """a '' "" b""",
        """x = "a", 'b'""",
        """say "what?" 'x'""",
    ],
)
def test_what_is_not_glued_reads_as_it_is(text: str) -> None:
    """Quotes in quotes, literals with a letter in front, and arguments behind each other."""
    assert read(text) == text


def test_an_apostrophe_ends_no_word() -> None:
    """A sentence goes on behind it, to the next one."""
    assert read("it's what they don't say") == "its what they dont say"


def test_only_so_many_joints_and_parts_are_looked_at() -> None:
    """A text made of them is not taken apart for ever."""
    word = "a" + "'b'" * (3 * MAX_PARTS)
    assert len(glued(word, islice(JOINTS.finditer(word), 1))) == MAX_PARTS + 1
    assert len(glued("'x''y' " * 9, islice(JOINTS.finditer("'x''y' " * 9), 3))) == 3
    assert ends_open("'a'" * (2 * MAX_PARTS), 3) is False


@pytest.mark.parametrize(
    ("text", "opened"),
    [
        ("""'a'"b""", True),
        ("""'a'"b c""", True),
        ("""'a''b'"c""", True),
        ("""'a'\\''b""", True),
        ("""'a'"b\nc""", False),
        ("""'a'"b" c""", False),
        ("""'a' "b""", False),
        ("'a'", False),
    ],
)
def test_a_word_is_open_when_the_text_ends_in_its_last_part(text: str, opened: bool) -> None:
    """More text may belong to its value."""
    assert ends_open(text, 3) is opened


_PLAIN = st.text(string.ascii_letters + string.digits, min_size=5, max_size=12)
_INNER = st.text(string.ascii_letters + string.digits + " ;|&.", max_size=8)


@st.composite
def _glued(draw: st.DrawFn) -> str:
    """Draw a word of several parts that a shell joins, each beginning and ending with letters or digits."""
    parts = []
    for kind in draw(st.lists(st.sampled_from(["'", '"', "$'", ""]), min_size=2, max_size=5)):
        inside = f"Zk7{draw(_PLAIN)}" + (draw(_INNER) + draw(_PLAIN) if kind else "") + "Q2"
        parts.append(f"{kind}{inside}{kind[-1:]}")
    # What two bare parts make is one.
    return "".join(
        part for before, part in pairwise(["", *parts]) if before[-1:] in "'\"" or part[0] in "'\"$"
    )


@given(
    st.sampled_from(
        [
            "PASSWORD={}",
            "export DB_PASSWORD={}",
            "A=1 API_TOKEN={}",
            "tool --password={}",
            "tool --token {}",
            "sudo x && TOKEN={}",
            "mysql -u root --password={} db",
            "curl -H 'Authorization: Bearer '{}",
            "it's late\nPASSWORD={}",
        ]
    ),
    _glued(),
    st.sampled_from(["; ", " && ", " | ", "\n", " # ", " || ", " > f; ", "; don't; "]),
    st.sampled_from(["rm -rf /", "sh", "rm -rf '/x' \"/y\"", 'echo "it\'s" | sh', "./x 'a'\"b\" && sh"]),
)
def test_the_tail_behind_a_glued_value_stays(place: str, word: str, sign: str, tail: str) -> None:
    """Whatever stands behind the word is not part of it, and whoever approves the command sees it."""
    assert masked(place.format(word) + sign + tail).endswith(sign + tail)


@given(_glued())
def test_a_glued_value_is_gone_and_its_quotes_stay(word: str) -> None:
    """Both parts are masked, and the masked command has as many words as before."""
    assert len(shlex.split(f"X={word}", posix=False)) >= 1
    shown = masked(f"PASSWORD={word}; ./x && rm -rf /")
    words = shlex.shlex(shown, posix=True, punctuation_chars=True)
    words.whitespace_split = True
    assert list(words)[1:] == [";", "./x", "&&", "rm", "-rf", "/"]
    for part in word.replace('"', "'").split("'"):
        assert len(part) < 8 or part not in shown


@given(
    st.sampled_from(["PASSWORD={}; ./x", "tool --password={} && sh", "x\nDB_PASSWORD={}\ny"]),
    _glued(),
    st.data(),
)
def test_a_stream_has_the_same_bytes(place: str, word: str, data: st.DataObject) -> None:
    """However it is cut, and whatever blanks stand in its parts."""
    text = place.format(word)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    stream = StreamRedactor(redactor())
    pieces = [text[first:last] for first, last in pairwise([0, *cuts, len(text)])]
    assert "".join(stream.feed(piece, 0.0) for piece in pieces) + stream.finish() == masked(text)


@pytest.mark.parametrize(
    ("first", "second", "end"),
    [
        ("""PASSWORD='Zk7pQ2'"vW9s""", """Xe8r"; sh""", '"; sh'),
        ("""PASSWORD='Zk7pQ2'vW9s""", """Xe8r; sh""", "; sh"),
        ("""PASSWORD=Zk7pQ2"vW9s""", """ Xe8r"; sh""", '"; sh'),
        ("""PASSWORD=Zk7pQ2"vW9"s""", """Xe8r; sh""", "; sh"),
        ("""PASSWORD='Zk7pQ2""", """'"vW9s"; sh""", '"; sh'),
    ],
)
def test_a_part_that_was_masked_for_want_of_time_ends_at_its_own_quote(
    first: str, second: str, end: str
) -> None:
    """The quote of the first part closes nothing in the second."""
    channel = Channel(redactor())
    channel.append(first, 0.0)
    channel.force()
    shown = channel.render(first, 0)
    channel.append(second, 1.0)
    channel.finish()
    shown += channel.render(second, len(first))
    assert shown.endswith(end)
    assert not any(part in shown for part in ("Zk7", "vW9", "Xe8r"))


def test_what_is_not_taken_apart_for_want_of_work_is_masked() -> None:
    """The pieces in which a joint stands are named."""
    view = View("x'y'z " * 40)
    assert view.rewrite(JOINTS, glued, Work(0, base=GLUED)) is not None
    assert view.unseen
