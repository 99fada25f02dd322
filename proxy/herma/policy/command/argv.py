"""What an argument vector really runs, behind whatever launches it.

A list of launchers with their options is never complete. So every word that names a known program begins a vector that
is judged as if it stood alone, and every argument that looks like a script is read as one.
"""

import re
from collections.abc import Iterator, Sequence

__all__ = ["MAX_PROGRAMS", "SHELLS", "basename", "contained", "looks_like_script", "programs", "script_of"]

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
        "cat",
        "find",
    ]
)
_KNOWN = SHELLS | _INTERPRETERS | _TOOLS
# Vectors looked at within one: wrappers nest a few deep, arguments that happen to be program names are few. What has more is not
# read in part, but refused.
MAX_PROGRAMS = 64
# Words behind a launcher that may be what it launches, values of options not counted: `docker compose exec web x` has four.
MAX_LAUNCHED = 4

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
    if word.isascii() and word.isalpha():
        # Most words have nothing of all this.
        return word.lower()
    name = word.strip().strip("'\"").replace("\\", "/").rsplit("/", 1)[-1].lower()
    if name in _KNOWN:
        return name
    if "." in name:
        stem, _, suffix = name.rpartition(".")
        name = stem if suffix in _SUFFIXES else name
    bare = name.rstrip("0123456789.")
    return bare if bare and bare != name and bare[-1].isalpha() and name not in _KNOWN else name


_SUFFIXES = frozenset({"exe", "cmd", "bat", "com"})


