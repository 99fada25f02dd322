"""What a program is made to run or load by its arguments: commands in options, programs in files, jobs, files that are served.

Which programs and options these are is data (`carriers` and `programs` in the options of rules).
"""

from collections.abc import Iterator

from herma.policy.address import hosts, is_foreign
from herma.policy.command.argv import SHELLS, basename
from herma.policy.command.call import Call
from herma.policy.entry.place import is_hidden_program, is_scratch, is_share, is_well_hidden, is_whole
from herma.policy.entry.vocabulary import Vocabulary

__all__ = ["behind", "loading"]

# Words behind one of these names are what it serves.
_SERVING_WORDS = frozenset({"http.server", "httpd", "SimpleHTTPServer", "-S"})
_SERVING_LANGUAGES = frozenset({"python", "python2", "python3", "php", "ruby", "busybox"})
# Operands behind a package runner among which the package is; values of options are tried, too, and are none of these.
MAX_OPERANDS = 3
_PACKAGE_RUNNERS = frozenset(
    {"npx", "bunx", "pnpx", "pnpm", "npm", "yarn", "bun", "uvx", "uv", "pipx", "poetry", "pdm", "pixi", "hatch", "rye", "pipenv", "mise", "bundle"}
)  # fmt: skip


def loading(call: Call, name: str, kinds: frozenset[str], vocabulary: Vocabulary) -> Iterator[str]:
    """Give the effects of a call's arguments on what runs."""
    words = call.argv[1:]
    line = f" {' '.join(words)} "
    if any(item in line for item in vocabulary.carried(name)):
        yield "carries"
    yield from (f"does:{kind}" for kind in vocabulary.invoked(name, words))
    for own, arguments in behind(call.argv):
        yield from (f"does:{kind}" for kind in vocabulary.invoked(own, arguments))
    if kinds & _BY_ARGUMENT:
        yield from _by_argument(words, kinds)
    if "scheduler" in kinds and (call.piped or call.fed is not None or call.reads or "-f" in words):
        yield "schedules"
    if name == "xargs" and _reads_file(words) and not SHELLS.isdisjoint(map(basename, words)):
        yield "runs:input"
        yield "carries"
    # `serve` takes what it serves as an operand; other programs of that name have a root of their own.
    served = [
        word for index, word in enumerate(words) if name != "serve" or words[index - 1 : index] != ("--root",)
    ]
    if _serves(name, kinds, words, vocabulary) and any(map(is_whole, served)):
        yield "serves:home"
    if name in {"mv", "move"} and words[-1:] in (("/dev/null",), ("nul",)) and any(map(is_whole, words)):
        yield "wipes"


def behind(argv: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Give what a package runner may run, each with the arguments behind it."""
    if basename(argv[0]) in _PACKAGE_RUNNERS:
        words = argv[1:]
        yield from (
            (basename(words[index].partition("@")[0]), words[index + 1 :]) for index in _operands(words)
        )


def _operands(words: tuple[str, ...]) -> Iterator[int]:
    """Give the places of the words that may be what a package runner runs."""
    count = 0
    for index, word in enumerate(words):
        if not word.startswith("-"):
            yield index
            # A word behind an option may be its value.
            count += index == 0 or not words[index - 1].startswith("-")
            if count >= MAX_OPERANDS:
                return


_BY_ARGUMENT = frozenset({"loader", "evaluator"})


def _by_argument(words: tuple[str, ...], kinds: frozenset[str]) -> Iterator[str]:
    for word in words:
        # `--script=/x`, `SO_PATH:/x`, `-S/x` and the plain path.
        for form in {word, word.partition("=")[2], word[2:] if word[:1] == "-" else ""} - {""}:
            lowered = form.lower()
            if is_well_hidden(lowered) or is_hidden_program(lowered):
                yield "runs:temporary"
            elif is_scratch(lowered):
                yield "runs:temporary" if "loader" in kinds else "runs:scratch"
            if "loader" in kinds and (is_share(form) or _is_foreign_address(form)):
                yield "carries"


def _is_foreign_address(word: str) -> bool:
    return any(host.scheme != "" and is_foreign(host) for host in hosts(word) if "://" in word)


def _reads_file(words: tuple[str, ...]) -> bool:
    return any(word.startswith(("-a", "--arg-file")) for word in words)


def _serves(name: str, kinds: frozenset[str], words: tuple[str, ...], vocabulary: Vocabulary) -> bool:
    if name in _SERVING_LANGUAGES:
        return not _SERVING_WORDS.isdisjoint(words)
    if name in _PACKAGE_RUNNERS:
        return any("webserver" in vocabulary.kinds(basename(words[index])) for index in _operands(words))
    return "webserver" in kinds
