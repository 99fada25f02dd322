"""Claims about `herma.policy.command.line`."""

import pytest

from herma.policy.command.line import grammar_text, is_plain, on_one_line, redirects

WRITTEN = {
    "parameters side by side": ("$1$2", b"${1}${2}"),
    "variables in one word": ("curl $a.$b-$c/x $d", b"curl ${a}.${b}-${c}/x $d"),
    "a line that is continued": ("cu\\\nrl", b"curl"),
    "braces as a command": ("{curl,-s,x}", b"curl -s x"),
    "a substitution": ("cp x /etc/`echo cron.d`", b"cp x /etc/$(echo cron.d)"),
    "the same in quotes": ("echo 'a`b`c'", b"echo 'a`b`c'"),
    "letters of others": ("é", b"_"),
}


@pytest.mark.parametrize(("text", "written"), WRITTEN.values(), ids=WRITTEN.keys())
def test_a_script_is_written_as_the_grammar_reads_it(text: str, written: bytes) -> None:
    """What a shell would do with it stays the same."""
    assert grammar_text(text) == written


def test_line_breaks_in_words_are_blanks_but_not_in_programs() -> None:
    """An option behind such a word is on the same line; the statements of a script stay apart."""
    assert list(on_one_line(["docker", "-e", "A=\n", "--privileged"])) == [
        "docker",
        "-e",
        "A= ",
        "--privileged",
    ]
    assert list(on_one_line(["sh", "-c", "a\nb", "c\nd"])) == ["sh", "-c", "a\nb", "c d"]
    assert list(on_one_line(["python3", "-c", "a()\nb()"])) == ["python3", "-c", "a()\nb()"]
    assert list(on_one_line(["a", "b"])) == ["a", "b"]


def test_redirections_name_what_is_written_and_read() -> None:
    """Those of the block around count too."""
    assert redirects(" > /a < /b", (("/c",), ("/d",))) == (("/a", "/c"), ("/b", "/d"))
    assert redirects("", (("/c",), ("/d",))) == (("/c",), ("/d",))


@pytest.mark.parametrize("script", ["", 'curl -s "http://a.example/x"; ls a=b', "a:\n b, 'c' +d @e"])
def test_plain_scripts_ask_for_no_parameter(script: str) -> None:
    """Words, quotes and line ends; nothing is filled in, piped, escaped or decoded."""
    assert is_plain(script)


@pytest.mark.parametrize(
    "script", ["$1", "`a`", "a | sh", "a <<< b", "a \\x24", "f() { a; }", "%24", "\u24f5", "a & b", "{a,b}"]
)
def test_other_scripts_may_ask_for_a_parameter(script: str) -> None:
    """Whatever may become a dollar sign, and more."""
    assert not is_plain(script)
