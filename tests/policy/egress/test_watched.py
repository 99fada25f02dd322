"""What stands in watched files is known again, and nothing else is."""

import json

import pytest
from cryptography.hazmat.primitives.asymmetric import ed25519
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.egress.watched import Watched
from herma.policy.secret import Secret

KEY = Secret(b"a key for tests only, 32 bytes long")
FILE = """
# the settings of an agent
export API_KEY="k3y-0f-th3-t3st-0001"
PASSWORD = 'corr3ct horse b4ttery' # a comment
URL=https://agent.example.com/v1/models
DATABASE=postgres://agent:s3cr3t-0f-1t@db.example.com/agent
SHORT=abc123
WORD=production-environment
RECIPE=three spoons of plain flour
a-line-that-is-n0-assignment
"""


def of(*texts: str) -> Watched:
    """What is known of some files."""
    return Watched.of(KEY, texts)


@pytest.mark.parametrize(
    "text",
    [
        FILE,
        'API_KEY="k3y-0f-th3-t3st-0001"',
        "look: k3y-0f-th3-t3st-0001, and go on",
        "https://example.com/?q=k3y-0f-th3-t3st-0001",
        "user:k3y-0f-th3-t3st-0001@example.com",
        "corr3ct horse b4ttery",
        "PASSWORD = 'corr3ct horse b4ttery'",
        "a-line-that-is-n0-assignment",
        "three spoons of plain flour",
        "RECIPE=three spoons of plain flour",
    ],
)
def test_a_line_or_its_value_is_known_again(text: str) -> None:
    """Alone, with its name, and in the middle of a sentence or a URL."""
    assert of(FILE).found(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "abc123",
        "production-environment",
        "https://agent.example.com/v1/models",
        "# the settings of an agent",
        "API_KEY is not set",
        "k3y-0f-th3-t3st-0002",
        "three spoons of plain sugar",
    ],
)
def test_what_many_files_hold_is_no_secret(text: str) -> None:
    """Short values, words, addresses, comments and names."""
    assert not of(FILE).found(text)


def test_without_files_nothing_is_known() -> None:
    """Nor is anything looked for."""
    assert not of().found(FILE)
    assert len(of()) == 0
    assert len(of(FILE)) > 0


KEY_TEXT = ed25519.Ed25519PrivateKey.from_private_bytes(bytes(range(32))).private_bytes(
    Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()
)


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("", []),
        ("nothing", []),
        ("a k3y-0f-th3-t3st-0001, b", [(2, 22)]),
        ("**k3y-0f-th3-t3st-0001**.", [(2, 22)]),
        ("API_KEY=k3y-0f-th3-t3st-0001 k3y-0f-th3-t3st-0001", [(8, 28), (29, 49)]),
        ("x\n  k3y-0f-th3-t3st-0001 # it\ny", [(4, 24)]),
        ("A=1\0B=k3y-0f-th3-t3st-0001\0C=2", [(6, 26)]),
        ("PASSWORD = corr3ct horse b4ttery # and more", [(11, 32)]),
        ('{"note": "corr3ct horse b4ttery"}', [(10, 31)]),
        ("=" * 5000, []),
    ],
)
def test_where_it_stands_is_told(text: str, spans: list[tuple[int, int]]) -> None:
    """The value, and nothing around it."""
    assert of(FILE).spans(text) == spans


def test_a_private_key_is_known_by_any_piece_of_it() -> None:
    """In lines of another length; where it stands is told by what is known of it."""
    key = KEY_TEXT.decode()
    body = "".join(key.splitlines()[1:-1])
    wrapped = "\n".join(body[at : at + 50] for at in range(0, len(body), 50))
    known = of("# mine\n" + key).joined(of(FILE))
    for text in (key, wrapped, json.dumps(key)):
        assert known.found(text)
    ((start, end), *_) = known.spans(wrapped)
    assert end - start > 20
    assert not of(FILE).found(key)
    assert not known.found("a text of some words, and of some more of them")


RARE = ("F4keK3yF0rT3stF4keK3y", "0123456789abcdef0123456789abcdef", "f4k3k3yf0rt3stf4k3k3yf0rt3st")


@pytest.mark.parametrize("value", RARE)
@pytest.mark.parametrize("text", ["id_{}", "{}.collector.example", "xx{}yy", "/a-{}-b", "{}+{}", "a.{}"])
def test_a_value_that_is_rare_is_known_inside_of_a_word(value: str, text: str) -> None:
    """It is enough to write a letter before it, or to make it a part of the name of a host."""
    both = of(f"A={RARE[0]}", f"B={RARE[1]}").joined(of(f"C={RARE[2]}", f"D={RARE[0]}-and-another-1"))
    spans = both.spans(text.format(value, value))
    assert [text.format(value, value)[slice(*span)] for span in spans] == [value] * text.count("{}")


@pytest.mark.parametrize(
    "value", ["claude-opus-4-20250514", "/home/Agent1/of-the-house", "agent-01.example.com"]
)
def test_a_name_is_known_by_itself_only(value: str) -> None:
    """Longer names begin like it."""
    assert of(f"A={value}").found(value)
    assert not of(f"A={value}").found(f"x{value}y")


def test_two_are_joined() -> None:
    """A key that was changed is still a key for a while."""
    both = of("A=0lder-value-of-it").joined(of("A=n3wer-value-of-it"))
    assert both.found("0lder-value-of-it")
    assert both.found("n3wer-value-of-it")


@given(st.text(max_size=200), st.text(max_size=200))
def test_a_value_is_found_whatever_stands_around_it(before: str, after: str) -> None:
    """As long as a blank or a quote stands between."""
    assert of(FILE).found(f"{before} k3y-0f-th3-t3st-0001 {after}")
