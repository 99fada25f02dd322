"""Claims about `herma.content.ioc.stix_pattern`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.content.ioc.stix_pattern import (
    Comparison,
    Every,
    Node,
    Observed,
    PatternError,
    Some,
    parse_pattern,
)

A = Comparison("ipv4-addr:value", "=", ("1.2.3.4",))
B = Comparison("domain-name:value", "=", ("evil.example",))
C = Comparison("url:value", "=", ("http://x.example/",))
A_TEXT, B_TEXT, C_TEXT = (f"{one.path} = '{one.values[0]}'" for one in (A, B, C))

READ: dict[str, Node] = {
    f"[{A_TEXT}]": A,
    f" ( [ {A_TEXT} ] ) ": A,
    f"[{A_TEXT} OR {B_TEXT}]": Some((A, B)),
    f"[{A_TEXT} AND {B_TEXT} OR {C_TEXT}]": Some((Every((A, B), joined=True), C)),
    f"[{A_TEXT} AND ({B_TEXT} OR {C_TEXT})]": Every((A, Some((B, C))), joined=True),
    f"[{A_TEXT}] OR [{B_TEXT}]": Some((A, B)),
    f"[{A_TEXT}] AND [{B_TEXT}]": Every((A, B), joined=False),
    f"[{A_TEXT}] FOLLOWEDBY [{B_TEXT}]": Every((A, B), joined=False),
    f"[{A_TEXT}] AND [{B_TEXT}] OR [{C_TEXT}]": Some((Every((A, B), joined=False), C)),
    f"[{A_TEXT}] WITHIN 300 SECONDS": Observed(A),
    f"([{A_TEXT}] OR [{B_TEXT}]) REPEATS 5 TIMES WITHIN 1.5 SECONDS": Observed(Observed(Some((A, B)))),
    f"[{A_TEXT}] START t'2026-01-01T00:00:00Z' STOP t'2026-02-01T00:00:00Z'": Observed(A),
    "[file:hashes.'SHA-256' = 'ab']": Comparison("file:hashes.SHA-256", "=", ("ab",)),
    "[file:hashes.MD5 IN ('a', 'b')]": Comparison("file:hashes.MD5", "IN", ("a", "b")),
    "[xyz:values[*].name LIKE '%a_']": Comparison("xyz:values.name", "LIKE", ("%a_",)),
    "[xyz:values[0].'a b' MATCHES '^a\\\\.b$']": Comparison("xyz:values.a b", "MATCHES", ("^a\\.b$",)),
    "[file:name = 'it\\'s']": Comparison("file:name", "=", ("it's",)),
    "[file:size > 10]": Comparison("file:size", ">", ("10",)),
    "[file:size == -1.5]": Comparison("file:size", "=", ("-1.5",)),
    "[file:name != 'a']": Comparison("file:name", "=", ("a",), negated=True),
    "[NOT file:name = 'a']": Comparison("file:name", "=", ("a",), negated=True),
    "[file:name NOT = 'a']": Comparison("file:name", "=", ("a",), negated=True),
    "[NOT file:name != 'a']": Comparison("file:name", "=", ("a",)),
    "[EXISTS file:name]": Comparison("file:name", "EXISTS", ()),
    "[file:is_multipart = true]": Comparison("file:is_multipart", "=", ("true",)),
    "[file:payload = b'YQ==']": Comparison("file:payload", "=", ("YQ==",)),
    "[ipv4-addr:value ISSUBSET '1.2.3.0/24']": Comparison("ipv4-addr:value", "ISSUBSET", ("1.2.3.0/24",)),
}


@pytest.mark.parametrize(("text", "node"), READ.items(), ids=READ.keys())
def test_patterns_are_read(text: str, node: Node) -> None:
    """Comparisons, what joins them, and what qualifies them."""
    assert parse_pattern(text) == node


BROKEN = [
    "",
    "[",
    "[]",
    A_TEXT,
    f"[{A_TEXT}",
    f"[{A_TEXT}]]",
    f"[{A_TEXT}] [{B_TEXT}]",
    f"[{A_TEXT}] OR",
    f"[{A_TEXT} XOR {B_TEXT}]",
    "[ipv4-addr:value '1.2.3.4']",
    "[ipv4-addr:value = 1.2.3.4]",
    "[ipv4-addr:value = '1.2.3.4]",
    "[ipv4-addr:value = ]",
    "[ipv4-addr:value IN ()]",
    "[ipv4-addr:value IN ('a' 'b')]",
    "[value = 'x']",
    f"[{A_TEXT}] WITHIN x SECONDS",
    f"[{A_TEXT}] REPEATS 5",
    f"[{A_TEXT}] START t'a' t'b'",
    "[file:name = 'a'] \u00a7",
]


@pytest.mark.parametrize("text", BROKEN)
def test_what_is_no_pattern_is_refused(text: str) -> None:
    """With the place, and none of the text."""
    with pytest.raises(PatternError) as raised:
        parse_pattern(text)
    assert "1.2.3.4" not in str(raised.value)


def test_patterns_are_bounded() -> None:
    """In length, depth, comparisons and lists."""
    for text, says in (
        ("[" + "x" * 70_000, "characters"),
        ("(" * 40 + f"[{A_TEXT}]" + ")" * 40, "nested"),
        ("[" + "(" * 40 + A_TEXT + ")" * 40 + "]", "nested"),
        ("[" + " OR ".join(["a-a:b=1"] * 2001) + "]", "comparisons"),
        ("[file:name IN (" + ",".join(["'a'"] * 2001) + ")]", "values"),
    ):
        with pytest.raises(PatternError, match=says):
            parse_pattern(text)


def test_many_parts_side_by_side_are_not_deep() -> None:
    """A long list of observations is read."""
    node = parse_pattern(" OR ".join([f"([{A_TEXT}])"] * 300))
    assert isinstance(node, Some)
    assert len(node.parts) == 300


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    """Nothing else happens."""
    try:
        parse_pattern(text)
    except PatternError:
        return


@given(st.text(max_size=30))
def test_every_value_survives_quoting(value: str) -> None:
    """What a producer escapes is what is read."""
    quoted = value.replace("\\", "\\\\").replace("'", "\\'")
    assert parse_pattern(f"[file:name = '{quoted}']") == Comparison("file:name", "=", (value,))


def test_comments_are_blanks() -> None:
    """Both kinds of the grammar, also in front and behind; in a text they are text."""
    plain = parse_pattern("[domain-name:value = 'a.example']")
    text = "/* a */ [ // b\n domain-name:value /***/ = 'a.example' /* c * / */ ] // d"
    assert parse_pattern(text) == plain
    assert parse_pattern("[domain-name:value = '/* a */']") != plain
