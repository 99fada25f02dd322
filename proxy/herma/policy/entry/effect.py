"""What the programs of an entry do: which files they write and read, whom they talk to, what they run.

An effect is a short word, `writes:shell_start` or `sends`; rules name the combinations that are harmful (`when`). Effects are
collected over a whole entry: who reads a key file in one line and posts something in the next does both.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from herma.policy.address import hosts, is_foreign
from herma.policy.command.argv import SHELLS, basename, script_of
from herma.policy.command.call import Call
from herma.policy.command.code import LANGUAGES, code_of, joined
from herma.policy.command.path import resolve_path
from herma.policy.command.shell import Reading
from herma.policy.entry.loading import behind, loading
from herma.policy.entry.place import (
    is_hidden_program,
    is_scratch,
    is_share,
    is_uploaded,
    is_well_hidden,
    is_whole,
)
from herma.policy.entry.project import project_effects
from herma.policy.entry.vocabulary import Vocabulary

__all__ = ["effects"]

_ODD_PATH = re.compile(r"(?:~[\w.-]{0,32}|\$\{?home\}?)?(?:/[^\s'\"`;|&<>(){}=,:/]{0,256}){1,64}")
# What follows these says who one is, and does not leave.
_IDENTITY = frozenset({"-i", "-F", "-o", "-e", "--kubeconfig", "--config", "--key", "--cert", "--cacert"})
_CONFIGURING = frozenset(
    {"--kubeconfig", "--config", "--config-file", "--key", "--cert", "--cacert", "--identity"}
)
_OUTPUT = re.compile(
    r"^-[a-zA-Z]{0,6}[oOP]$|^--(?:output|out|output-document|output-dir|directory-prefix|dir)(?:=|$)|^-[oOP]\S"
)
_IN_PLACE = re.compile(r"^-[a-z]{0,4}i|^--in-place|^inplace$")
_UPLOAD = re.compile(
    r"^(?:-[a-z]{0,6}[dft]$|-d.|-f.|-t.|--data|--form|--upload-file|--post-|--body-|--json|-xpost|-xput|-h$)|^@|=@|^(?:post|put)$"
)
_EXECUTABLE = re.compile(r"^(?:[ugoa]{0,4}\+[rwst]{0,3}x|0?[0-7]?7[0-7]{2}|0?[0-7]?5[0-7]{2})")
_LOCAL = re.compile(r"\blocalhost\b|(?:^|\s)-\w{0,4}U\b|unix-|unix:|--unix-socket", re.IGNORECASE)
_DEVICE = re.compile(r"/dev/(?:tcp|udp)/([^/\s]{1,256})")
_UNKNOWN = re.compile(r"\$[({\w]|`|<\(")


def effects(reading: Reading, vocabulary: Vocabulary, where: str = "") -> frozenset[str]:
    """Give the effects of everything that was read, and that begins in the directory `where`.

    Every directory that a command changes to counts for all of them: a change may fail, or end with the parentheses around it.
    """
    found: set[str] = set()
    built: list[str] = []
    cloned: list[str] = []
    here = _directories(reading.calls, where)
    if len(here) > MAX_PLACES:
        # Nobody walks that far to start a server; where it ends is not known.
        found.add("runs:temporary")
    for call in reading.calls:
        name = basename(call.argv[0])
        for place in ("",) if call.inside else here:
            found.update(_of_call(call, _from(place, _own_place(call.argv)), vocabulary, built))
            for own, words in (name, call.argv[1:]), *behind(call.argv):
                found.update(project_effects(vocabulary.projects(own), words, place, built))
        found.update(_fetched(call, name, cloned, reading.codes, vocabulary))
        if "builder" in vocabulary.kinds(name) or "venv" in call.argv:
            built += [resolve_path(word.lower()) for word in call.argv[1:] if is_scratch(word.lower())]
    for code in reading.codes:
        found.update(_of_code(code, vocabulary))
    return frozenset(found)


_PLACES = frozenset({"-C", "--chdir", "--directory", "--working-directory"})
_STARTING = frozenset({"-D", "-d"})
# Programs that start another one in a directory that they are told.
_STARTERS = frozenset({"env", "sudo", "systemd-run", "bwrap", "start-stop-daemon", "unshare", "nsenter"})


# Directories that one script may be in; a start script changes to one or two.
MAX_PLACES = 24


def _directories(calls: Sequence[Call], where: str) -> tuple[str, ...]:
    """Give every directory that what runs here may run in, at most one more than `MAX_PLACES`."""
    places = {_from("", where): None}
    for call in calls:
        name = basename(call.argv[0])
        moved = ""
        if name in {"cd", "pushd"} and len(call.argv) > 1:
            moved = call.argv[1]
        elif name in _STARTERS:
            # The vector behind it comes next.
            moved = _own_place(call.argv, _PLACES | _STARTING)
        if moved and not call.inside:
            places |= dict.fromkeys(_from(place, moved) for place in tuple(places))
        if len(places) > MAX_PLACES:
            break
    return tuple(places)[: MAX_PLACES + 1]


def _from(where: str, place: str) -> str:
    """Give the directory that a path names, seen from another one."""
    if not place:
        return where
    return (where + place if where and not place.startswith(("/", "~", "$")) else place).rstrip("/") + "/"


def _own_place(argv: Sequence[str], options: frozenset[str] = _PLACES) -> str:
    """Give the directory that a program is told to change to."""
    for index, word in enumerate(argv):
        if word in options and index + 1 < len(argv):
            return argv[index + 1]
        if word.startswith(("--chdir=", "--directory=", "--working-directory=", "-C/", "-C~")):
            return word.partition("=")[2] or word[2:]
    return ""


def _fetched(
    call: Call, name: str, cloned: list[str], codes: Sequence[str], vocabulary: Vocabulary
) -> Iterator[str]:
    """Tell of a shell that runs a file of a repository that was just cloned, or one that a program fetched."""
    operands = [word for word in call.argv[1:] if not word.startswith("-")]
    if name == "git" and operands[:1] == ["clone"] and len(operands) > 1:
        cloned.append(operands[-1].rstrip("/").rpartition("/")[2].removesuffix(".git"))
    if name not in SHELLS and name not in {"source", "."} and "/" not in call.argv[0]:
        return
    program = (operands[0] if operands else "") if name in _RUNNING else call.argv[0]
    if program and any(place in program.split("/") for place in cloned):
        yield "cloned:runs"
    if "/" in program and any(
        program in code and "net" in vocabulary.code.classes(code.lower()) for code in codes
    ):
        yield "cloned:runs"


def _of_call(call: Call, where: str, vocabulary: Vocabulary, built: Sequence[str]) -> Iterator[str]:
    name = basename(call.argv[0])
    kinds = vocabulary.kinds(name)
    for kind in kinds:
        yield f"runs:{kind}"
        if call.shell:
            yield f"shell:{kind}"
    yield from _on_paths(call, name, kinds, where, vocabulary)
    yield from _running(call, name, built, where)
    yield from loading(call, name, kinds, vocabulary)
    if name in _DUMPS and not [word for word in call.argv[1:] if word not in {"-0", "-p"}]:
        yield "dumps:environment"
    if name == "mkfifo" or (name == "mknod" and call.argv[-1] == "p"):
        yield "makes:pipe"
    if "remover" in kinds and any(map(is_whole, call.argv[1:])):
        yield "wipes"
    if "cloud" in kinds and name not in {"mail", "mailx"}:
        operands = [word for word in call.argv[1:] if not word.startswith("-")]
        # The last one is where it goes.
        if any(map(is_whole, operands[:-1])):
            yield "sends:home"
    if kinds & _NETWORK:
        yield from _talking(call, kinds)
    if "resolver" in kinds and _asks_with_data(call):
        yield from ("sends", "shell:talks" if call.shell else "alone:talks")
    for path in (*call.writes, *call.reads):
        device = _DEVICE.match(path)
        if device is not None and ("$" in device[1] or any(map(is_foreign, hosts(device[1])))):
            yield from ("shell:talks", "sends", "connects")


_DUMPS = frozenset({"env", "printenv", "set", "export", "declare", "typeset", "compgen"})
_NETWORK = frozenset({"downloader", "sender", "socket", "tunnel", "remote"})


def _talking(call: Call, kinds: frozenset[str]) -> Iterator[str]:
    """Give what a network program does, unless it asks this host or its neighbours."""
    if "%h" in call.argv or "%h:%p" in call.argv:
        # The way of an `ssh` through a proxy; what it carries is encrypted by its ends.
        yield "alone:connects"
        return
    foreign = _foreign(call)
    if not any(foreign) and (foreign or _UNKNOWN.search(call.line) is None or _LOCAL.search(call.line)):
        return
    who = "shell" if call.shell else "alone"
    if kinds & {"downloader", "socket"}:
        yield f"{who}:talks"
    if "downloader" in kinds and foreign:
        yield from ("fetches", f"{who}:fetches")
    if "socket" in kinds:
        yield from ("connects", f"{who}:connects")
    if "sender" in kinds or call.piped or call.reads or any(map(_UPLOAD.match, call.line.lower().split())):
        yield "sends"
        if kinds & {"sender", "remote"} and any(map(is_whole, call.argv[1:])):
            yield "sends:home"


def _asks_with_data(call: Call) -> bool:
    """Tell whether a name is asked for whose first part is what a command printed or read: the name's server gets it."""
    for match in _LABEL.finditer(call.line):
        variable = match[1]
        # A variable in capitals comes from the entry, unless the command reads it.
        own = variable is not None and variable.isupper() and not call.piped and not call.reads
        if not own and any(map(is_foreign, hosts(match[2]))):
            return True
    return False