def programs(argv: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Give the vector itself, and each of its tails that begins with a known program or with what a launcher launches.

    There may be as many as there are words: whoever asks stops at `MAX_PROGRAMS`.
    """
    launched = 0
    seen: set[str] = set()
    launcher = ""
    for index, word in enumerate(argv):
        if index > 1 and argv[index - 1] == _FOLDER and _own_option(argv, index - 1):
            # It may be called like a tool: `uv --cache-dir /tmp/uv`.
            continue
        name = basename(word)
        perhaps = (
            launched > 0
            and word[:1] not in _NO_PROGRAM
            and "=" not in word
            and argv[index - 1] not in _FILES.get(launcher, ())
        )
        if index == 0 or name in _KNOWN or perhaps:
            known = name if "/" not in word else word
            if known in seen and name not in SHELLS and name not in _INTERPRETERS:
                # A shorter vector of the same program says nothing new.
                continue
            seen.add(known)
            yield tuple(argv[index:])
            launcher = name if name in LAUNCHERS else launcher
            if name in LAUNCHERS or name in _KNOWN:
                launched = MAX_LAUNCHED if name in LAUNCHERS else 0
            elif not argv[index - 1].startswith("-") or argv[index - 1] == "--":
                # An option's value looks like a program: in `sudo -u www-data perl` both are tried, and it takes no turn.
                launched -= 1


def _own_option(argv: Sequence[str], at: int) -> bool:
    """Tell whether the option is one of `uv` itself: behind another word, another program may take it for what it likes."""
    first = next(
        (back for back in range(at - 1, max(-1, at - 4), -1) if basename(argv[back]) in _CACHING), None
    )
    return first is not None and tuple(argv[first + 1 : at]) in _RUNNING


# Programs that take a folder behind this option, and the words that may stand between.
_FOLDER = "--cache-dir"
_CACHING = frozenset({"uv", "uvx"})
_RUNNING = frozenset({(), ("run",), ("tool", "run")})
# What launchers take as a file or directory, which is no program: what follows these words. `flock` begins with one.
_VOLUMES = frozenset(
    {"-v", "--volume", "-w", "--workdir", "--env-file", "--mount", "--tmpfs", "--cidfile", "--device", "-e", "--label-file", "-f", "--file"}
)  # fmt: skip
_FILES = {
    **dict.fromkeys(("docker", "podman", "nerdctl"), _VOLUMES),
    **dict.fromkeys(("strace", "ltrace"), frozenset({"-o", "-e", "-E", "-S"})),
    **dict.fromkeys(("ssh", "autossh"), frozenset({"-i", "-F", "-S", "-E", "-o", "-L", "-R", "-D", "-W", "-b"})),
    **dict.fromkeys(("env", "sudo"), frozenset({"-C", "--chdir", "-D"})),
    "bwrap": frozenset({"--bind", "--ro-bind", "--dev-bind", "--tmpfs", "--dir", "--proc", "--dev", "--chdir"}),
    "xvfb-run": frozenset({"-f", "-e", "--auth-file", "--error-file"}),
    "time": frozenset({"-o", "--output"}),
    "flock": frozenset({"flock", "/usr/bin/flock", "-n", "-x", "-s", "-w", "-e", "--nonblock", "--exclusive", "--shared"}),
    "script": frozenset({"script", "-q", "-a", "-f", "--log-out"}),
    "tmux": frozenset({"-S", "-f", "-L"}),
    "find": frozenset({"find", "-name", "-path", "-newer", "-L", "-P"}),
    "proot": frozenset({"-r", "-b", "-w", "-R", "-S"}),
    "kubectl": frozenset({"-f", "--kubeconfig", "-k"}),
}  # fmt: skip
# What begins an option, a number, a variable or an operator begins no program's name.
_NO_PROGRAM = frozenset("-+0123456789$;|&{}!,@:%")
LAUNCHERS = frozenset(
    [
        *("env", "timeout", "gtimeout", "nice", "ionice", "chrt", "taskset", "sudo", "doas", "su", "runuser", "xargs", "parallel"),
        *("busybox", "toybox", "setsid", "nohup", "stdbuf", "unbuffer", "script", "unshare", "chroot", "flock", "watch", "find"),
        *("systemd-run", "systemd-inhibit", "ssh", "autossh", "sshpass", "docker", "podman", "nerdctl", "kubectl", "lxc", "nsenter"),
        *("wsl", "strace", "ltrace", "time", "exec", "command", "builtin", "caffeinate", "dbus-run-session", "xvfb-run", "firejail"),
        *("bwrap", "proot", "fakeroot", "torsocks", "torify", "proxychains", "proxychains4", "prlimit", "setarch", "cpulimit"),
        *("faketime", "numactl", "catchsegv", "chpst", "start-stop-daemon", "daemonize", "entr", "pkexec", "gosu", "su-exec", "tini"),
        *("dumb-init", "nix-shell", "flatpak-spawn", "distrobox", "toolbox", "lima", "limactl", "multipass", "vagrant", "start"),
        *("tmux", "screen", "dtach", "xterm", "gnome-terminal", "konsole", "open", "launchctl", "cmd", "arch", "setpriv", "capsh"),
        *("coproc", "trap", "if", "then", "while", "do", "until", "!", "not", "and", "or", "runas", "psexec", "forfiles", "at"),
    ]
)  # fmt: skip


_CONTAINERS = frozenset({"docker", "podman", "nerdctl", "kubectl"})
# Behind these words of a container's program stand images and what runs in them. Another word may follow a name that only
# looks like such a program: `sudo -u docker x`.
_ORDERS = frozenset({"run", "exec", "create", "debug", "pull", "image"})


def contained(argv: Sequence[str]) -> int:
    """Give how many words from the order of a container's program on there are: shorter tails do not run here. 0: none."""
    for at, word in enumerate(argv):
        if basename(word) in _CONTAINERS:
            # A value of another program's option looks alike, so there only the next word counts.
            order = at + 1 if at and argv[at - 1].startswith("-") else _behind_options(argv, at + 1)
            if order < len(argv) and argv[order] in _ORDERS:
                return len(argv) - order
    return 0


def _behind_options(argv: Sequence[str], at: int) -> int:
    """Give the place of the first word that is no option of a container's program, no value of one, and no group of orders."""
    while at < len(argv) and (argv[at].startswith("-") or argv[at] in _GROUPS):
        at += 2 if argv[at] in _VALUED else 1
    return at


_GROUPS = frozenset({"container", "compose", "mcp", "gateway"})
_VALUED = frozenset(
    {"-f", "--file", "-H", "--host", "-c", "--context", "--config", "-l", "--log-level", "-p", "--project-name", "--profile",
     "--project-directory", "--env-file", "-n", "--namespace", "--kubeconfig", "--connection", "--url"}
)  # fmt: skip


def script_of(argv: Sequence[str]) -> tuple[str, tuple[str, ...]] | None:
    """Give the script a shell is called with and its positional parameters (`$0` first)."""
    if not argv or basename(argv[0]) not in SHELLS:
        return None
    skip = False
    for index, word in enumerate(argv[1:], 1):
        lowered = word.lower()
        if skip:
            skip = False
        elif lowered in _COMMAND_OPTIONS or re.fullmatch(r"-[a-zA-Z]*c[a-zA-Z]*", word):
            rest = argv[index + 1 :]
            if basename(argv[0]) in {"cmd", "pwsh", "powershell"}:
                # The caret takes away the meaning of the next character, which in a word has none.
                text = " ".join(rest).replace("^", "")
                if len(text) > 2 and text[0] == text[-1] == '"':
                    text = text[1:-1]
                # The grammar of another shell takes backslashes away, which here are parts of paths.
                return text.replace("\\", "\\\\").replace("`", ""), ()
            return (rest[0], tuple(rest[1:])) if rest else None
        elif word in _SHELL_VALUES:
            skip = True
        elif not word.startswith(("-", "+", "/")):
            return None
    return None


def looks_like_script(word: str) -> bool:
    """Tell whether an argument could be more than a plain value."""
    return _SCRIPT.search(word) is not None
