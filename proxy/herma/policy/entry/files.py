"""What a call of an entry does to the files that matter: reads, keeps, writes them."""

import re
from collections.abc import Iterator

from herma.policy.command.call import Call
from herma.policy.command.glob import GlobError, unglob
from herma.policy.command.path import resolve_path
from herma.policy.entry.vocabulary import Vocabulary

__all__ = ["file_effects", "path_text"]

_ODD_PATH = re.compile(r"(?:~[\w.-]{0,32}|\$\{?home\}?)?(?:/[^\s'\"`;|&<>(){}=,:/]{0,256}){1,64}")
# What follows these says who one is, and does not leave.
_IDENTITY = frozenset({"-i", "-F", "-o", "-e", "--kubeconfig", "--config", "--key", "--cert", "--cacert"})
_CONFIGURING = frozenset(
    {"--kubeconfig", "--config", "--config-file", "--key", "--cert", "--cacert", "--identity"}
)
_OUTPUT = re.compile(
    r"^-[a-zA-Z]{0,6}[oOP]$|^--(?:output|out|output-document|output-dir|directory-prefix|dir)(?:=|$)|^-[oOP]\S"
)
# What `find` does to what it finds.
_REMOVING = frozenset({"-delete", "rm", "shred", "unlink"})
# The same of programs that are not known: a file behind an option by this name is one that they make. Builders of programs make
# what belongs to development.
_OUTPUT_FILE = re.compile(r"^--?(?:output|output-file|outfile|out|out-file|output-document)(?:=|$)|^-o$")
_MADE = frozenset({"development"})
# Whose `-o` prints what fits, and takes no file.
_ONLY_MATCHING = frozenset(
    {"grep", "egrep", "fgrep", "rg", "ag", "ack", "ls", "find", "kubectl", "ps", "ssh"}
)
_IN_PLACE = re.compile(r"^-[a-z]{0,4}i|^--in-place|^inplace$")


# Variables that name a directory or file which everybody has in the same place.
_NAMES = {
    "xdg_config_home": "~/.config",
    "xdg_data_home": "~/.local/share",
    "xdg_state_home": "~/.local/state",
    "xdg_cache_home": "~/.cache",
    "zdotdir": "~",
    "hermes_home": "~/.hermes",
    "codex_home": "~/.codex",
    "claude_config_dir": "~/.claude",
    "gnupghome": "~/.gnupg",
    "docker_config": "~/.docker",
    "kubeconfig": "~/.kube/config",
    "cargo_home": "~/.cargo",
    "aws_shared_credentials_file": "~/.aws/credentials",
    "ssh_auth_sock": "~/.ssh-agent",
}
_NAMED = re.compile(rf"\$(?:\{{({'|'.join(_NAMES)})\}}|({'|'.join(_NAMES)})\b)")


def file_effects(
    call: Call, name: str, kinds: frozenset[str], where: str, vocabulary: Vocabulary
) -> Iterator[str]:
    """Give what a call does to the files that matter."""
    if not vocabulary.paths.classes(path_text(f"{call.line} {where}")) and not where:
        return
    words = () if name in _SAYING else call.argv[1:]
    last = max((index for index, word in enumerate(words) if not word.startswith("-")), default=-1)
    edits = "editor" in kinds and any(map(_IN_PLACE.match, words))
    for index, word in enumerate(words):
        before = words[index - 1] if index else ""
        if before in _CONFIGURING or (before in _IDENTITY and kinds & _REMOTE):
            continue
        written = (
            edits
            or kinds & _WRITING
            or word.startswith("of=")
            or ("copier" in kinds and (index == last or before in _INTO))
            or ("downloader" in kinds and (_OUTPUT.match(before) or _OUTPUT.match(word)))
        )
        made = name not in _ONLY_MATCHING and (_OUTPUT_FILE.match(before) or _OUTPUT_FILE.match(word))
        if written:
            verb = "writes"
        elif made:
            yield from (f"writes:{found}" for found in _classes(word, where, vocabulary) - _MADE)
            continue
        elif kinds & _READING and name not in _LOADING:
            verb = "keeps" if call.kept else "reads"
        elif "remover" in kinds and (name != "find" or not _REMOVING.isdisjoint(words)):
            verb = "removes"
        else:
            continue
        yield from (f"{verb}:{found}" for found in _classes(word, where, vocabulary))
    written_by = _SED_WRITES if name == "sed" else _DATABASE_WRITES if "database" in kinds else None
    if written_by is not None:
        targets = [path for word in words for path in written_by.findall(word)]
        yield from (f"writes:{found}" for path in targets for found in _classes(path, where, vocabulary))
    for verb, paths in (("writes", call.writes), ("reads", call.reads)):
        yield from (f"{verb}:{found}" for path in paths for found in _classes(path, where, vocabulary))


# `w file` as a command of `sed`, or behind its `s`.
_SED_WRITES = re.compile(r"(?:^|[;{}0-9$/|#,!\s])w\s*+([~/$][^\s;}]*)")
# Files that databases write when they are told so: statements, and commands of their clients.
_DATABASE_WRITES = re.compile(
    r"(?i)(?:\bto|\binto|\b(?:out|dump)file|\bdatabase|\.(?:output|once|save|backup|clone|log|open|dump)|\\(?:o|g|w|copy\b[^\n]{0,80}\bto)"
    r"|\b(?:writefile|lo_export|pg_file_write)\([^'\"]{0,24})\s{0,8}['\"]?([~/$][^\s'\";)]{1,256})"
)
_REMOTE = frozenset({"sender", "remote", "downloader"})
_WRITING = frozenset({"writer", "extractor"})
_INTO = frozenset({"-t", "-d", "-C"})
_READING = frozenset({"viewer", "archiver", "copier", "sender", "cloud", "socket", "reader"})
# They say a path, or load a file into the shell itself, as people do with their own settings.
_SAYING = frozenset({"echo", "printf", "cd", "test", "[", "[[", "export", "mkdir"})
_LOADING = frozenset({"source", ".", "test", "[", "ls", "stat", "find", "mkdir"})


def _classes(word: str, where: str, vocabulary: Vocabulary) -> set[str]:
    text = path_text(word)
    found = vocabulary.paths.classes(text)
    if where and not text.startswith(("/", "~", "$", "-")):
        found |= vocabulary.paths.classes(path_text(_named(where + word)))
    return found


def _named(path: str) -> str:
    """Give a path with the usual names of files in the place of its wildcards."""
    try:
        return unglob(path)
    except GlobError:
        return path


def path_text(text: str) -> str:
    """Give a text as the lists of paths are compared with: lower case, its odd paths resolved."""
    text = text.lower().replace("\\\\", "/").replace("\\", "/")
    if "$" in text:
        text = _NAMED.sub(lambda match: _NAMES[match[1] or match[2]], text)
    if "//" in text or "/." in text or "/proc/" in text:
        return _ODD_PATH.sub(lambda match: resolve_path(match[0]), text)
    return text
