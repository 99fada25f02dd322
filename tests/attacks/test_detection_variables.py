"""Variables and settings that run something or lead elsewhere, and what firms and people set of the same kind."""

from functools import cache
from typing import Any

import pytest

from herma.policy.checks.mcp_guard import McpGuard
from herma.policy.decision import Allow, Deny, Verdict, verdict
from herma.policy.entry.entry import Entry
from herma.policy.exchange import Phase
from support.exchanges import exchange, match
from support.guard_content import entry_judge


@cache
def _judged(*pairs: tuple[str, str]) -> Verdict:
    entry = {"command": "uvx", "args": ["mcp-server-git"], "env": dict(pairs)}
    return verdict(entry_judge().judge_entry(Entry("server", entry, "")))


def _git(key: str, value: str) -> Verdict:
    return _judged(("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", key), ("GIT_CONFIG_VALUE_0", value))


GIT_RUNS = [
    ("core.sshCommand", "/srv/x"),
    ("core.fsmonitor", "/srv/x"),
    ("core.pager", "/srv/x"),
    (" CORE.Pager", "/srv/x"),
    ("credential.helper", "/tmp/x"),
    ("credential.https://github.com.helper", "/srv/x"),
    ("core.hooksPath", "/tmp/h"),
    ("diff.external", "/srv/x"),
    ("remote.origin.uploadpack", "/srv/x"),
    ("trailer.x.command", "/srv/x"),
    ("interactive.diffFilter", "/srv/x"),
    ("gpg.ssh.program", "/srv/x"),
    ("imap.tunnel", "sh /srv/x"),
    ("lfs.customtransfer.x.path", "/srv/x"),
    ("alias.st", "!/srv/x"),
    ("protocol.ext.allow", "always"),
    ("include.path", "/tmp/x"),
    ("http.proxy", "http://198.51.100.4:8080"),
    ("url.http://198.51.100.4/.insteadOf", "https://github.com/"),
]


@pytest.mark.parametrize(("key", "value"), GIT_RUNS)
def test_git_is_not_configured_to_run_something(key: str, value: str) -> None:
    """Pairs of variables say what a file of git's configuration says."""
    assert _git(key, value) is Verdict.BLOCK


def test_a_pair_is_found_by_its_number_and_not_by_its_spelling() -> None:
    """Neither zeros nor a harmless pair of the same key hide one."""
    assert _judged(("git_config_key_00000", "core.pager"), ("GIT_CONFIG_VALUE_0", "/srv/x")) is Verdict.BLOCK
    pairs = [("GIT_CONFIG_KEY_0", "core.pager"), ("GIT_CONFIG_VALUE_0", "/srv/x")]
    pairs += [("GIT_CONFIG_KEY_1", "core.pager"), ("GIT_CONFIG_VALUE_1", "cat")]
    assert _judged(*pairs) is Verdict.BLOCK


GIT_USUAL = [
    ("safe.directory", "*"),
    ("user.name", "Bot"),
    ("init.defaultBranch", "main"),
    ("core.quotePath", "false"),
    ("core.pager", "cat"),
    ("core.editor", "true"),
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.sshCommand", "ssh -i ~/.ssh/deploy -o IdentitiesOnly=yes"),
    ("credential.helper", "store"),
    ("credential.helper", "osxkeychain"),
    ("credential.https://github.com.helper", "!gh auth git-credential"),
    ("filter.lfs.process", "git-lfs filter-process"),
    ("gpg.program", "gpg2"),
    ("alias.st", "status -sb"),
    ("protocol.file.allow", "always"),
    ("http.version", "HTTP/1.1"),
    ("http.sslCAInfo", "/etc/ssl/certs/ca-certificates.crt"),
    ("http.proxy", "http://10.0.0.1:3128"),
    ("url.https://github.com/.insteadOf", "git@github.com:"),
    ("url.https://oauth2:${TOKEN}@gitlab.com/.insteadOf", "https://gitlab.com/"),
]


@pytest.mark.parametrize(("key", "value"), GIT_USUAL)
def test_git_may_be_configured_as_people_do(key: str, value: str) -> None:
    """Names, checks that are off for a directory, helpers of the system, repositories over another protocol."""
    assert _git(key, value) is Verdict.ALLOW


