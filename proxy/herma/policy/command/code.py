"""Programs in other languages than the shell, as far as their text tells what they do.

They are not parsed. Strings that are put together from parts are joined, and those that would be handed to a shell are given
to whoever reads shell text.
"""

import re
from collections.abc import Iterator, Sequence

from herma.policy.command.argv import basename, looks_like_script

__all__ = ["LANGUAGES", "carried", "code_of", "commands", "joined"]

# Programs whose arguments may be a program.
LANGUAGES = frozenset(
    [
        "python",
        "python2",
        "python3",
        "pypy",
        "pypy3",
        "ipython",
        "node",
        "nodejs",
        "bun",
        "deno",
        "tsx",
        "ts-node",
        "perl",
        "ruby",
        "php",
        "lua",
        "luajit",
        "tclsh",
        "wish",
        "expect",
        "osascript",
        "jshell",
        "groovy",
        "rscript",
        "r",
        "julia",
        "awk",
        "gawk",
        "mawk",
        "nawk",
        "emacs",
        "java",
        "scala",
        "elixir",
        "erl",
        "guile",
        "sbcl",
        "racket",
        "swift",
        "nim",
        "crystal",
        "octave",
        "ghc",
        "irb",
        "jruby",
        "raku",
        "janet",
        "clojure",
        "bb",
    ]
)
_CODE = re.compile(
    r"[(;{=<`]|\s\S+\s|^\s*(?:say|print|puts|system|exec|eval)\b|^\s*(?:do|load|require|include|dofile|source)\s*['\"]"
)
_STRING = re.compile(
    r"\"\"\"(.*?)\"\"\"|\"((?:[^\"\\]|\\.)++)\"|'((?:[^'\\]|\\.)++)'|`((?:[^`\\]|\\.)++)`"
    r"|%[xqwQ][({\[]([^)}\]]++)[)}\]]|\b(?:qx|qw|q|qq)[({/!|]([^)}/!|]++)[)}/!|]",
    re.DOTALL,
)
_LIST = re.compile(r"[\[(]((?:\s*+(?:'[^'\n]*+'|\"[^\"\n]*+\")\s*+,?+){2,}+)\s*+[\])]")
_CALL_LIST = re.compile(r"\(\s*+(?:'([^'\n]++)'|\"([^\"\n]++)\")\s*+,\s*+\[([^\]]*+)\]")
_PLUS = re.compile(r"(['\"])(?:\s*+(?:\+|\.\.|\.|<>|&|\|\|)\s*+|\s++)(['\"])")
_PATH_PARTS = re.compile(r"(['\"])\s*+(?:,|/|\),)\s*+(['\"])")
_HOME = re.compile(
    r"(?:[\w.]{0,24}\.)?(?:expanduser|homedir|homeDir|home|path|Path)(?:\(\)|\b)(?:\.[Pp]ath)?\s*+(?:[/+.,]|\.\.|\.joinpath\()\s*+(['\"])/?"
)
_REVERSED = re.compile(
    r"(['\"])([^'\"\n]{4,}+)\1(?:\[::-1\]|\.split\([^)]{0,4}\)\.reverse\(\)\.join\([^)]{0,4}\)|\.reverse\b)"
)
_ESCAPES = {"n": "\n", "t": "\t", "\\": "\\", "'": "'", '"': '"', "`": "`"}
_ESCAPE = re.compile(r"\\([nt\\'\"`])")


def code_of(argv: Sequence[str]) -> tuple[str, ...]:
    """Give the arguments of an interpreter that are programs, none where it is given a file or a module."""
    if not argv or basename(argv[0]) not in LANGUAGES:
        return ()
    return tuple(word for word in argv[1:] if _CODE.search(word))


def carried(program: str, word: str) -> str | None:
    """Give the command line that an argument of a program carries, None if it carries none."""
    name = basename(program)
    if name == "sed":
        found = _SED.search(word)
        return _ESCAPED.sub(r"\1", found[1] or found[3]) if found is not None else None
    return _CARRIED.sub("", word) if name not in _PRINTS and looks_like_script(word) else None


