"""Lines of a shell as text: what its grammar is given, what rules are shown, which files a redirection names."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from herma.policy.command.argv import MAX_PROGRAMS, programs, script_of
from herma.policy.command.code import code_of

__all__ = ["BLOCKS", "STATEMENTS", "grammar_text", "is_plain", "on_one_line", "redirects"]

# Nodes of the grammar: what a shell runs as one, and what holds such.
STATEMENTS = frozenset(
    {
        "command",
        "pipeline",
        "redirected_statement",
        "list",
        "subshell",
        "compound_statement",
        "negated_command",
    }
)
BLOCKS = frozenset(
    {"program", "list", "subshell", "compound_statement", "do_group", "if_statement", "elif_clause", "else_clause", "while_statement",
     "case_statement", "case_item", "function_definition", "negated_command", "test_command", "c_style_for_statement"}
)  # fmt: skip

_PARAMETER = re.compile(r"\$([0-9])")
# Of several variables in one word, `https://$a.$b/x`, it reads the last one wrongly unless that has braces.
_SEVERAL = re.compile(r"\$\{?\w++\}?(?:[\w.,:/+@%~=-]++\$\{?\w++\}?)++")
_VARIABLE = re.compile(r"\$([A-Za-z_]\w*+)")
# `{curl,-s,x}` in the place of a command, which the grammar takes for a block.
_BRACED = re.compile(r"(^|[|;&(\n]\s{0,8})\{([^\s{}|;&,]++(?:,[^\s{}|;&,]*+)++)\}")
# The grammar splits a word before a substitution in backticks.
_BACKTICKS = re.compile(r"(?<![\\`])`([^`\\'\n]++)`")
# The grammar's scanner asks the C library about each character by its number, and reads beyond that library's table for large
# ones: what is no ASCII could end the process. No command, path or operator that is judged here has such characters.
_NO_ASCII = re.compile(r"[^\x00-\x7f]")


def grammar_text(text: str) -> bytes:
    """Write a script so that the grammar reads it as a shell would."""
    text = text.replace("\r\n", "\n").replace("\\\n", "")
    text = _BRACED.sub(lambda match: match[1] + match[2].replace(",", " "), text)
    if "`" in text:
        text = _BACKTICKS.sub(_substitution, text)
    # The grammar reads the second one of `$1$2` as a word `2`; with braces it does not.
    text = _PARAMETER.sub(r"${\1}", text)
    text = _SEVERAL.sub(lambda match: _VARIABLE.sub(r"${\1}", match[0]), text)
    return _NO_ASCII.sub("_", text).encode("ascii")


def _substitution(match: re.Match[str]) -> str:
    """Write a substitution in backticks as `$(…)`, unless it stands in a quoted text."""
    quoted = match.string.count("'", 0, match.start()) % 2
    return match[0] if quoted else f"$({match[1]})"


def is_plain(text: str) -> bool:
    """Tell whether nothing in a script, or in one that it may run, can ask for a parameter."""
    return _PLAIN.fullmatch(text) is not None


def on_one_line(words: Sequence[str]) -> Iterator[str]:
    """Give words without the line breaks in them, which would split the line for the rules; programs in words keep theirs."""
    whole: set[str] = set()
    if any("\n" in word for word in words):
        for program in islice(programs(words), MAX_PROGRAMS):
            script = script_of(program)
            whole.update(code_of(program) if script is None else script[:1])
    return (word if word in whole else _BREAK.sub(" ", word) for word in words)


_PLAIN = re.compile(r"[\w\s'\",:;/.=@+-]*+", re.ASCII)
_BREAK = re.compile(r"[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]+")


_TARGET = re.compile(r" (\d?&?[<>]{1,3}[&|]?) (\S+)")


def redirects(
    suffix: str, outer: tuple[tuple[str, ...], tuple[str, ...]]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Tell the files a redirection writes from those it reads; those of an enclosing block count too."""
    if not suffix:
        return outer
    writes = tuple(path for operator, path in _TARGET.findall(suffix) if ">" in operator)
    reads = tuple(path for operator, path in _TARGET.findall(suffix) if "<" in operator)
    return writes + outer[0], reads + outer[1]