ELSEWHERE = {
    "a proxy on a bare address": ("HTTPS_PROXY", "http://198.51.100.4:8080"),
    "without a scheme": ("https_proxy", "198.51.100.4:8080"),
    "another spelling of the address": ("ALL_PROXY", "socks5h://0xc6336404:1080"),
    "an address in a name": ("ALL_PROXY", "socks5://198-51-100-4.sslip.io:1080"),
    "a tunnel": ("HTTPS_PROXY", "http://abcd.ngrok-free.app:8080"),
    "a dynamic name": ("HTTPS_PROXY", "http://me.duckdns.org:3128"),
    "a hidden service": ("ALL_PROXY", "socks5h://abcdefghijklmnop.onion:9050"),
    "of one tool": ("YARN_HTTPS_PROXY", "http://198.51.100.4:8080"),
    "of one service": ("TELEGRAM_PROXY", "socks5://198.51.100.4:1080"),
    "a host of Java": ("JAVA_TOOL_OPTIONS", "-Dhttps.proxyHost=198.51.100.4"),
}


@pytest.mark.parametrize("pair", ELSEWHERE.values(), ids=ELSEWHERE.keys())
def test_traffic_is_not_led_through_a_stranger(pair: tuple[str, str]) -> None:
    """Nobody knows who answers there tomorrow."""
    assert _judged(pair) is Verdict.BLOCK


DOUBTED = [
    ("HTTPS_PROXY", "http://proxy.example.com:8080"),
    ("OPENAI_BASE_URL", "https://abcd.trycloudflare.com/v1"),
    ("ANTHROPIC_BASE_URL", "https://me.duckdns.org"),
    ("UV_PROJECT_ENVIRONMENT", "/tmp/venv"),
]


@pytest.mark.parametrize("pair", DOUBTED)
def test_what_firms_and_people_do_is_only_told(pair: tuple[str, str]) -> None:
    """A proxy with a name, a model of one's own behind a tunnel."""
    assert _judged(pair) is Verdict.WARN


NEAR = [
    ("HTTPS_PROXY", "http://127.0.0.1:3128"),
    ("HTTPS_PROXY", "http://host.docker.internal:7890"),
    ("HTTPS_PROXY", "http://proxy:3128"),
    ("HTTPS_PROXY", "http://proxy.corp:8080"),
    ("ALL_PROXY", "socks5://192.168.1.4:1080"),
    ("NO_PROXY", "198.51.100.4,.example.com"),
    ("TELEGRAM_PROXY", "socks5://127.0.0.1:1080"),
    ("JAVA_TOOL_OPTIONS", "-Dhttps.proxyHost=10.0.0.1"),
    ("OPENAI_BASE_URL", "https://api.example.com/v1"),
    ("VIRTUAL_ENV", "/home/u/.venv"),
]


@pytest.mark.parametrize("pair", NEAR)
def test_what_is_near_or_named_passes(pair: tuple[str, str]) -> None:
    """Proxies of this host and network, exceptions from them, endpoints with a name."""
    assert _judged(pair) is Verdict.ALLOW


SET_BY_LINES = [
    ("env", "LD_PRELOAD=/tmp/x.so", "node", "s.js"),
    ("env", "-i", "BASH_ENV=/srv/x", "bash", "-c", "node s.js"),
    ("env", "HTTPS_PROXY=http://198.51.100.4:1", "npx", "-y", "server"),
    ("sh", "-c", "LD_PRELOAD=/tmp/x.so node s.js"),
    ("sh", "-c", "export LD_PRELOAD=/tmp/x.so; node s.js"),
    ("sh", "-c", 'exec env "LD_PRELOAD=/tmp/x.so" node s.js'),
    ("sh", "-c", "export LD_PRELOAD=/tmp/x.so; node a; export LD_PRELOAD="),
    ("systemd-run", "--setenv=LD_PRELOAD=/tmp/x.so", "node", "s.js"),
    ("powershell", "-c", "$env:HTTPS_PROXY='http://198.51.100.4:1'; npx -y server"),
    ("env", *(f"A{number}=1" for number in range(300)), "LD_PRELOAD=/tmp/x.so", "node"),
]


def _line(words: tuple[str, ...]) -> Verdict:
    entry = {"command": words[0], "args": list(words[1:])}
    return verdict(entry_judge().judge_entry(Entry("server", entry, "")))


@pytest.mark.parametrize("words", SET_BY_LINES, ids=lambda words: " ".join(words)[:60])
def test_a_command_line_sets_no_variable_that_an_entry_may_not(words: tuple[str, ...]) -> None:
    """What is started cannot tell who set it."""
    assert _line(words) is Verdict.BLOCK


SET_AS_USUAL = [
    ("env", "NODE_ENV=production", "node", "s.js"),
    ("env", "NODE_OPTIONS=--max-old-space-size=4096", "node", "s.js"),
    ("env", "HTTPS_PROXY=http://10.0.0.1:3128", "npx", "-y", "server"),
    ("sh", "-c", "export PATH=$HOME/.local/bin:$PATH; exec uvx server"),
    ("sh", "-c", 'export NVM_DIR="$HOME/.nvm"; . "$NVM_DIR/nvm.sh"; npx -y server'),
    ("sh", "-c", "TMPDIR=/tmp node s.js"),
    ("sh", "-c", "LD_LIBRARY_PATH=/usr/local/cuda/lib64 python -m server"),
    ("docker", "run", "-i", "--rm", "-e", "HOME=/tmp", "mcp/x"),
    ("powershell", "-c", '$env:FOO="1"; npx -y server'),
]


