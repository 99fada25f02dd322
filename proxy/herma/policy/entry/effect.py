"""What the programs of an entry do: which files they write and read, whom they talk to, what they run.

An effect is a short word, `writes:shell_start` or `sends`; rules name the combinations that are harmful (`when`). Effects are
collected over a whole entry: who reads a key file in one line and posts something in the next does both.
"""

import re
from collections.abc import Iterator

from herma.policy.address import hosts, is_foreign
from herma.policy.command.argv import SHELLS, basename
from herma.policy.command.call import Call
from herma.policy.command.code import LANGUAGES, joined
from herma.policy.command.path import resolve_path
from herma.policy.command.shell import Reading
from herma.policy.entry.vocabulary import Vocabulary

__all__ = ["effects"]

_ODD_PATH = re.compile(r"(?:~[\w.-]{0,32}|\$\{?home\}?)?(?:/[^\s'\"`;|&<>(){}=,:/]{0,256}){1,64}")
_TEMPORARY = re.compile(
    r"^(?:/var)?/(?:tmp|dev/shm)/|^/run/user/\d{1,8}/|^/dev/fd/|^/proc/(?:self|\d{1,9})/fd/|^%temp%|^%tmp%|^\$env:temp|\\temp\\|\\users\\public\\"
)
_OPTION = re.compile(r"^-{1,2}[\w-]{0,40}=?")
# What follows these says who one is, and does not leave.
_IDENTITY = frozenset({"-i", "-F", "-o", "-e", "--kubeconfig", "--config", "--key", "--cert", "--cacert"})
_OUTPUT = re.compile(
    r"^-[a-zA-Z]{0,6}[oOP]$|^--(?:output|out|output-document|output-dir|directory-prefix|dir)(?:=|$)|^-[oOP]\S"
)
_IN_PLACE = re.compile(r"^-[a-z]{0,4}i|^--in-place|^inplace$")
_WHOLE = re.compile(
    r"^(?:/|/\*|~/?\*?|/(?:home|root|etc|var|usr|srv|boot|opt|mnt|data|bin|lib|users|var/lib|var/www)(?:/\*?)?|[a-z]:[\\/]?\*?|\$\{?home\}?/?\*?|%userprofile%|%systemdrive%\\?)$"
)
_UPLOAD = re.compile(
    r"^(?:-[a-z]{0,6}[dft]$|-d.|-f.|-t.|--data|--form|--upload-file|--post-|--body-|--json|-xpost|-xput|-h$)|^@|=@|^(?:post|put)$"
)
_EXECUTABLE = re.compile(r"^(?:[ugoa]{0,4}\+[rwst]{0,3}x|0?[0-7]?7[0-7]{2}|0?[0-7]?5[0-7]{2})")
_LOCAL = re.compile(r"\blocalhost\b|(?:^|\s)-\w{0,4}U\b|unix-|unix:|--unix-socket", re.IGNORECASE)
_UNKNOWN = re.compile(r"\$[({\w]|`|<\(")
_ADDRESS = re.compile(r"\b(?:\d{1,3}\.){3}\d{1,3}\b|\[[0-9a-f:]{3,}\]|//\d{8,10}\b|//0x")


def effects(reading: Reading, vocabulary: Vocabulary) -> frozenset[str]:
    """Give the effects of everything that was read."""
    found: set[str] = set()
    where = ""
    for call in reading.calls:
        if call.argv[0] == "cd" and len(call.argv) > 1:
            where = call.argv[1].rstrip("/") + "/"
        found.update(_of_call(call, where, vocabulary))
    for code in reading.codes:
        found.update(_of_code(code, vocabulary))
    return frozenset(found)


def _of_call(call: Call, where: str, vocabulary: Vocabulary) -> Iterator[str]:
    name = basename(call.argv[0])
    kinds = vocabulary.kinds(name)
    for kind in kinds:
        yield f"runs:{kind}"
        if call.shell:
            yield f"shell:{kind}"
    yield from _on_paths(call, name, kinds, where, vocabulary)
    yield from _running(call, name)
    if name in _DUMPS and not [word for word in call.argv[1:] if word not in {"-0", "-p"}]:
        yield "dumps:environment"
    if name == "mkfifo" or (name == "mknod" and call.argv[-1] == "p"):
        yield "makes:pipe"
    if "remover" in kinds and any(_WHOLE.match(word.lower().strip("'\"")) for word in call.argv[1:]):
        yield "wipes"
    if kinds & _NETWORK or any(
        "/dev/tcp/" in path or "/dev/udp/" in path for path in call.writes + call.reads
    ):
        yield from _talking(call, kinds)


_DUMPS = frozenset({"env", "printenv", "set", "export", "declare", "typeset", "compgen"})
_NETWORK = frozenset({"downloader", "sender", "socket", "tunnel", "remote"})


