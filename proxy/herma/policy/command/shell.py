"""What shell text does, one resolved command line at a time.

The text is parsed by a real grammar (tree-sitter-bash) and read with quoting, concatenation, assignments, parameters,
substitutions and pipes of plain text tools worked out: `c"u"rl`, `$a$b`, `${IFS}`, `echo … | base64 -d | sh`. Nothing is run.
What cannot be worked out stays in the line as it was written, so that a rule can still see it.
"""

import re
from collections.abc import Mapping, Sequence

import tree_sitter
import tree_sitter_bash
from tree_sitter import Node

from herma.policy.command.argv import (
    MAX_PROGRAMS,
    basename,
    contained,
    programs,
    script_of,
)
from herma.policy.command.call import Call, Reading
from herma.policy.command.chain import CHANGING, Chain
from herma.policy.command.code import LANGUAGES, carried, code_of, commands, joined
from herma.policy.command.crowd import MAX_CROWD, crowd
from herma.policy.command.line import BLOCKS, STATEMENTS, grammar_text, is_plain, on_one_line, redirects
from herma.policy.command.word import MAX_DEPTH, WordReader, text_of

__all__ = ["Reading", "read_argv", "read_script"]

# A script is a line or a page; what is longer, also when it was put together, is refused. The grammar takes time
# that grows with the square of a pipeline's length.
MAX_SCRIPT_CHARS = 8 * 1024
MAX_LINES = 512
# Programs that one entry starts; a long start script has some thirty.
MAX_CALLS = 160
MAX_CODES = 16
MAX_VALUES = 64  # of loops, read one by one
# Scripts within one entry, and pipes in one script: the grammar's time grows with the square of these.
MAX_SCRIPTS = 256
MAX_PIPES = 300
# Characters parsed for one entry, over all scripts inside scripts.
MAX_PARSED_CHARS = 32 * 1024

_PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


def read_script(script: str, env: Mapping[str, str] | None = None, positional: Sequence[str] = ()) -> Reading:
    """Read a script; nested scripts come after the line that runs them."""
    reader = _Reader(dict(env or {}))
    reader.script(script, tuple(positional), 0)
    return reader.reading()


def read_argv(argv: Sequence[str], env: Mapping[str, str] | None = None) -> Reading:
    """Read what an argument vector runs, as `read_script` does."""
    reader = _Reader(dict(env or {}))
    # `${SHELL}` and `%COMSPEC%` in a vector are filled in by whoever starts it.
    words = [_STARTER.get(word.upper(), word) for word in argv]
    reader.note(" ".join(on_one_line(words)))
    reader.enter(tuple(words), None, 0, shell=False)
    return reader.reading()


_STARTER = {"${SHELL}": "sh", "$SHELL": "sh", "%COMSPEC%": "cmd", "${COMSPEC}": "cmd"}