# What carries a command: `--checkpoint-action=exec=sh x`, `alias.x=!sh x`.
_CARRIED = re.compile(r"^(?:-{0,2}[\w.-]{1,64}=){1,3}[!:]?|^[:!]{1,3}")
# What only prints what it is given.
_PRINTS = frozenset({"echo", "printf", "cat", "grep", "cut", "head", "tail", "test", "["})
# The order of `sed` to run a command, and the mark behind its replacements that makes one of what comes out.
_SED = re.compile(
    r"(?:^|[;{\n])\s{0,8}(?:[0-9,$~+]{1,16}|/[^/\n]{0,64}/)?\s{0,4}e\s{1,4}([^\n]{1,400})"
    r"|(?:^|[;{\n0-9$/])\s{0,8}s([/|,#:!@])(?:\\.|(?!\2)[^\\\n]){0,200}\2((?:\\.|(?!\2)[^\\\n]){0,400})\2[0-9gpiIMm]{0,6}e"
)
_ESCAPED = re.compile(r"\\([/|,#:!@])")


def joined(code: str) -> tuple[str, ...]:
    """Give a program's text with strings that stand beside each other put together: as text, and as paths."""
    plain = _REVERSED.sub(lambda match: match[1] + match[2][::-1] + match[1], code)
    plain = _PLUS.sub(lambda match: "" if match[1] == match[2] else match[0], plain)
    paths = _HOME.sub(lambda match: match[1] + "~/", _PATH_PARTS.sub("/", plain))
    return tuple(dict.fromkeys((plain, paths)))


def commands(code: str) -> Iterator[str]:
    """Give the command lines among the strings of a program: whole ones, and lists of words."""
    for match in _CALL_LIST.finditer(code):
        words = [word for word in _strings(match[3]) if word]
        yield " ".join([match[1] or match[2], *map(_quoted, words)])
    for match in _INSTALLER.finditer(code):
        # The package manager of Python, called as a function.
        yield " ".join(("pip", *map(_quoted, _strings(match[1]))))
    for match in _LIST.finditer(code):
        if code[match.start()] == "(" and _FILING.search(
            code, max(0, match.start() - MAX_NAME), match.start()
        ):
            continue
        words = list(_strings(match[1]))
        yield " ".join(map(_quoted, words))
    yield from (text for text in _strings(code) if " " in text.strip() or "|" in text)
    yield from (match[1] for match in _SPAWN.finditer(code))


# Tcl and its kin start programs by words without quotes.
_SPAWN = re.compile(
    r"(?:^|[;\[{\n])\s{0,16}(?:spawn|exec|set \w{1,32} \[exec)\s{1,8}(?:-\w{1,16}\s{1,4}){0,3}([\w./][^;\n\]}\"']{0,400})"
)
_INSTALLER = re.compile(r"\bpip\w{0,12}(?:\.\w{1,24}){0,3}\b[^\n]{0,40}?\bmain\(\s{0,8}\[([^\]]{1,400})\]")
# Functions that take a file and its contents, or how it is opened: what stands in their brackets is no command line.
_FILING = re.compile(
    r"(?:(?<!\w)(?:f|os\.|io\.|fs\.|codecs\.|file\.)?open(?:sync)?|(?:write|append|copy|rename|link)_?(?:file|text|bytes)?(?:sync)?|\bfile_put_contents|\bspit|\breplace|\bgetenv|\bsetdefault)\s?\Z",
    re.IGNORECASE,
)
# Characters before a bracket that are looked at for the name.
MAX_NAME = 24


def _strings(code: str) -> Iterator[str]:
    for match in _STRING.finditer(code):
        text = next((group for group in match.groups() if group is not None), "")
        yield _ESCAPE.sub(lambda escape: _ESCAPES[escape[1]], text)


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'" if re.search(r"[^\w./:@%+=,-]", word) else word