def _talking(call: Call, kinds: frozenset[str]) -> Iterator[str]:
    """Give what a network program does, unless it asks this host or its neighbours."""
    text = call.line.lower()
    near = _foreign(call)
    if not any(near) and (near or _UNKNOWN.search(text) is None or _LOCAL.search(call.line)):
        return
    yield "talks"
    if kinds & {"downloader", "socket"} or not kinds:
        yield "shell:talks" if call.shell else "alone:talks"
    if _ADDRESS.search(text):
        yield "numeric"
    if "downloader" in kinds and near:
        yield "fetches"
        if not call.shell:
            yield "alone:fetches"
    if "sender" in kinds or call.piped or call.reads or any(_UPLOAD.match(word) for word in text.split()):
        yield "sends"
    if "socket" in kinds:
        yield "connects"
        if not call.shell:
            yield "alone:connects"


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
    "unix",
    "UNIX",
    "file:",
    "FILE:",
    "exec:",
    "EXEC:",
    "vsock",
    "VSOCK",
    "@",
)


def _running(call: Call, name: str) -> Iterator[str]:
    operands = [word for word in call.argv[1:] if not word.startswith("-")]
    program = call.argv[0].lower()
    yield from _scratch(program, language=False)
    if (
        name in SHELLS
        or name in LANGUAGES
        or name in {"source", ".", "eval", "exec", "xargs", "iex", "invoke-expression"}
    ):
        if call.piped and not operands and call.fed is None:
            yield "runs:input"
        for word in (*operands[:1], *call.reads):
            yield from _scratch(word.lower(), language=name in LANGUAGES)
        if any(word.startswith(("<(", "$(", "`")) for word in operands) or (
            call.reads and any(path.startswith("<(") for path in call.reads)
        ):
            yield "runs:output"
        if (
            name in {"eval", "iex", "invoke-expression"}
            and call.piped
            and any(_UNKNOWN.search(word) for word in operands)
        ):
            yield "runs:input"
    if name == "chmod" and len(operands) > 1 and _EXECUTABLE.match(operands[0].lower()):
        yield "makes:executable"
        if any(_TEMPORARY.match(resolve_path(word.lower())) for word in operands[1:]):
            yield "makes:temporary"


def _scratch(word: str, *, language: bool) -> Iterator[str]:
    """Tell of a program in a place where everybody may write, graver where it is hidden there or a shell runs it."""
    path = resolve_path(word)
    if _TEMPORARY.match(path):
        hidden = "/." in path or not path.removeprefix("/var").startswith("/tmp")  # noqa: S108 - a name to compare
        yield "runs:scratch" if language and not hidden else "runs:temporary"


def _on_paths(
    call: Call, name: str, kinds: frozenset[str], where: str, vocabulary: Vocabulary
) -> Iterator[str]:
    """Give what a call does to the files that matter."""
    if not vocabulary.paths.classes(_path_text(call.line + " " + where)):
        return
    words = list(call.argv[1:])
    last = max((index for index, word in enumerate(words) if not word.startswith("-")), default=-1)
    written = kinds & {"writer", "extractor"} or (
        "editor" in kinds and any(_IN_PLACE.match(word) for word in words)
    )
    before = ""
    for index, word in enumerate(words):
        identity, before = before in _IDENTITY and bool(kinds & {"sender", "remote", "downloader"}), word
        for found in _classes(word, where, vocabulary):
            yield f"names:{found}"
            if identity or name in _SAYING:
                continue
            if "viewer" not in kinds:
                yield f"touches:{found}"
            if (
                written
                or ("copier" in kinds and (index == last or words[index - 1] in {"-t", "-d", "-C"}))
                or word.startswith("of=")
                or ("downloader" in kinds and _OUTPUT.match(words[index - 1] if index else ""))
                or ("downloader" in kinds and _OUTPUT.match(word))
            ):
                yield f"writes:{found}"
            elif kinds & _READING and name not in _LOADING:
                yield f"reads:{found}"
    for path in call.writes:
        yield from (
            f"{verb}:{found}" for found in _classes(path, where, vocabulary) for verb in ("touches", "writes")
        )
    for path in call.reads:
        yield from (
            f"{verb}:{found}" for found in _classes(path, where, vocabulary) for verb in ("names", "reads")
        )


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
        paths |= vocabulary.paths.classes(_path_text(lowered))
    yield from (f"code:{token}" for token in tokens)
    for found in paths:
        yield f"names:{found}"
        yield f"touches:{found}"
        yield f"reads:{found}"
        if "write" in tokens:
            yield f"writes:{found}"
    if tokens & {"net", "socket"}:
        near = [is_foreign(host) for host in hosts(code) if host.scheme or host.address is not None]
        if any(near) or (not near and not _LOCAL.search(code)):
            yield "code:foreign"
