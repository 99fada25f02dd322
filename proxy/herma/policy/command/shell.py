"""What shell text does, one resolved command line at a time.

The text is parsed by a real grammar (tree-sitter-bash) and read with quoting, concatenation, assignments, parameters,
substitutions and pipes of plain text tools worked out: `c"u"rl`, `$a$b`, `${IFS}`, `echo … | base64 -d | sh`. Nothing is run.
What cannot be worked out stays in the line as it was written, so that a rule can still see it.
"""

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

import tree_sitter
import tree_sitter_bash
from tree_sitter import Node

from herma.policy.command.argv import basename, looks_like_script, programs, script_of
from herma.policy.command.path import braces, glob_matches
from herma.policy.command.tools import ansi_c, run_tool

__all__ = ["resolve_argv", "resolve_script"]

# Scripts inside scripts: `env -S "sh -c '…'"`, decoded text, eval. Published ones nest three deep.
MAX_DEPTH = 6
# A script is a line or a page; what is longer is cut here and refused by the judge of entries. The grammar takes time
# that grows with the square of a pipeline's length: half a second for this much.
MAX_SCRIPT_CHARS = 8 * 1024
MAX_LINES = 512
MAX_NODES = 20_000
# Characters parsed for one entry, over all scripts inside scripts.
MAX_PARSED_CHARS = 32 * 1024
# Levels of one syntax tree; people nest a handful of blocks. Python's own stack ends at about 150 of them.
MAX_LEVELS = 60
MAX_WORD_CHARS = 16 * 1024

_PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))
_PARAMETER = re.compile(r"\$([0-9])")
_GLOB = re.compile(r"[*?]|\[[^\]]{1,64}\]")
_GLOB_NAMES = (
    "curl",
    "wget",
    "bash",
    "sh",
    "nc",
    "ncat",
    "python3",
    "python",
    "perl",
    "base64",
    "crontab",
    "tee",
    "cat",
    "socat",
)
_GLOB_PATHS = (
    "~/.ssh/authorized_keys",
    "~/.ssh/id_rsa",
    "~/.ssh/id_ed25519",
    "/etc/crontab",
    "/etc/sudoers",
    "/etc/shadow",
    "/etc/passwd",
    "/etc/ld.so.preload",
    "/etc/rc.local",
    "~/.bashrc",
    "~/.profile",
    "~/.zshrc",
    "~/.hermes/.env",
    "~/.hermes/config.yaml",
    "~/.netrc",
    "~/.aws/credentials",
)
# The grammar's scanner asks the C library about each character by its number, and reads beyond that library's table for large
# ones: what is no ASCII could end the process. No command, path or operator that is judged here has such characters.
_NO_ASCII = re.compile(r"[^\x00-\x7f]")
_STATEMENTS = frozenset(
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
_BLOCKS = frozenset(
    {"program", "list", "subshell", "compound_statement", "do_group", "if_statement", "elif_clause", "else_clause", "while_statement",
     "case_statement", "case_item", "function_definition", "negated_command", "c_style_for_statement"}
)  # fmt: skip


def resolve_script(
    script: str, env: Mapping[str, str] | None = None, positional: Sequence[str] = ()
) -> tuple[str, ...]:
    """Give every command line of a script, resolved, pipelines whole; nested scripts after the line that runs them."""
    reader = _Reader(dict(env or {}))
    reader.script(script, tuple(positional), 0)
    return tuple(dict.fromkeys(reader.lines))


def resolve_argv(argv: Sequence[str], env: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Give what an argument vector runs, line by line, as `resolve_script` does."""
    reader = _Reader(dict(env or {}))
    # `${SHELL}` and `%COMSPEC%` in a vector are filled in by whoever starts it.
    words = [_STARTER.get(word.upper(), word) for word in argv]
    reader.note(" ".join(words))
    reader.enter(tuple(words), None, 0)
    return tuple(dict.fromkeys(reader.lines))


_STARTER = {"${SHELL}": "sh", "$SHELL": "sh", "%COMSPEC%": "cmd", "${COMSPEC}": "cmd"}


class _Reader:
    def __init__(self, variables: dict[str, str]) -> None:
        self.variables = variables
        self.lines: list[str] = []
        self._nodes = 0
        self._levels = 0
        self._parsed = 0
        self._positional: tuple[str, ...] = ()
        self._aliases: dict[str, str] = {}

    def note(self, line: str) -> None:
        if line.strip() and len(self.lines) < MAX_LINES:
            self.lines.append(line[:MAX_WORD_CHARS])

    def script(self, text: str, positional: tuple[str, ...], depth: int) -> str | None:
        """Read a script; give what it prints, None when that cannot be known."""
        self._parsed += min(len(text), MAX_SCRIPT_CHARS)
        if depth > MAX_DEPTH or self._parsed > MAX_PARSED_CHARS:
            return None
        saved = {name: value for name, value in self.variables.items() if name.isdigit() or name in "@*"}
        outer = self._positional
        if positional:
            self._bind(positional)
        # The grammar reads the second one of `$1$2` as a word `2`; with braces it does not.
        text = _PARAMETER.sub(r"${\1}", text[:MAX_SCRIPT_CHARS].replace("\r\n", "\n"))
        tree = _PARSER.parse(_NO_ASCII.sub("_", text).encode("ascii"))
        output, _ = self._block(tree.root_node, None, depth)
        self.variables |= saved
        self._positional = outer
        return output

    def _bind(self, positional: tuple[str, ...]) -> None:
        self.variables |= {str(index): word for index, word in enumerate(positional)}
        self.variables["@"] = self.variables["*"] = " ".join(positional[1:])
        self._positional = positional[1:]

    def enter(self, argv: tuple[str, ...], stdin: str | None, depth: int) -> str | None:
        """Go into what a vector runs: scripts of shells, scripts among its arguments, text piped into it."""
        output: str | None = None
        for program in programs(argv):
            script = script_of(program)
            if script is not None:
                output = self.script(script[0], script[1], depth + 1)
            elif basename(program[0]) == "eval":
                output = self.script(" ".join(program[1:]), (), depth + 1)
            elif stdin is not None and basename(program[0]) in _READS_SCRIPT:
                output = self.script(stdin, (), depth + 1)
            elif basename(program[0]) == "xargs" and stdin is not None:
                self.script(" ".join(program[1:]) + " " + stdin, (), depth + 1)
        if script_of(argv) is None and basename(argv[0]) not in _PRINTS:
            for index, word in enumerate(argv[1:], 1):
                if looks_like_script(word):
                    self.script(word.lstrip(":!"), tuple(argv[index + 1 :]), depth + 1)
        return output if output is not None else run_tool(argv, stdin)

    def _block(self, node: Node, stdin: str | None, depth: int) -> tuple[str | None, str]:
        """Read the statements under a node in order; give their output and the text that stands for them."""
        outputs: list[str | None] = []
        texts: list[str] = []
        for child in node.named_children:
            output, text = self._statement(child, stdin, depth)
            if text:
                outputs.append(output)
                texts.append(text)
        known = None if None in outputs else "".join(output for output in outputs if output is not None)
        return known, "; ".join(texts)

    def _statement(self, node: Node, stdin: str | None, depth: int) -> tuple[str | None, str]:
        if not self._descend():
            return None, ""
        output, text = self._read(node, stdin, depth)
        self._levels -= 1
        if node.type in _STATEMENTS:
            self.note(text)
        return output, text

    def _descend(self) -> bool:
        """Count a node and a level; False when there were too many of either."""
        self._nodes += 1
        if self._nodes > MAX_NODES or self._levels >= MAX_LEVELS:
            return False
        self._levels += 1
        return True

    def _read(self, node: Node, stdin: str | None, depth: int) -> tuple[str | None, str]:
        match node.type:
            case "command":
                return self._command(node, stdin, depth)
            case "pipeline":
                return self._pipeline(node.named_children, stdin, depth)
            case "redirected_statement":
                return self._redirected(node, stdin, depth)
            case "variable_assignment":
                self._assign(node, depth)
                return "", ""
            case "declaration_command" | "variable_assignments":
                for child in node.named_children:
                    if child.type == "variable_assignment":
                        self._assign(child, depth)
                return "", ""
            case "for_statement":
                return self._loop(node, stdin, depth)
            case "ERROR":
                # What the grammar cannot place is still read, as words of one line.
                return None, " ".join(self._word(child, depth) for child in node.named_children)
            case kind if kind in _BLOCKS:
                return self._block(node, stdin, depth)
            case _:
                return "", ""

    def _pipeline(self, stages: Sequence[Node], stdin: str | None, depth: int) -> tuple[str | None, str]:
        texts: list[str] = []
        for stage in stages:
            stdin, text = self._statement(stage, stdin, depth)
            texts.append(text)
        return stdin, " | ".join(texts)

    def _loop(self, node: Node, stdin: str | None, depth: int) -> tuple[str | None, str]:
        name, *rest = node.named_children
        values = [self._word(child, depth) for child in rest if child.type != "do_group"]
        self.variables[_text(name)] = " ".join(values)
        return self._block(node, stdin, depth)

    def _redirected(self, node: Node, stdin: str | None, depth: int) -> tuple[str | None, str]:
        suffix = ""
        extra: list[Node] = []
        for redirect in node.named_children:
            if redirect.type == "file_redirect":
                suffix += self._file_redirect(redirect, depth)
                if redirect.prev_sibling is not None and redirect.prev_sibling.type == "ERROR":
                    # The grammar knows `<<<` behind a command, not behind a group.
                    stdin = self._word(redirect.named_children[-1], depth)
            elif redirect.type == "herestring_redirect":
                stdin = self._word(redirect.named_children[-1], depth)
            elif redirect.type == "heredoc_redirect":
                stdin = "".join(
                    _text(child) for child in redirect.named_children if child.type == "heredoc_body"
                )
                extra += [child for child in redirect.named_children if child.type in _STATEMENTS]
        output: str | None = stdin
        texts: list[str] = []
        for child in [child for child in node.named_children if not child.type.endswith("_redirect")]:
            output, text = self._statement(child, stdin, depth)
            texts.append(text)
        for child in extra:
            for stage in child.named_children if child.type == "pipeline" else [child]:
                output, text = self._statement(stage, output, depth)
                texts.append(text)
        return ("" if ">" in suffix else output), " | ".join(texts) + suffix

    def _file_redirect(self, node: Node, depth: int) -> str:
        operator = next((_text(child) for child in node.children if not child.is_named), ">")
        targets = [child for child in node.named_children if child.type != "file_descriptor"]
        return "".join(f" {operator} {' '.join(self._words(target, depth))}" for target in targets)

    def _command(self, node: Node, stdin: str | None, depth: int) -> tuple[str | None, str]:
        words: list[str] = []
        suffix = ""
        prefix = ""
        for child in node.named_children:
            match child.type:
                case "variable_assignment":
                    prefix += self._assign(child, depth) + " "
                case "herestring_redirect":
                    stdin = self._word(child.named_children[-1], depth)
                case "file_redirect":
                    suffix += self._file_redirect(child, depth)
                case _:
                    words += self._words(child, depth)
        words = [word for word in words if word] or [""]
        if words[0] in self._aliases and depth < MAX_DEPTH:
            words = self._aliases[words[0]].split() + words[1:]
        if words[:2] == ["set", "--"]:
            self._bind(("", *words[2:]))
        if words[0] == "alias":
            self._aliases |= {name: value for name, _, value in (word.partition("=") for word in words[1:])}
        if words[0] == "printf" and words[1:2] == ["-v"] and len(words) > 3:
            self.variables[words[2]] = run_tool(["printf", *words[3:]], None) or ""
        output = self.enter(tuple(words), stdin, depth)
        return output, prefix + " ".join(words) + suffix

    def _assign(self, node: Node, depth: int) -> str:
        name = _text(node.named_children[0]).split("[")[0]
        value = "".join(self._word(child, depth) for child in node.named_children[1:])
        self.variables[name] = value[:MAX_WORD_CHARS]
        return f"{name}={value}"

    def _words(self, node: Node, depth: int) -> list[str]:
        """Read one word of a command; an unquoted expansion may be several."""
        if _text(node) in {'"$@"', '"${@}"'}:
            return list(self._positional)
        text = self._word(node, depth)
        words = [text]
        if node.type in {
            "simple_expansion",
            "expansion",
            "command_name",
            "concatenation",
            "command_substitution",
        } and '"' not in _text(node):
            words = text.split() or [""]
        return [_unglob(choice) for word in words for choice in (braces(word) if "{" in word else (word,))]

    def _word(self, node: Node, depth: int) -> str:
        if not self._descend():
            return ""
        text = self._value(node, depth)
        self._levels -= 1
        return text

    def _value(self, node: Node, depth: int) -> str:
        match node.type:
            case "raw_string":
                return _text(node)[1:-1]
            case "ansi_c_string":
                return ansi_c(_text(node)[2:-1])
            case "string_content":
                return re.sub(r"\\([$`\"\\])", r"\1", _text(node))
            case "simple_expansion" | "expansion":
                return self._expansion(node)
            case "command_substitution" | "process_substitution":
                output, text = self._block(node, None, depth + 1) if depth < MAX_DEPTH else (None, "")
                if output is None or node.type == "process_substitution":
                    return f"{'<' if node.type == 'process_substitution' else '$'}({text or _text(node)})"
                return output.strip("\n")
            case "array":
                return " ".join(self._word(child, depth) for child in node.named_children)
            case "word" | "number" | "variable_name":
                return re.sub(r"\\(.)", r"\1", _text(node))
            case _ if node.children:
                return self._joined(node, depth)
            case _:
                return _text(node)

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
            parts.append(self._word(child, depth) if child.is_named else "")
            at = child.end_byte
        return "".join(parts)[:MAX_WORD_CHARS]

    def _expansion(self, node: Node) -> str:
        text = _text(node)
        if text in {"$IFS", "${IFS}"} or text.startswith("${IFS"):
            return " "
        if text.startswith("${!"):
            return self.variables.get(self.variables.get(text[3:-1], ""), text)
        name = re.match(r"\$\{?#?([A-Za-z_]\w*|[0-9@*])", text)
        if name is None:
            return text
        value = self.variables.get(name[1])
        if value is not None:
            return value
        if name[1] in "@*" or name[1].isdigit():
            return ""
        default = re.fullmatch(r"\$\{\w+:?[-=](.*)\}", text, re.DOTALL)
        return default[1] if default else text


_READS_SCRIPT = frozenset({"sh", "bash", "zsh", "dash", "ash", "ksh", "source", "."})
_PRINTS = frozenset({"echo", "printf", "cat", "grep", "sed", "cut", "head", "tail", "test", "["})


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _unglob(word: str) -> str:
    """Replace a pattern with the program or sensitive path it can only be meant for."""
    if not _GLOB.search(word) or len(word) > 512:
        return word
    last = word.rsplit("/", 1)[-1]
    if "/" in word and len(last.strip("*")) > 0:
        for path in _GLOB_PATHS:
            if glob_matches(word, path):
                return path
        if word.count("?") >= 2 or "/???" in word:
            return next((name for name in _GLOB_NAMES if fnmatchcase(name, last)), word)
    return word