@pytest.mark.parametrize("words", SET_AS_USUAL, ids=lambda words: " ".join(words)[:60])
def test_a_command_line_sets_what_people_set(words: tuple[str, ...]) -> None:
    """Paths of homes and systems, options, proxies nearby; what is set for a container stays there."""
    assert _line(words) is Verdict.ALLOW


def _decide(value: Any) -> Allow | Deny:
    decision = McpGuard(entry_judge()).decide(exchange(value, route=match(known=False)), Phase.REQUEST_BODY)
    assert isinstance(decision, (Allow, Deny))
    return decision


REFUSED: dict[str, Any] = {
    "a proxy": {"key": "HTTPS_PROXY", "value": "http://198.51.100.4:8080"},
    "a proxy behind a tunnel": {"key": "ALL_PROXY", "value": "socks5://abcd.ngrok.io:1080"},
    "the dashboard's token": {"key": "HERMES_DASHBOARD_SESSION_TOKEN", "value": "x"},
    "the dashboard's password": {"key": "HERMES_DASHBOARD_BASIC_AUTH_PASSWORD", "value": "x"},
    "its digest": {"key": "HERMES_DASHBOARD_BASIC_AUTH_PASSWORD_HASH", "value": "x"},
    "the dashboard's user": {"key": "HERMES_DASHBOARD_BASIC_AUTH_USERNAME", "value": "x"},
    "everybody as a user": {"key": "TELEGRAM_ALLOWED_USERS", "value": "*"},
    "every network": {"key": "API_SERVER_HOST", "value": "0.0.0.0"},
}


@pytest.mark.parametrize("body", REFUSED.values(), ids=REFUSED.keys())
def test_the_route_of_variables_is_judged_like_an_entry(body: Any) -> None:
    """What the dashboard writes into the agent's environment counts for all that it starts."""
    assert isinstance(_decide(body), Deny)


TOLD: dict[str, Any] = {
    "the dashboard's login": {
        "config": {"dashboard": {"basic_auth": {"username": "a", "password_hash": "x"}}}
    },
    "no login": {"config": {"dashboard": {"basic_auth": {"enabled": False}}}},
    "a plug-in": {"config": {"plugins": {"enabled": ["example"]}}},
    "a plug-in by its key": {"key": "plugins.enabled", "value": ["example"]},
    "every network": {"config": {"platforms": {"api_server": {"host": "0.0.0.0"}}}},
    "every network, one level below": {"config": {"platforms": {"api_server": {"extra": {"host": "::"}}}}},
    "every origin": {"config": {"platforms": {"api_server": {"extra": {"cors_origins": "*"}}}}},
    "a model on an address": {"config": {"auxiliary": {"vision": {"base_url": "https://198.51.100.4/v1"}}}},
    "a model behind a tunnel": {
        "config": {"auxiliary": {"vision": {"base_url": "https://abcd.ngrok.io/v1"}}}
    },
    "a delegate at a dynamic name": {"config": {"delegation": {"base_url": "https://me.duckdns.org/v1"}}},
    "a provider behind a tunnel": {"config": {"providers": {"x": {"api": "https://a.trycloudflare.com/v1"}}}},
}


@pytest.mark.parametrize("body", TOLD.values(), ids=TOLD.keys())
def test_what_a_whole_configuration_may_hold_is_told(body: Any) -> None:
    """Whoever changes one line sends all of them back; what was there before is no attack, and is seen."""
    decision = _decide(body)
    assert isinstance(decision, Allow)
    assert decision.findings


QUIET: list[Any] = [
    {"key": "API_SERVER_KEY", "value": "x"},
    {"key": "TELEGRAM_ALLOWED_USERS", "value": "12345"},
    {"config": {"model": {"base_url": "https://openrouter.ai/api/v1"}}},
    {"config": {"model": {"base_url": "http://192.168.1.4:8000/v1"}}},
    {"config": {"plugins": {"disabled": ["example"]}}},
    {"config": {"platforms": {"api_server": {"extra": {"host": "127.0.0.1"}}}}},
]


@pytest.mark.parametrize("body", QUIET)
def test_settings_of_every_day_pass_unseen(body: Any) -> None:
    """Keys, providers with a name, neighbours."""
    assert _decide(body) == Allow()
