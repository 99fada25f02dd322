"""What an argument vector really runs, behind whatever launches it.

A list of launchers with their options is never complete. So every word that names a known program begins a vector that
is judged as if it stood alone, and every argument that looks like a script is read as one.
"""

import re
from collections.abc import Iterator, Sequence

__all__ = ["SHELLS", "basename", "looks_like_script", "programs", "script_of"]

SHELLS = frozenset(
    [
        "sh",
        "bash",
        "zsh",
        "dash",
        "ash",
        "ksh",
        "mksh",
        "rbash",
        "fish",
        "csh",
        "tcsh",
        "busybox",
        "yash",
        "nu",
        "xonsh",
        "elvish",
        "hush",
        "posh",
        "ion",
        "pwsh",
        "powershell",
        "cmd",
    ]
)
_INTERPRETERS = frozenset(
    [
        "python",
        "python2",
        "python3",
        "pypy",
        "pypy3",
        "node",
        "nodejs",
        "bun",
        "deno",
        "perl",
        "ruby",
        "php",
        "lua",
        "luajit",
        "tclsh",
        "expect",
        "osascript",
        "jshell",
        "groovy",
        "rscript",
        "awk",
        "gawk",
        "mawk",
        "nawk",
        "emacs",
        "vim",
        "vi",
        "ed",
        "ex",
        "sed",
        "make",
        "gdb",
        "java",
        "jbang",
        "go",
        "tsx",
        "ts-node",
    ]
)
_TOOLS = frozenset(
    [
        "curl",
        "wget",
        "nc",
        "ncat",
        "netcat",
        "socat",
        "telnet",
        "ftp",
        "tftp",
        "scp",
        "sftp",
        "ssh",
        "rsync",
        "openssl",
        "tee",
        "dd",
        "cp",
        "mv",
        "ln",
        "install",
        "crontab",
        "at",
        "batch",
        "systemctl",
        "systemd-run",
        "docker",
        "podman",
        "nerdctl",
        "lxc",
        "kubectl",
        "nsenter",
        "chroot",
        "unshare",
        "git",
        "npm",
        "npx",
        "pnpm",
        "yarn",
        "bunx",
        "uv",
        "uvx",
        "pip",
        "pip3",
        "pipx",
        "rm",
        "mkfs",
        "chmod",
        "chattr",
        "useradd",
        "usermod",
        "chpasswd",
        "base64",
        "xxd",
        "eval",
        "exec",
        "source",
        "xargs",
        "env",
        "sudo",
        "rclone",
        "aws",
        "launchctl",
        "schtasks",
        "reg",
        "certutil",
        "bitsadmin",
        "mshta",
        "regsvr32",
        "rundll32",
        "wmic",
        "iwr",
        "iex",
        "invoke-webrequest",
        "invoke-expression",
        "ngrok",
        "cloudflared",
        "frpc",
        "gs-netcat",
        "chisel",
        "xmrig",
        "cat",
        "find",
    ]
)
_KNOWN = SHELLS | _INTERPRETERS | _TOOLS
# Vectors looked at within one: wrappers nest a few deep, arguments that happen to be program names are few.
MAX_PROGRAMS = 24

_SCRIPT = re.compile(r"[\s;|&`<>]|\$[({\w]|\\x")
# Options of shells that take a value and are not the script.
_SHELL_VALUES = frozenset(
    {
        "-o",
        "+o",
        "-O",
        "+O",
        "--rcfile",
        "--init-file",
        "-WindowStyle",
        "-w",
        "-ExecutionPolicy",
        "-ep",
        "-NoProfile",
    }
)
_COMMAND_OPTIONS = frozenset({"-c", "/c", "/k", "--command", "-command", "--commands"})


def basename(word: str) -> str:
    """Give a program's plain name: no directory, no `.exe`, lower case, no version (`python3.12`)."""
    name = re.split(r"[/\\]", word.strip().strip("'\""))[-1].lower()
    name = re.sub(r"\.(?:exe|cmd|bat|com)$", "", name)
    return re.sub(r"(?<=[a-z])[0-9.]+$", "", name) if name not in _KNOWN else name


def programs(argv: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Give the vector itself, and each of its tails that begins with a known program."""
    count = 0
    for index, word in enumerate(argv):
        if index == 0 or basename(word) in _KNOWN:
            yield tuple(argv[index:])
            count += 1
            if count >= MAX_PROGRAMS:
                return


def script_of(argv: Sequence[str]) -> tuple[str, tuple[str, ...]] | None:
    """Give the script a shell is called with and its positional parameters (`$0` first)."""
    if not argv or basename(argv[0]) not in SHELLS:
        return None
    skip = False
    for index, word in enumerate(argv[1:], 1):
        lowered = word.lower()
        if skip:
            skip = False
        elif lowered in _COMMAND_OPTIONS or re.fullmatch(r"-[a-zA-Z]{0,8}c[a-zA-Z]{0,8}", word):
            rest = argv[index + 1 :]
            if basename(argv[0]) in {"cmd", "pwsh", "powershell"}:
                return " ".join(rest), ()
            return (rest[0], tuple(rest[1:])) if rest else None
        elif word in _SHELL_VALUES:
            skip = True
        elif not word.startswith(("-", "+", "/")):
            return None
    return None


def looks_like_script(word: str) -> bool:
    """Tell whether an argument could be more than a plain value."""
    return _SCRIPT.search(word) is not None
