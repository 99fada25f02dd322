"""What the text of a program in another language than the shell shows of it."""

import re
from collections.abc import Iterator

from herma.policy.address import hosts, is_foreign
from herma.policy.command.code import joined
from herma.policy.entry.files import path_text
from herma.policy.entry.network import LOCAL
from herma.policy.entry.program import DIRECTORIES, scratch
from herma.policy.entry.vocabulary import Vocabulary

__all__ = ["code_effects"]


def code_effects(code: str, vocabulary: Vocabulary) -> Iterator[str]:
    """Give what the text of a program in another language shows of it."""
    tokens: set[str] = set()
    paths: set[str] = set()
    for form in joined(code):
        lowered = form.lower()
        tokens |= vocabulary.code.classes(lowered)
        for pattern in (_LOADS, _EVALUATES):
            yield from (
                effect
                for match in pattern.finditer(lowered)
                for effect in _loaded(match[match.lastindex or 0])
            )
        paths |= vocabulary.paths.classes(path_text(lowered))
    yield from (f"code:{token}" for token in tokens)
    for found in paths:
        yield f"reads:{found}"
        if "write" in tokens:
            yield f"writes:{found}"
    if tokens & {"net", "socket"}:
        near = [is_foreign(host) for host in hosts(code) if host.scheme or host.address is not None]
        if any(near) or (not near and not LOCAL.search(code)):
            yield "code:foreign"


# What takes the text or the modules of a program from a file that it names.
_LOADS = re.compile(
    r"(?:(?<!json\.)(?<!yaml\.)(?<!toml\.)(?<!lib\.)\b(?:exec|execfile|eval|load|loadfile|dofile|require|require_once|include|include_once"
    r"|source|run_path|cdll|spec_from_file_location|sys\.path\.(?:insert|append))\b[^;\n'\"`]{0,80}['\"`]([^'\"`\n]{2,200})['\"`]"
    r"|\bdo\s{0,4}['\"]([^'\"\n]{2,200})['\"])"
)


# The same of text that is read from a file and run at once, and of functions that load files.
_EVALUATES = re.compile(
    r"\b(?:runin\w{2,20}|eval|exec|compile|function)\([^;\n]{0,60}?\b(?:readfilesync|readfile|read_text|file_get_contents|open|slurp|path|file\.read|fread)"
    r"\(['\"`]([^'\"`\n]{2,200})['\"`]"
    r"|\b(?:dlopen|_load|worker|fork|register|createrequire)\([^;\n'\"`]{0,80}['\"`]([^'\"`\n]{2,200})['\"`]"
)


def _loaded(path: str) -> Iterator[str]:
    # The directory itself may be where modules are looked for.
    place = path + "/x" if path.rstrip("/") in DIRECTORIES else path
    yield from scratch(place, (), language=True)
