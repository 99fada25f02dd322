"""What a path leads to, however it is spelled."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.file.place import MAX_PATH_CHARS, Place, place_of

SECRET = (
    "/root/.hermes/.env", "~/.hermes/.env", ".env", "x/../.env", "../../.env", "/srv/app/.env.local", "/a/.env~", "/a/.ENV", "/root/.Hermes/AUTH.json",
    "/home/al/.ssh/id_ed25519", "/home/al/.ssh/config", "~al/.ssh/authorized_keys", "/root/.hermes/mcp-tokens/hub.json",
    "/root/.hermes/config.yaml", "/opt/data/config.yaml", "/opt/data/profiles/office/config.yaml.bak", "/root/.aws/credentials",
    "/root/.config/gcloud/x", "/etc/shadow", "/etc/ssl/private/site.key", "/proc/self/environ", "/proc/1/root/root/.ssh/x",
    "/proc/1/root/etc/shadow", "/proc/self/cwd/x", "/proc/1/task/1/cwd/x", "//proc/self/fd/3", "/dev/fd/3", "file:///root/.hermes/.env",
    # Encoded once more than the route decodes, and more often.
    "/root/.hermes/%2eenv", "/root/.hermes/%252eenv", "/root/.hermes/%25252eenv", "%2froot%2f.hermes%2f.env", "/root/.hermes/.e%6ev",
    # Another system's separators, streams and ends.
    r"C:\Users\al\.ssh\id_rsa", r"C:\Users\al\.hermes\.env", r"\root\.hermes\.env", "/root/.hermes\\.env", "/x/.env::$DATA", "/x/.env:stream",
    "/x/.env:$DATA", "/x/.env.", "/x/.env ", "/x/.env. .", "/x/.ssh./id", "/x/.ssh /id",
    # Letters that a file system folds, or does not see.
    "/x/.ｅｎｖ", "/x/．env", "/x/.e\u200bnv", "/x/.en\u00adv", "/x/.ſſh/id", "/x／.env", "/x/%EF%BC%8Eenv", "/x/.env%20",
)  # fmt: skip
AGENT = (
    "/root/.hermes/scripts/x.sh",
    "~/.hermes",
    "/home/al/.hermes/plugins/x.py",
    "/opt/data/scripts/x.sh",
    "/opt/data",
)
SYSTEM = (
    "/etc/cron.d/x", "/etc/passwd", "/var/spool/cron/root", "~/.bashrc", "/home/al/.profile", "/usr/local/bin/x", "/x/.git/hooks/pre-commit",
    "/x/.git/config", "~/.config/systemd/user/x.service", "/home/al/.config/autostart/x.desktop", "/opt/venv/lib/python3.12/site-packages/x.py",
    "/x/evil.pth", "/x/../etc/cron.d/x", "/Users/al/Library/LaunchAgents/x.plist",
)  # fmt: skip
PLAIN = (
    "/srv/papers/notes.md", "notes.md", "/home/al/project/src/env.py", "/home/al/environment.yml", "/home/al/.environment", "/srv/config.yaml",
    "/home/al/keys.md", "/home/al/keyboard.txt", "/srv/100%.txt", "/srv/a:b.txt", "/home/al/proc/self/notes", "/opt/data/workspace/x.py",
    "/home/al/hermes/readme.md", "/home/al/pairings/x", "/home/al/Datei mit Umlaut ä.txt", "C:/papers/notes.md", "/", "",
)  # fmt: skip


@pytest.mark.parametrize(
    ("path", "place"),
    [
        *((path, Place.SECRET) for path in SECRET),
        *((path, Place.AGENT) for path in AGENT),
        *((path, Place.SYSTEM) for path in SYSTEM),
        *((path, Place.PLAIN) for path in PLAIN),
    ],
)
def test_a_path_leads_to_one_place(path: str, place: Place) -> None:
    """The gravest of its readings."""
    assert place_of(path) is place


@pytest.mark.parametrize(
    "path",
    ["/x\0.txt", "/x%00.txt", "/x%2500.txt", "/x\n", "/x%0a", "a" * (MAX_PATH_CHARS + 1), "\ufdfa" * 4096],
)
def test_what_has_no_single_meaning_leads_nowhere(path: str) -> None:
    """One reader ends a name at a NUL, another goes on."""
    assert place_of(path) is Place.UNREADABLE


@given(st.text(max_size=40))
def test_no_path_is_an_error(path: str) -> None:
    """Whatever letters it has."""
    assert place_of(path) in Place


@given(
    st.sampled_from(["/root/.hermes/.env", "/home/al/.ssh/id_rsa", "/etc/shadow"]),
    st.lists(st.sampled_from(["upper", "percent", "dot", "double", "back", "climb"]), max_size=2),
)
def test_spellings_do_not_hide_a_secret(path: str, ways: list[str]) -> None:
    """Each alone, and two together."""
    for way in ways:
        match way:
            case "upper":
                path = path.upper()
            case "percent":
                path = "".join(f"%{ord(sign):02x}" if sign in "./sS" else sign for sign in path)
            case "dot":
                path = path.replace("/", "/./")
            case "double":
                path = path.replace("/", "//")
            case "back":
                path = path.replace("/", "\\")
            case _:
                path = path.replace("/", "/x/../", 1)
    assert place_of(path) is Place.SECRET
