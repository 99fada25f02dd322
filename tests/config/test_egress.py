"""Claims about `herma.config.egress`."""

from pathlib import Path

import pytest

from herma.config.egress import Beyond, Egress
from herma.config.load import parse
from herma.config.settings import Settings
from herma.errors import ConfigError
from herma.policy.egress.destination import EgressMode
from herma.policy.egress.host_pattern import HostPattern

BASE = "upstream: {url: 'http://127.0.0.1:8642', key: '${KEY}'}\n"
ENVIRON = {"KEY": "Zx81-kqLm9vTr4WdYb7uHs2NcPfEgJaQ"}


def read(text: str, *, check_files: bool = False, directory: str = "/etc/herma") -> Settings:
    return parse(
        (BASE + text).encode(),
        f"{directory}/herma.yaml",
        ENVIRON,
        check_files=check_files,
        resolver=lambda name: ["192.0.2.7"],
    )


def egress(text: str) -> Egress:
    found = read(f"egress: {{{text}}}\n").egress
    assert found is not None
    return found


def problems(text: str, **rest: object) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        read(text, **rest)  # type: ignore[arg-type] - the two above
    return [problem.code for problem in caught.value.problems]


def test_there_is_none_until_it_is_configured() -> None:
    """An empty section is one with every default."""
    assert read("").egress is None
    found = egress("")
    assert str(found.address) == "127.0.0.1:8645"
    assert (found.mode, found.beyond) == (EgressMode.BLOCK_KNOWN_BAD, Beyond.REFUSE)
    assert found.state_dir == "/etc/herma/egress"


def test_paths_start_where_the_configuration_is() -> None:
    """As everywhere in the file."""
    found = egress("watch: [a/.env, /b/.env], ca_file: roots.pem")
    assert found.watch == ("/etc/herma/a/.env", "/b/.env")
    assert found.ca_file == "/etc/herma/roots.pem"


def test_platforms_of_ones_own_are_named_by_host() -> None:
    """Each with a list."""
    found = egress("platforms: {matrix: {hosts: [matrix.example.org]}}")
    assert found.platforms["matrix"].hosts == (HostPattern("matrix.example.org"),)


WRONG = {
    "everybody's address": ("egress: {address: '0.0.0.0:8645'}\n", ["egress.public"]),
    "a name that leads elsewhere": ("egress: {address: 'proxy.example.com:8645'}\n", ["egress.public"]),
    "a socket": ("egress: {address: 'unix:/run/egress.sock'}\n", ["egress.unix"]),
    "a socket as next proxy": ("egress: {upstream_proxy: 'unix:/run/p'}\n", ["egress.upstream_proxy"]),
    "a login that is none": (
        "egress: {upstream_proxy: 'http://127.0.0.1:3128', upstream_proxy_login: '${KEY}'}\n",
        ["egress.upstream_proxy_login"],
    ),
    "a login for nobody": ("egress: {upstream_proxy_login: 'a:b'}\n", ["egress.upstream_proxy_login"]),
    "the address of the admin listener": ("egress: {address: '127.0.0.1:8644'}\n", ["listen.duplicate"]),
    "a platform without hosts": ("egress: {platforms: {matrix: {hosts: []}}}\n", ["config.items"]),
}


@pytest.mark.parametrize(("text", "codes"), WRONG.values(), ids=WRONG.keys())
def test_what_others_could_reach_or_nobody_is_refused(text: str, codes: list[str]) -> None:
    """The proxy knows no keys, so it stays on loopback."""
    assert problems(text) == codes


def test_hosts_that_are_not_read_are_told() -> None:
    """They mean something in one mode only."""
    settings = read("egress: {hosts: [example.com]}\n")
    assert "egress.hosts.unread" in {warning.code for warning in settings.warnings}
    listed = read("egress: {mode: allow-list, hosts: [example.com]}\n")
    assert "egress.hosts.unread" not in {warning.code for warning in listed.warnings}


def test_files_have_to_be_there(tmp_path: Path) -> None:
    """A file that is not there would be watched by nobody."""
    found = problems(
        "egress: {watch: [missing.env], ca_file: none.pem}\n", check_files=True, directory=str(tmp_path)
    )
    assert found == ["config.file", "config.file"]
