"""YAML files with one meaning."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from herma import yamlfile
from herma.errors import ConfigError, Source
from herma.yamlfile import MAX_DEPTH, MAX_PROBLEMS, YamlError, load

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**15), 10**15)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


def codes(text: str | bytes) -> list[str]:
    with pytest.raises(YamlError) as caught:
        load(text if isinstance(text, bytes) else text.encode(), "f.yaml")
    return [problem.code for problem in caught.value.problems]


PLAIN = {
    "true": ("true", True),
    "false": ("False", False),
    "null": ("null", None),
    "tilde": ("~", None),
    "nothing": ("", None),
    "number": ("12", 12),
    "zero": ("0", 0),
    "signed": ("-12", -12),
    "plus": ("+5", 5),
    "hex": ("0x1F", 31),
    "fraction": ("0.25", 0.25),
    "bare fraction": (".5", 0.5),
    "exponent": ("1e3", 1000.0),
    "on is text": ("on", "on"),
    "off is text": ("off", "off"),
    "yes is text": ("yes", "yes"),
    "no is text": ("No", "No"),
    "y is text": ("y", "y"),
    "sexagesimal is text": ("12:30:45", "12:30:45"),
    "date is text": ("2026-01-01", "2026-01-01"),
    "time is text": ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"),
    "underscores are text": ("1_000", "1_000"),
    "equals is text": ("=", "="),
    "quoted number": ("'12'", "12"),
    "quoted true": ('"true"', "true"),
    "quoted octal": ('"0600"', "0600"),
    "quoted nothing": ("''", ""),
    "block": ("|\n  one\n  two\n", "one\ntwo\n"),
    "folded": (">\n  one\n  two\n", "one two\n"),
}


@pytest.mark.parametrize(("text", "value"), PLAIN.values(), ids=PLAIN)
def test_scalar_has_its_core_schema_meaning(text: str, value: object) -> None:
    """A scalar means what the YAML 1.2 core schema says, and nothing YAML 1.1 adds."""
    found = load(f"a: {text}".encode(), "f.yaml").value["a"]
    assert found == value
    assert type(found) is type(value)


REFUSED = {
    "empty": ("", ["yaml.empty"]),
    "only a comment": ("# nothing\n", ["yaml.empty"]),
    "null": ("~", ["yaml.empty"]),
    "syntax": ("a: [", ["yaml.syntax"]),
    "tab": ("\ta: 1", ["yaml.syntax"]),
    "two colons": ("a: b: c", ["yaml.syntax"]),
    "lone surrogate": ('a: "\\ud800"', ["yaml.syntax"]),
    "duplicate": ("a: 1\na: 2", ["yaml.duplicate"]),
    "duplicate in a flow": ("{a: 1, 'a': 2}", ["yaml.duplicate"]),
    "duplicate below a list": ("- {b: 1, b: 2}", ["yaml.duplicate"]),
    "anchor and alias": ("a: &x 1\nb: *x", ["yaml.alias", "yaml.alias"]),
    "anchor on a mapping": ("a: &x {b: 1}", ["yaml.alias"]),
    "alias as key": ("? *x\n: 1", ["yaml.alias"]),
    "merge": ("<<: {a: 1}", ["yaml.merge"]),
    "tag": ("a: !!str 1", ["yaml.tag"]),
    "own tag": ("a: !x 1", ["yaml.tag"]),
    "bare tag": ("a: ! 1", ["yaml.tag"]),
    "python tag": ("a: !!python/object/apply:os.system [x]", ["yaml.tag"]),
    "tag on a list": ("a: !!set [x]", ["yaml.tag"]),
    "two documents": ("a: 1\n---\nb: 2", ["yaml.documents"]),
    "version directive": ("%YAML 1.1\n---\na: 1", ["yaml.directive"]),
    "tag directive": ("%TAG ! x:\n---\na: 1", ["yaml.directive"]),
    "number as key": ("1: a", ["yaml.key"]),
    "true as key": ("true: a", ["yaml.key"]),
    "nothing as key": ("~: a", ["yaml.key"]),
    "list as key": ("? [a]\n: 1", ["yaml.key"]),
    "mapping as key": ("? {a: 1}\n: {b: 2}", ["yaml.key"]),
    "octal": ("a: 0600", ["yaml.number"]),
    "new octal": ("a: 0o600", ["yaml.number"]),
    "too large": ("a: 1e9999", ["yaml.number"]),
    "not a number": ("a: .nan", ["yaml.number"]),
    "infinite": ("a: -.inf", ["yaml.number"]),
    "too many digits": ("a: " + "9" * 5000, ["yaml.number"]),
    "octal as key": ("0600: a", ["yaml.number"]),
    "control character": ("a: \x01", ["yaml.character"]),
    "control character behind others": ("é: 1\nüü: \x01", ["yaml.character"]),
    "hidden break": ("a: 1 # \u2028b: 2", ["yaml.character"]),
    "next line": ("a: 1 # \x85b: 2", ["yaml.character"]),
    "several": ("a: 1\na: 2\nb: .inf\n1: x", ["yaml.duplicate", "yaml.number", "yaml.key"]),
    "before a syntax error": ("a: 1\na: 2\nb: [", ["yaml.duplicate", "yaml.syntax"]),
}


@pytest.mark.parametrize(("text", "expected"), REFUSED.values(), ids=REFUSED)
def test_text_without_one_meaning_is_refused(text: str, expected: list[str]) -> None:
    """What YAML readers disagree about, or what hides something, is refused, and all of it is told."""
    assert codes(text) == expected


def test_bytes_that_are_not_utf8_are_refused_with_their_place() -> None:
    """The first wrong byte is named by line and column."""
    with pytest.raises(YamlError, match=r"f\.yaml:2:4: yaml\.encoding"):
        load(b"a: \xc3\xa9\nb: \xff", "f.yaml")


def test_utf16_is_refused() -> None:
    """A file in UTF-16 is not read as something else."""
    assert codes("a: 1".encode("utf-16")) == ["yaml.encoding"]


def test_byte_order_mark_is_not_part_of_the_first_key() -> None:
    """An editor's mark in front of the file changes nothing."""
    assert load(b"\xef\xbb\xbfa: 1", "f.yaml").value == {"a": 1}


