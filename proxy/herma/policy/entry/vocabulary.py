"""Words of the rules for entries: programs by what they can do, paths by what they are, tokens of code by what they mean.

All of it is data: each rule brings the lists it needs in its options (`programs`, `paths`, `code`), and every rule may name
every list. A new program or path is a word in a file, and so is an option by which a program runs another (`carriers`).
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import translate

import ahocorasick_rs

from herma.policy.command.argv import basename
from herma.policy.entry.project import Project
from herma.policy.rule import Rule

__all__ = ["Vocabulary", "Words"]

_NAME = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-.")


class Words:
    """Lists of lower-case literals by class, found in one pass.

    A word that ends in `$` must end where a name ends, one that begins with `^` must begin where a path or name begins.
    """

    def __init__(self, lists: Mapping[str, Iterable[str]]) -> None:
        self._meaning: dict[str, set[tuple[str, bool, bool]]] = {}
        for name, words in lists.items():
            for word in words:
                literal = word.removeprefix("^").removesuffix("$")
                self._meaning.setdefault(literal, set()).add((name, word.startswith("^"), word.endswith("$")))
        self._literals = list(self._meaning)
        self._finder = ahocorasick_rs.AhoCorasick(
            self._literals,
            matchkind=ahocorasick_rs.MatchKind.Standard,
            implementation=ahocorasick_rs.Implementation.ContiguousNFA,
        )

    def find(self, text: str) -> Iterator[tuple[str, int]]:
        """Give the classes of the words in a lower-case text, each with the place where the word begins."""
        for index, start, end in self._finder.find_matches_as_indexes(text, overlapping=True):
            for name, begins, ends in self._meaning[self._literals[index]]:
                if begins and start and text[start - 1] in _BEFORE:
                    continue
                if ends and text[end : end + 1] in _AFTER:
                    continue
                yield name, start

    def classes(self, text: str) -> set[str]:
        """Give the classes of the words in a lower-case text."""
        return {name for name, _ in self.find(text)}


_BEFORE = _NAME | frozenset("/~")
_AFTER = _NAME | frozenset("/")


class Vocabulary:
    """The lists of a set of rules, ready to be looked up."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.programs = {
            basename(name): frozenset(kinds) for name, kinds in _inverted(_merged(rules, "programs")).items()
        }
        self.paths = Words(_merged(rules, "paths"))
        self.code = Words(_merged(rules, "code"))
        self._invocations: dict[str, list[tuple[str, tuple[_Argument, ...]]]] = {}
        for kind, lines in _merged(rules, "invocations").items():
            for line in sorted(lines):
                names, *words = line.split()
                for name in names.split("|"):
                    self._invocations.setdefault(basename(name), []).append(
                        (kind, tuple(map(_Argument.of, words)))
                    )
        self._projects: dict[str, list[Project]] = {}
        for kind, lines in _merged(rules, "projects").items():
            for line in sorted(lines):
                names, *words = line.split()
                for name in names.split("|"):
                    self._projects.setdefault(basename(name), []).append(Project.of(kind, words))
        self._carriers = {
            basename(name): tuple(sorted(parts)) for name, parts in _merged(rules, "carriers").items()
        }

    def kinds(self, program: str) -> frozenset[str]:
        """Give what a program can do."""
        return self.programs.get(program, frozenset())

    def carried(self, program: str) -> tuple[str, ...]:
        """Give the parts of a program's command line that make it run something; blanks mark words."""
        return self._carriers.get(program, ())

    def projects(self, program: str) -> Sequence[Project]:
        """Give what tells that a program runs a project."""
        return self._projects.get(program, ())

    def invoked(self, program: str, arguments: Sequence[str]) -> Iterator[str]:
        """Give the lists that hold an invocation whose words are all among the arguments, in any order."""
        lines = self._invocations.get(program)
        if lines is None:
            return
        words = {form for word in arguments for form in (word, word.lower(), word.lower().replace("`", ""))}
        for kind, wanted in lines:
            if all(argument.among(words) for argument in wanted):
                yield kind


@dataclass(frozen=True, slots=True)
class _Argument:
    """An argument of an invocation: `a|b*` is one of several, `a*!*b` is one that is not the other."""

    plain: frozenset[str]
    wanted: re.Pattern[str] | None
    others: re.Pattern[str] | None

    @classmethod
    def of(cls, text: str) -> "_Argument":
        wanted, _, others = _EXCEPT.sub("\n", text, count=1).partition("\n")
        globs = wanted.split("|")
        wild = [glob for glob in globs if not _WILD.isdisjoint(glob) or others]
        return cls(
            frozenset(globs).difference(wild), _globs(wild), _globs(others.split("|") if others else [])
        )

    def among(self, words: set[str]) -> bool:
        """Tell whether one of the words fits."""
        if not self.plain.isdisjoint(words):
            return True
        return self.wanted is not None and any(
            self.wanted.match(word) is not None and (self.others is None or self.others.match(word) is None)
            for word in words
        )


_WILD = frozenset("*?[")
# Not the sign in a class of characters: `-[!o]R*`.
_EXCEPT = re.compile(r"(?<!\[)!")


def _globs(globs: Sequence[str]) -> re.Pattern[str] | None:
    return re.compile("|".join(map(translate, globs))) if globs else None


def _merged(rules: Sequence[Rule], option: str) -> dict[str, set[str]]:
    lists: dict[str, set[str]] = {}
    for rule in rules:
        given = rule.options.get(option)
        if isinstance(given, dict):
            for name, words in given.items():
                lists.setdefault(str(name), set()).update(str(word) for word in words)
    return lists


def _inverted(lists: Mapping[str, Iterable[str]]) -> dict[str, set[str]]:
    kinds: dict[str, set[str]] = {}
    for kind, names in lists.items():
        for name in names:
            kinds.setdefault(name, set()).add(kind)
    return kinds