class _Reader(WordReader):
    def __init__(self, variables: dict[str, str]) -> None:
        super().__init__(variables)
        self.lines: list[str] = []
        self.calls: dict[Call, None] = {}
        self.codes: dict[str, None] = {}
        self._piped = False
        self._chain = Chain()
        self._redirects: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
        self._parsed = 0
        self._scripts = 0
        self._crowded = 0
        self._aliases: dict[str, str] = {}
        self._functions: dict[str, Node] = {}
        self._entered: list[tuple[str, ...]] = []
        self._values = 0
        self._inside = False

    def reading(self) -> Reading:
        return Reading(tuple(dict.fromkeys(self.lines)), tuple(self.calls), tuple(self.codes), self.whole)

    def note(self, line: str) -> None:
        if len(self.lines) >= MAX_LINES:
            self.whole = False
        elif line.strip():
            self.lines.append(self.bounded(line))

    def script(self, text: str, positional: tuple[str, ...], depth: int) -> str | None:
        """Read a script; give what it prints, None when that cannot be known."""
        self._parsed += len(text)
        self._scripts += 1
        self._crowded += crowd(text)
        if (
            depth > MAX_DEPTH
            or len(text) > MAX_SCRIPT_CHARS
            or self._parsed > MAX_PARSED_CHARS
            or self._scripts > MAX_SCRIPTS
            or self._crowded > MAX_CROWD
            or text.count("|") > MAX_PIPES
        ):
            self.whole = False
        if not self.whole:
            return None
        with self.frame():
            if positional and (self._functions or self._aliases or not is_plain(text)):
                self.bind(positional)
            tree = _PARSER.parse(grammar_text(text))
            return self.block(tree.root_node, None, depth)[0]

    def enter(
        self, argv: tuple[str, ...], stdin: str | None, depth: int, *, shell: bool = True
    ) -> str | None:
        """Go into what a vector runs: scripts of shells, scripts among its arguments, text piped into it."""
        output: str | None = None
        carriers = len(argv)
        inner = contained(argv)
        outer = self._inside
        if not shell:
            # `env A=b sh -c '$A'`, `docker run -e A=b`: what stands before the script is known to it, but for its separators.
            self.variables |= {match[1]: match[2] for word in argv if (match := _ASSIGNS.fullmatch(word))}
            self.separate(None)
        for count, program in enumerate(programs(argv)):
            if count >= MAX_PROGRAMS:
                self.whole = False
                break
            self._inside = outer or len(program) < inner
            here = "" if self._inside else self._chain.here
            self._call(
                Call(program, *self._redirects, self._piped, stdin, shell, self.kept, self._inside, here)
            )
            if program[0] in CHANGING:
                self._chain.move(program)
            name = basename(program[0])
            script = script_of(program)
            if script is not None:
                output = self.script(script[0], script[1], depth + 1)
            elif name == "eval":
                output = self.script(" ".join(program[1:]), (), depth + 1)
            elif stdin is not None and name in _READS_SCRIPT:
                output = self.script(stdin, (), depth + 1)
            elif name == "xargs" and stdin is not None:
                self.script(" ".join(program[1:]) + " " + stdin, (), depth + 1)
            elif name in LANGUAGES:
                carriers = min(carriers, len(argv) - len(program) + 1)
                self._program(program, stdin, depth)
        if script_of(argv) is None:
            for index, word in enumerate(argv[1:carriers], 1):
                if (command := carried(argv[0], word)) is not None:
                    self._inside = outer or len(argv) - index < inner
                    self.script(command, tuple(argv[index + 1 :]), depth + 1)
        self._inside = outer
        return output if output is not None else self.printed(argv, stdin)

    def _call(self, call: Call) -> None:
        if len(self.calls) < MAX_CALLS:
            self.calls[call] = None
        else:
            self.whole = False

    def _program(self, argv: tuple[str, ...], stdin: str | None, depth: int) -> None:
        """Note the program an interpreter is given, and read the commands among its strings."""
        for code in (*code_of(argv), *([stdin] if stdin else [])):
            if _ARGUMENTS.search(code):
                # The program puts its arguments together: what it runs is what they say.
                self.script("".join(argv[argv.index(code) + 1 :]) if code in argv else "", (), depth + 1)
            if len(self.codes) >= MAX_CODES:
                self.whole = False
            elif code not in self.codes:
                self.codes[code] = None
                found = dict.fromkeys(command for form in (code, *joined(code)) for command in commands(form))
                for command in found:
                    self.script(command, tuple(argv[2:]), depth + 1)

    def block(self, node: Node, stdin: str | None, depth: int) -> tuple[str | None, str]:
        """Read the statements under a node in order; give their output and the text that stands for them."""
        outputs: list[str | None] = []
        texts: list[str] = []
        mark = self._chain.mark()
        for child in node.named_children:
            output, text = self._statement(child, stdin, depth)
            if text:
                outputs.append(output)
                texts.append(text)
            if node.type == "list":
                self._chain.named(*self.variables)
                self._chain.behind(child, mark)
        known = None if None in outputs else "".join(output for output in outputs if output is not None)
        return known, "; ".join(texts)

    def _statement(self, node: Node, stdin: str | None, depth: int) -> tuple[str | None, str]:
        if not self.descend():
            return None, ""
        output, text = self._read(node, stdin, depth)
        self.levels -= 1
        if node.type in STATEMENTS:
            self.note(text)
        return output, text

    def _read(self, node: Node, stdin: str | None, depth: int) -> tuple[str | None, str]:
        match node.type:
            case "command":
                return self._command(node, stdin, depth)
            case "pipeline":
                return self._pipeline(node.named_children, stdin, depth)
            case "redirected_statement":
                return self._redirected(node, stdin, depth)
            case "variable_assignment":
                self.assign(node, depth)
                return "", ""
            case "declaration_command" | "variable_assignments":
                for child in node.named_children:
                    if child.type == "variable_assignment":
                        self.assign(child, depth)
                return "", ""
            case "for_statement":
                return self._loop(node, stdin, depth)
            case "function_definition":
                name, *body = node.named_children
                self._functions[text_of(name)] = body[-1] if body else name
                self._chain.named(text_of(name))
                return self.block(node, stdin, depth)
            case "case_statement" | "test_command" | "unset_command" | "subscript" | "compound_statement" if (
                not any(child.type in STATEMENTS or child.type in BLOCKS for child in node.named_children)
            ):
                # What stands in a condition is no command; what is substituted in it runs.
                for child in node.named_children:
                    self.word(child, depth)
                return "", ""
            case "file_redirect":
                # `$(<file)`
                for path in redirects(self._file_redirect(node, depth), ((), ()))[1]:
                    self._call(Call(("cat", path), kept=self.kept))
                return None, ""
            case "ERROR":
                return self._misplaced(node, stdin, depth)
            case kind if kind in BLOCKS:
                return self.block(node, stdin, depth)
            case _:
                return "", ""

    def _misplaced(self, node: Node, stdin: str | None, depth: int) -> tuple[str | None, str]:
        """Read what the grammar cannot place: statements as such, words as one command.

        A shell runs the lines before an error, and other shells do not share the grammar's idea of one.
        """
        texts: list[str] = []
        words: list[str] = []
        for child in node.named_children:
            if child.type in STATEMENTS or child.type in BLOCKS:
                texts.append(self._statement(child, stdin, depth)[1])
            else:
                words += self.words(child, depth)
        if words and words[0]:
            self.enter(tuple(words), stdin, depth)
        return None, "; ".join((*texts, " ".join(words)))

    def _pipeline(self, stages: Sequence[Node], stdin: str | None, depth: int) -> tuple[str | None, str]:
        texts: list[str] = []
        outer = self._piped
        for stage in stages:
            stdin, text = self._statement(stage, stdin, depth)
            texts.append(text)
            self._piped = True
        self._piped = outer
        return stdin, " | ".join(texts)

    def _loop(self, node: Node, stdin: str | None, depth: int) -> tuple[str | None, str]:
        name, *rest = node.named_children
        values = [word for child in rest if child.type != "do_group" for word in self.words(child, depth)]
        # All of them first: a list of words may be one command line.
        self.variables[text_of(name)] = " ".join(values)
        result = self.block(node, stdin, depth)
        for value in dict.fromkeys(values) if len(values) > 1 else ():
            self._values += 1
            if self._values > MAX_VALUES:
                self.whole = False
                break
            self.variables[text_of(name)] = value
            self.block(node, stdin, depth)
        return result

    def _function(self, words: list[str], stdin: str | None, depth: int) -> str | None:
        """Read a function once more with the arguments it is called with."""
        body = self._functions[words[0]]
        saved, outer = self.parameters(), self.positional
        self.bind(tuple(words))
        self._entered.append(tuple(words))
        output, _text = self._statement(body, stdin, depth + 1)
        self._entered.pop()
        for name in self.parameters():
            del self.variables[name]
        self.variables |= saved
        self.positional = outer
        return output

    def _redirected(self, node: Node, stdin: str | None, depth: int) -> tuple[str | None, str]:
        suffix = ""
        extra: list[Node] = []
        outer = self._redirects
        for redirect in node.named_children:
            if redirect.type == "file_redirect":
                suffix += self._file_redirect(redirect, depth)
                if redirect.prev_sibling is not None and redirect.prev_sibling.type == "ERROR":
                    # The grammar knows `<<<` behind a command, not behind a group.
                    stdin = self.word(redirect.named_children[-1], depth)
            elif redirect.type == "herestring_redirect":
                stdin = self.word(redirect.named_children[-1], depth)
            elif redirect.type == "heredoc_redirect":
                for child in redirect.named_children:
                    if child.type == "heredoc_body":
                        self.substituted(child, depth)
                stdin = "".join(
                    text_of(child) for child in redirect.named_children if child.type == "heredoc_body"
                )
                extra += [child for child in redirect.named_children if child.type in STATEMENTS]
                # `cat <<EOF > file`
                suffix += "".join(
                    self._file_redirect(child, depth)
                    for child in redirect.named_children
                    if child.type == "file_redirect"
                )
        output: str | None = stdin
        texts: list[str] = []
        self._redirects = redirects(suffix, outer)
        bodies = [child for child in node.named_children if not child.type.endswith("_redirect")]
        for child in bodies:
            output, text = self._statement(child, stdin, depth)
            texts.append(text)
        if not bodies:
            # `> file` runs nothing and empties the file.
            self._call(Call((":",), *self._redirects))
        self._redirects = outer
        for child in extra:
            for stage in child.named_children if child.type == "pipeline" else [child]:
                output, text = self._statement(stage, output, depth)
                texts.append(text)
        return ("" if ">" in suffix else output), " | ".join(texts) + suffix

    def _file_redirect(self, node: Node, depth: int) -> str:
        operator = next((text_of(child) for child in node.children if not child.is_named), ">")
        targets = [child for child in node.named_children if child.type not in {"file_descriptor", "ERROR"}]
        return "".join(f" {operator} {' '.join(self.words(target, depth))}" for target in targets)

    def _command(self, node: Node, stdin: str | None, depth: int) -> tuple[str | None, str]:
        words: list[str] = []
        suffix = ""
        prefix = ""
        separators = self.separators
        for child in node.named_children:
            match child.type:
                case "variable_assignment":
                    prefix += self.assign(child, depth) + " "
                case "herestring_redirect":
                    stdin = self.word(child.named_children[-1], depth)
                case "file_redirect":
                    suffix += self._file_redirect(child, depth)
                case _:
                    words += self.words(child, depth)
        words = [word for word in words if word] or [""]
        known = dict(self._aliases)
        while words and words[0] in known:
            # A shell takes each alias once.
            words = known.pop(words[0]).split() + words[1:]
        words = words or [""]
        if words[0] == "alias":
            self._aliases |= {name: value for name, _, value in (word.partition("=") for word in words[1:])}
            self._chain.named(*self._aliases)
        self.builtin(words, stdin)
        if prefix and words != [""]:
            self.separate(separators)
        outer = self._redirects
        self._redirects = redirects(suffix, outer)
        if words[0] in self._functions and tuple(words) not in self._entered:
            # A function that calls itself in the same way says nothing new.
            if depth >= MAX_DEPTH:
                self.whole = False
            output = self._function(words, stdin, depth) if self.whole else None
        else:
            output = self.enter(tuple(words), stdin, depth)
        self._redirects = outer
        return output, prefix + " ".join(on_one_line(words)) + suffix


_ASSIGNS = re.compile(r"(?:--?[a-z-]++=)?([A-Za-z_]\w*+)=(.*)", re.DOTALL)
_READS_SCRIPT = frozenset({"sh", "bash", "zsh", "dash", "ash", "ksh", "source", "."})


_ARGUMENTS = re.compile(r"\bargv\b|\bARGV\b|@ARGV|\$argv|Deno\.args|\bargs\b", re.ASCII)
