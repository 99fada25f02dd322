"""Words of the shell, as the shell resolves them: quotes, parameters, substitutions, assignments.

Kept apart from statements, which say what runs. The two need each other: a substitution in a word is a block of statements.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tree_sitter import Node

from herma.policy.command.expansion import ExpansionError, element, expand
from herma.policy.command.glob import GlobError, unglob
from herma.policy.command.path import BracesError, braces
from herma.policy.command.tools import OutputError, ansi_c, run_tool

__all__ = ["MAX_DEPTH", "WordReader", "text_of"]

# Scripts inside scripts: `env -S "sh -c '…'"`, decoded text, eval. Published ones nest three deep.
MAX_DEPTH = 6
# Parameters that are filled in; a page of script has some fifty.
MAX_EXPANSIONS = 400
# Nodes of all syntax trees of one entry; a page of script has some five hundred.
MAX_NODES = 5_000
# Levels of one syntax tree; people nest a handful of blocks. Python's own stack ends at about 150 of them.
MAX_LEVELS = 60
MAX_WORD_CHARS = 16 * 1024

# Variables of the environment are written in capitals; what is not comes from the script, or from nowhere.
_UNSET = re.compile(r"\$\{?[a-z][a-z0-9_]*+\}?")
# An element of an array that names its own place.
_KEYED = re.compile(r"\[([^\]]{1,64})\]\+?=(.*)", re.DOTALL)
# The option by which `read` fills an array.
_INTO_ARRAY = re.compile(r"-[a-zA-Z]{0,8}a")
_ESCAPED = re.compile(r"\\(.)")
_ESCAPED_IN_QUOTES = re.compile(r"\\([$`\"\\])")


class WordReader(ABC):
    """Reads words with the variables known so far. `whole` turns False where a bound ends the reading; `kept` is True inside an assignment."""

    def __init__(self, variables: dict[str, str]) -> None:
        self.variables = variables
        self.positional: tuple[str, ...] = ()
        # For each script within a script, the parameters it found, as soon as it has its own.
        self._around: list[dict[str, str] | None] = [None]
        self.whole = True
        self.levels = 0
        self.kept = False
        self._nodes = 0
        self._expansions = 0

    @abstractmethod
    def block(self, node: Node, stdin: str | None, depth: int) -> tuple[str | None, str]:
        """Read the statements under a node; give their output and the text that stands for them."""

    def bind(self, positional: tuple[str, ...]) -> None:
        """Set the positional parameters, `$0` first."""
        if self._around[-1] is None:
            self._around[-1] = self.parameters()
        self.variables |= {str(index): word for index, word in enumerate(positional)}
        self.variables["@"] = self.variables["*"] = " ".join(positional[1:])
        self.positional = positional[1:]

    def parameters(self) -> dict[str, str]:
        """Give the variables that are positional parameters."""
        return {name: value for name, value in self.variables.items() if name.isdigit() or name in "@*"}

    @contextmanager
    def frame(self) -> Iterator[None]:
        """Keep the positional parameters of a script from those of the scripts it runs."""
        self._around.append(None)
        positional = self.positional
        yield
        self.variables |= self._around.pop() or {}
        self.positional = positional

    def builtin(self, words: list[str], stdin: str | None) -> None:
        """Do what the commands of a shell do that set parameters and variables."""
        match words:
            case ["set", "--", *rest]:
                self.bind(("", *rest))
            case ["printf", "-v", name, first, *rest]:
                self.variables[name] = self.printed(["printf", first, *rest], None) or ""
            case ["shift", *rest]:
                self.bind(("", *self.positional[_count(rest) :]))
            case ["read", *rest] if stdin is not None:
                self.take(rest, stdin)
            case _:
                pass

    def take(self, words: list[str], stdin: str) -> None:
        """Fill the variables of `read` with the words of a known text; the last one takes the rest."""
        names = [word for word in words if not word.startswith("-")] or ["REPLY"]
        if any(map(_INTO_ARRAY.fullmatch, words)):
            self._keep(names[-1], self._split(stdin))
            return
        for name, value in zip(names, self._split(stdin.strip(), len(names) - 1), strict=False):
            self.variables[name] = self.bounded(value)

    def bounded(self, text: str) -> str:
        """Give a text; what is too long to be read is none, and is refused."""
        if len(text) <= MAX_WORD_CHARS:
            return text
        self.whole = False
        return ""

    def printed(self, argv: Sequence[str], stdin: str | None) -> str | None:
        """Give what a tool prints; None when that cannot be known."""
        try:
            return run_tool(argv, stdin)
        except OutputError:
            self.whole = False
            return None

    def descend(self) -> bool:
        """Count a node and a level; False when there were too many of either."""
        self._nodes += 1
        if self._nodes > MAX_NODES or self.levels >= MAX_LEVELS:
            self.whole = False
        if not self.whole:
            # What could not be read is refused; there is no use in reading on.
            return False
        self.levels += 1
        return True

    def assign(self, node: Node, depth: int) -> str:
        """Do an assignment and give it as text."""
        target, *given = node.named_children
        name, bracket, index = text_of(target).removesuffix("]").partition("[")
        adds = any(child.type == "+=" for child in node.children)
        outer, self.kept = self.kept, True
        if given and given[0].type == "array":
            self._keep(
                name,
                [word for child in given[0].named_children for word in self.words(child, depth)],
                adds=adds,
            )
            self.kept = outer
            return f"{name}={self.variables[name]}"
        value = "".join(self.word(child, depth) for child in given)
        self.kept = outer
        if bracket:
            self.word(target, depth)
            key = element(name, index, self.variables)
            value = self.variables.get(key, "") + value if adds else value
            self.variables[key] = self.bounded(value)
            value = f"{self.variables.get(name, '')} {value}".lstrip()
        elif adds:
            value = self.variables.get(name, "") + value
        self.variables[name] = self.bounded(value)
        return f"{name}={value}"

    @property
    def separators(self) -> str | None:
        """What separates words besides blanks."""
        return self.variables.get("IFS")

    def separate(self, separators: str | None) -> None:
        """Set what separates words from now on: `IFS=: read x` sets it for this command only."""
        self.variables.pop("IFS", None)
        if separators is not None:
            self.variables["IFS"] = separators

    def _keep(self, name: str, words: Sequence[str], *, adds: bool = False) -> None:
        """Keep the elements of an array, each under a name of its own, and all of them as one text."""
        at = 0
        while adds and f"{name}[{at}]" in self.variables:
            at += 1
        values = [self.variables[name]] if at else []
        for place, word in enumerate(words, at):
            keyed = _KEYED.fullmatch(word)
            key, value = (str(place), word) if keyed is None else keyed.groups()
            self.variables[f"{name}[{key}]"] = self.variables[f"{name}[-1]"] = self.bounded(value)
            values.append(value)
        self.variables[name] = self.bounded(" ".join(values))

    def words(self, node: Node, depth: int) -> list[str]:
        """Read one word of a command; an unquoted expansion may be several."""
        written = text_of(node)
        if written in {'"$@"', '"${@}"'}:
            return list(self.positional)
        text = self.word(node, depth)
        words = [text]
        if (
            node.type
            in {
                "simple_expansion",
                "expansion",
                "command_name",
                "concatenation",
                "command_substitution",
            }
            and '"' not in written
        ):
            words = self._split(text) or [""]
        try:
            return [unglob(choice) for word in words for choice in (braces(word) if "{" in word else (word,))]
        except (BracesError, GlobError):
            self.whole = False
            return words

    def _split(self, text: str, most: int = -1) -> list[str]:
        """Split a text as the shell does, which may have been given separators of its own."""
        if self.separators:
            text = text.translate(dict.fromkeys(map(ord, self.separators), " "))
        return text.split(None, most)

    def word(self, node: Node, depth: int) -> str:
        """Read one word, empty where there were too many."""
        if not self.descend():
            return ""
        text = self._value(node, depth)
        self.levels -= 1
        return text

    def _value(self, node: Node, depth: int) -> str:
        match node.type:
            case "raw_string":
                return text_of(node)[1:-1]
            case "ansi_c_string":
                return ansi_c(text_of(node)[2:-1])
            case "string_content":
                return _unescaped(_ESCAPED_IN_QUOTES, text_of(node))
            case "simple_expansion" | "expansion":
                if node.type == "expansion":
                    self.substituted(node, depth)
                self._expansions += 1
                if self._expansions > MAX_EXPANSIONS:
                    self.whole = False
                try:
                    return expand(text_of(node), self.variables)
                except ExpansionError:
                    self.whole = False
                    return ""
            case "command_substitution" | "process_substitution":
                if depth >= MAX_DEPTH:
                    self.whole = False
                output, text = self.block(node, None, depth + 1) if self.whole else (None, "")
                if output is None or node.type == "process_substitution":
                    return f"{'<' if node.type == 'process_substitution' else '$'}({text or text_of(node)})"
                return output.strip("\n")
            case "word" | "number" | "variable_name":
                return _unescaped(_ESCAPED, text_of(node))
            case _ if node.children:
                return self._joined(node, depth)
            case _:
                return text_of(node)

    def substituted(self, node: Node, depth: int) -> None:
        """Read the substitutions in a default, an index or a pattern: they run, whatever becomes of their output."""
        for child in node.named_children:
            if child.type in {"command_substitution", "process_substitution"}:
                self.word(child, depth)
            elif child.named_children and self.descend():
                self.substituted(child, depth)
                self.levels -= 1

    def _joined(self, node: Node, depth: int) -> str:
        """Join the parts of a string or concatenation, with the characters between them that are no nodes of their own."""
        source = node.text or b""
        parts: list[str] = []
        at = node.start_byte
        for child in node.children:
            parts.append(
                source[at - node.start_byte : child.start_byte - node.start_byte].decode("utf-8", "replace")
            )
            # The quotes are nodes without a name.
            part = self.word(child, depth) if child.is_named else ""
            # Inside a word, a variable of the script that nobody set is nothing: `c${z}url`.
            parts.append("" if node.type == "concatenation" and _UNSET.fullmatch(part) else part)
            at = child.end_byte
        return self.bounded("".join(parts))


def _unescaped(escaped: re.Pattern[str], text: str) -> str:
    return escaped.sub(r"\1", text) if "\\" in text else text


def _count(words: list[str]) -> int:
    return int(words[0]) if words and words[0].isdigit() and len(words[0]) < 4 else 1


def text_of(node: Node) -> str:
    """Give the text of a node."""
    return (node.text or b"").decode("utf-8", "replace")