# The name of such a server behind a variable, a substitution, what `xargs` fills in, or nothing where a value was not known.
_LABEL = re.compile(
    r"(?:\$\{?(\w{1,64})\}?|[)`%]|\{\}|(?<=\s)(?=-{0,8}\.))[\w-]{0,64}\.((?:[\w-]{1,63}\.){1,8}[a-zA-Z]\w{1,62})(?![\w./])"
)


def _foreign(call: Call) -> list[bool]:
    """Tell of each host that a call names whether it is foreign; names without a scheme count where there is nothing better."""
    found = [host for host in hosts(call.line) if host.scheme or host.address is not None]
    if not found:
        # `data.json` and `/tmp/x.sock` look like names of hosts.
        words = [word for word in call.argv[1:] if not word.startswith(_NO_HOST)]
        found = list(hosts(" ".join(words)))
    return [is_foreign(host) for host in found]


_NO_HOST = (
    "/",
    "./",
    "../",
    "~",
    "-",
    "@",
    "unix",
    "UNIX",
    "file:",
    "FILE:",
    "exec:",
    "EXEC:",
    "vsock",
    "VSOCK",
)


def _running(call: Call, name: str, built: Sequence[str], where: str) -> Iterator[str]:
    """Give what a call makes run: a file, what is piped into it, what another command prints."""
    program = call.argv[0]
    # The name of a program is looked up; only a path is seen from where one is.
    yield from _scratch(_seen_from(where if "/" in program else "", program), built, language=False)
    operands = [word for word in call.argv[1:] if not word.startswith("-")]
    if name == "chmod" and len(operands) > 1 and _EXECUTABLE.match(operands[0].lower()):
        yield "makes:executable"
    if name not in _RUNNING:
        return
    if call.piped and (
        (not operands and call.fed is None) or (name in _EVALUATING and any(map(_UNKNOWN.search, operands)))
    ):
        yield "runs:input"
    if any(word.startswith(("<(", "$(", "`")) for word in (*operands, *call.reads)):
        yield "runs:output"
    told = _told(call.argv)
    for word in (*operands[: _OPERANDS.get(name, 1)], *call.reads):
        if word in told:
            continue
        # What `exec` and `xargs` start is looked up, too.
        file = name not in {"exec", "xargs"} or "/" in word
        seen = _seen_from(where if file else "", word)
        if name in LANGUAGES and seen.rstrip("/") in _DIRECTORIES:
            # An interpreter runs what a directory calls its main program.
            seen = seen.rstrip("/") + "/__main__"
        yield from _scratch(seen, built, language=name in LANGUAGES)


