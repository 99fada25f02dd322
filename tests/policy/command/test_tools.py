"""Claims about `herma.policy.command.tools`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.command.tools import MAX_OUTPUT_CHARS, OutputError, ansi_c, run_tool

RUNS: dict[str, tuple[list[str], str | None, str | None]] = {
    "echo": (["echo", "a", "b"], None, "a b\n"),
    "echo with escapes": (["echo", "-ne", "\\x63\\n"], None, "c\n\n"),
    "echo that some shells read": (["echo", "\\0143url"], None, "\\0143url\ncurl\n"),
    "echo that no shell reads": (["echo", "-E", "\\0143url"], None, "\\0143url\n"),
    "echo with an escaped escape": (["echo", "-e", "\\\\0143"], None, "\\0143\n"),
    "printf of escapes": (["printf", "%b", "\\143\\0165rl"], None, "curl"),
    "printf of a part": (["printf", "%.4s%.s", "curlx", "y"], None, "curl"),
    "printf of characters": (["printf", "%c%c", "cx", "ux"], None, "cu"),
    "printf of numbers": (
        ["printf", "%d %i %u %x %03o", "010", "-0x10", "9", "255", "8"],
        None,
        "8 -16 9 ff 010",
    ),
    "printf of what is no number": (["printf", "%d%d%d", "'A", "x", "'"], None, "6500"),
    "printf with a width": (["printf", "%3s%-3s|", "a", "b"], None, "  ab  |"),
    "printf": (["printf", "%s-%s", "a", "b", "c"], None, "a-bc-"),
    "printf with many repeats": (["printf", "%s", *["a"] * 99], None, "a" * 99),
    "printf with its end of options": (["printf", "--", "a%%"], None, "a%"),
    "printf without a format": (["printf"], None, None),
    "cat": (["cat", "-"], "x", "x"),
    "cat of a file": (["cat", "f"], "x", None),
    "rev": (["rev"], "ab\ncd", "ba\ndc"),
    "rev of nothing known": (["rev"], None, None),
    "tr": (["tr", "a-y", "b-z"], "hal", "ibm"),
    "tr with classes": (["tr", "[:lower:]", "[:upper:]"], "ab", "AB"),
    "tr with a short set": (["tr", "abc", "x"], "abc", "xxx"),
    "tr to nothing": (["tr", "a", ""], "abc", "abc"),
    "tr deleting": (["tr", "-d", "x"], "cxuxrl", "curl"),
    "tr squeezing": (["tr", "-s", "a", "b", "c"], "abc", None),
    "tr of nothing known": (["tr", "a", "b"], None, None),
    "base64": (["base64", "-d"], "Y3VybA==\n", "curl"),
    "base64 encoding": (["base64"], "curl", None),
    "base64 of bytes": (["base64", "-d"], "/////w==", None),
    "openssl": (["openssl", "base64", "-d"], "Y3VybA==", "curl"),
    "openssl with a cipher": (["openssl", "enc", "-d", "-aes-256-cbc"], "x", None),
    "xxd": (["xxd", "-r", "-p"], "6375 726c", "curl"),
    "xxd dumping": (["xxd", "-p"], "curl", None),
    "xxd of bytes": (["xxd", "-r", "-p"], "ffff", None),
    "which": (["which", "-a", "curl"], None, "curl"),
    "which of nothing": (["which"], None, None),
    "command -v": (["command", "-v", "curl"], None, "curl"),
    "command": (["command", "curl"], None, None),
    "rot13": (["rot13"], "phey", "curl"),
    "rot13 of nothing known": (["rot13"], None, None),
    "true": (["true"], None, ""),
    "another tool": (["date"], None, None),
    "an empty word": ([""], None, None),
    "nothing": ([], None, None),
}


@pytest.mark.parametrize(("argv", "stdin", "output"), RUNS.values(), ids=RUNS.keys())
def test_a_tool_prints_what_it_would(argv: list[str], stdin: str | None, output: str | None) -> None:
    """What a plain tool prints is known from its arguments and input, or is not known at all."""
    assert run_tool(argv, stdin) == output


def test_more_than_is_read_is_no_output() -> None:
    """It is told from what is not known."""
    with pytest.raises(OutputError):
        run_tool(["printf", "a" * MAX_OUTPUT_CHARS + "%s", "b"], None)


def test_escapes_are_read_as_the_shell_reads_them() -> None:
    """Hex, octal, Unicode and letters; a surrogate is no character."""
    assert ansi_c("\\x63\\165\\u0072\\n\\q\\ud800") == "cur\nq?"


@given(
    st.sampled_from(["echo", "printf", "tr", "base64", "xxd", "openssl"]),
    st.lists(st.text(max_size=12), max_size=4),
    st.none() | st.text(max_size=40),
)
def test_no_arguments_make_a_tool_fail(tool: str, args: list[str], stdin: str | None) -> None:
    """Any arguments and input give text or nothing."""
    assert isinstance(run_tool([tool, *args], stdin), str | None)