def test_file_of_exactly_the_limit_passes_and_one_more_byte_does_not() -> None:
    """The size is judged before anything is parsed."""
    text = b"a: " + b"x" * 97
    assert load(text, "f.yaml", max_bytes=100).value == {"a": "x" * 97}
    with pytest.raises(YamlError, match="101 bytes, expected at most 100"):
        load(text + b"x", "f.yaml", max_bytes=100)


def test_depth_has_a_limit() -> None:
    """The deepest allowed nesting passes; one more level, or thousands, are refused without recursion."""
    assert load(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH, "f.yaml")
    assert codes("[" * (MAX_DEPTH + 1)) == ["yaml.depth"]
    assert codes("{a: " * 100_000) == ["yaml.depth"]


def test_number_of_problems_has_a_limit() -> None:
    """A file with nothing right in it gives a list that a person can read."""
    assert len(codes("a: .nan\n" * 1000)) == MAX_PROBLEMS


def test_problem_tells_place_and_fix_and_hides_values() -> None:
    """A message has file, line and column, the key, and never a value."""
    with pytest.raises(ConfigError) as caught:
        load(b"key: first-fake-secret\nkey: second-fake-secret\n", "f.yaml")
    assert (
        str(caught.value)
        == "f.yaml:2:1: yaml.duplicate: found the key 'key' twice, first on line 1; keep one"
    )


def test_key_in_a_message_is_short_and_printable() -> None:
    """A key made to disturb a terminal shows as escapes."""
    with pytest.raises(ConfigError) as caught:
        load(b'"\\e[31m' + b"x" * 100 + b'": 1\n"\\e[31m' + b"x" * 100 + b'": 1\n', "f.yaml")
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 150


def test_place_of_values_and_keys() -> None:
    """Every value and every key is found again, counted in characters from 1."""
    loaded = load("é: 1\nb:\n  - x: off\n    y: [1, {z: 2}]\n".encode(), "f.yaml")
    assert loaded.at(()) == Source("f.yaml", 1, 1)
    assert loaded.at(("é",)) == Source("f.yaml", 1, 4)
    assert loaded.at(("b", 0, "y", 1, "z")) == Source("f.yaml", 4, 16)
    assert loaded.key_at(("b", 0, "y")) == Source("f.yaml", 4, 5)
    assert loaded.key_at(("b", 0)) == Source("f.yaml", 3, 5)


def test_place_of_a_missing_value_is_the_place_around_it() -> None:
    """A key that is not there is told where it belongs."""
    loaded = load(b"a:\n  b: 1\n", "f.yaml")
    assert loaded.at(("a", "missing", 3)) == loaded.at(("a",))
    assert loaded.key_at(("missing",)) == loaded.at(())
    assert loaded.has(("a", "b"))
    assert not loaded.has(("a", "c"))


def test_values_do_not_show_places_in_repr() -> None:
    """The table of places stays out of a debug print."""
    assert "_marks" not in repr(load(b"a: 1", "f.yaml"))


@given(VALUES)
def test_written_values_are_read_back(value: object) -> None:
    """What a YAML writer quotes and indents in its own ways is read as it was meant."""

    class Plain(yaml.SafeDumper):
        def ignore_aliases(self, data: object) -> bool:
            return True

    Plain.add_representer(
        str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"')
    )
    text = yaml.dump({"root": value}, Dumper=Plain, width=10_000)
    assert load(text.encode(), "f.yaml").value == {"root": value}


@given(st.binary(max_size=200) | st.text(":-[]{}#&*!|>'\"%@`,? \n\tab01.<~\\", max_size=60).map(str.encode))
def test_any_bytes_are_read_or_refused(text: bytes) -> None:
    """No input raises anything but YamlError, and what is read holds plain values whose places are known."""
    try:
        loaded = load(text, "f.yaml")
    except YamlError:
        return
    assert isinstance(loaded.value, dict | list | str | int | float | bool)
    assert loaded.at(()).line >= 1


def test_public_names() -> None:
    """Nothing else of the module is meant for others."""
    assert set(yamlfile.__all__) == {"MAX_BYTES", "MAX_DEPTH", "Loaded", "Path", "YamlError", "load"}