def _told(argv: Sequence[str]) -> frozenset[str]:
    """Give the words of a vector that are programs themselves, and no files: `sh -c`, `node -e`."""
    script = script_of(argv)
    codes = frozenset(code_of(argv))
    given = (word for before, word in pairwise(argv) if word in codes and _CODE_OPTION.fullmatch(before))
    return frozenset(given) if script is None else frozenset({script[0], *given})


_CODE_OPTION = re.compile(r"-[a-zA-Z]{0,4}[ceEpr]|--(?:eval|print|execute)")
_DIRECTORIES = frozenset({"/tmp", "/var/tmp", "/dev/shm"})  # noqa: S108 - names to compare


def _seen_from(where: str, word: str) -> str:
    return word.lower() if not where or word.startswith(_ABSOLUTE) else (where + word).lower()


_ABSOLUTE = ("/", "~", "$", "%", "\\")
_EVALUATING = frozenset({"eval", "iex", "invoke-expression"})
# Operands that may be the script: those of options come before it here.
_OPERANDS = {"powershell": 6, "pwsh": 6}
_RUNNING = SHELLS | LANGUAGES | _EVALUATING | {"source", ".", "exec", "xargs"}


def _scratch(word: str, built: Sequence[str], *, language: bool) -> Iterator[str]:
    """Tell of a program in a place where everybody may write, graver where it is hidden or a shell runs it.

    What the same script has just built there is its own.
    """
    if is_hidden_program(word) or is_share(word) or is_uploaded(word):
        yield "runs:temporary"
    elif is_scratch(word):
        path = resolve_path(word)
        own = any(path == place or path.startswith(place + "/") for place in built)
        yield "runs:scratch" if (language or own) and not is_well_hidden(word) else "runs:temporary"


def _on_paths(
    call: Call, name: str, kinds: frozenset[str], where: str, vocabulary: Vocabulary
) -> Iterator[str]:
    """Give what a call does to the files that matter."""
    if not vocabulary.paths.classes(_path_text(f"{call.line} {where}")) and not where:
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
        if written:
            verb = "writes"
        elif kinds & _READING and name not in _LOADING:
            verb = "keeps" if call.kept else "reads"
        else:
            continue
        yield from (f"{verb}:{found}" for found in _classes(word, where, vocabulary))
    if name == "sed":
        targets = [path for word in words for path in _SED_WRITES.findall(word)]
        yield from (f"writes:{found}" for path in targets for found in _classes(path, where, vocabulary))
    for verb, paths in (("writes", call.writes), ("reads", call.reads)):
        yield from (f"{verb}:{found}" for path in paths for found in _classes(path, where, vocabulary))


# `w file` as a command of `sed`, or behind its `s`.
_SED_WRITES = re.compile(r"(?:^|[;{}0-9$/|#,!\s])w\s*+([~/$][^\s;}]*)")
_REMOTE = frozenset({"sender", "remote", "downloader"})
_WRITING = frozenset({"writer", "extractor"})
_INTO = frozenset({"-t", "-d", "-C"})
_READING = frozenset({"viewer", "archiver", "copier", "sender", "cloud", "socket", "reader"})
# They say a path, or load a file into the shell itself, as people do with their own settings.
_SAYING = frozenset({"echo", "printf", "cd", "test", "[", "[[", "export", "mkdir"})
_LOADING = frozenset({"source", ".", "test", "[", "ls", "stat", "find", "mkdir"})


def _classes(word: str, where: str, vocabulary: Vocabulary) -> set[str]:
    text = _path_text(word)
    found = vocabulary.paths.classes(text)
    if where and not text.startswith(("/", "~", "$", "-")):
        found |= vocabulary.paths.classes(_path_text(where + word))
    return found


def _path_text(text: str) -> str:
    text = text.lower().replace("\\\\", "/").replace("\\", "/")
    if "//" in text or "/." in text or "/proc/" in text:
        return _ODD_PATH.sub(lambda match: resolve_path(match[0]), text)
    return text


def _of_code(code: str, vocabulary: Vocabulary) -> Iterator[str]:
    """Give what the text of a program in another language shows of it."""
    tokens: set[str] = set()
    paths: set[str] = set()
    for form in joined(code):
        lowered = form.lower()
        tokens |= vocabulary.code.classes(lowered)
        yield from (effect for match in _LOADS.finditer(lowered) for effect in _loaded(match[1] or match[2]))
        paths |= vocabulary.paths.classes(_path_text(lowered))
    yield from (f"code:{token}" for token in tokens)
    for found in paths:
        yield f"reads:{found}"
        if "write" in tokens:
            yield f"writes:{found}"
    if tokens & {"net", "socket"}:
        near = [is_foreign(host) for host in hosts(code) if host.scheme or host.address is not None]
        if any(near) or (not near and not _LOCAL.search(code)):
            yield "code:foreign"


# What takes the text or the modules of a program from a file that it names.
_LOADS = re.compile(
    r"(?:(?<!json\.)(?<!yaml\.)(?<!toml\.)(?<!lib\.)\b(?:exec|execfile|eval|load|loadfile|dofile|require|require_once|include|include_once"
    r"|source|run_path|cdll|spec_from_file_location|sys\.path\.(?:insert|append))\b[^;\n'\"`]{0,80}['\"`]([^'\"`\n]{2,200})['\"`]"
    r"|\bdo\s{0,4}['\"]([^'\"\n]{2,200})['\"])"
)


def _loaded(path: str) -> Iterator[str]:
    # The directory itself may be where modules are looked for.
    place = path + "/x" if path.rstrip("/") in _DIRECTORIES else path
    yield from _scratch(place, (), language=True)
