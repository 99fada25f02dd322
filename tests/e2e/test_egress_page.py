"""docs/egress.md is followed word by word, in a network of the test's own where the hosts that it names are stubs."""

import json
import os
import re
import secrets
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from time import monotonic
from typing import Any
from urllib.parse import parse_qs

import pytest
import yaml

from herma.cli.outgoing import HINTS
from herma.config.egress import Egress
from support.certificates import make_authority
from support.gate import ROOT
from support.network import named, own_network, public
from support.tree import tracked
from support.upstream import RecordingUpstream, json_answer

pytestmark = pytest.mark.e2e
PAGE = (ROOT / "docs/egress.md").read_text()
FENCES = re.findall(r"^```(\w+)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
# A start takes seconds; a machine that does something else beside the tests needs patience.
PATIENCE_S = 120.0
READY = re.search(r"It says `([^`]+)`", PAGE)
ENV_FILE = "OPENAI_API_KEY=sk-proj-FAKEfakeFAKEfake1234567890abcd\nRECIPE_CODE=three7spoons-of-flour\n"
SECRET = "opaqueTOKENvalue1234567890"
# What the page has in mind and a test has elsewhere.
HOME = "/home/agent"


def fences(language: str, *, having: str = "") -> list[str]:
    return [text for kind, text in FENCES if kind == language and having in text]


def fence(language: str, having: str) -> str:
    (text,) = fences(language, having=having)
    return text


@dataclass(frozen=True, slots=True)
class World:
    """A home with the page's files, the gate as the page starts it, and who is to hear of it or not."""

    home: Path
    launcher: Sequence[str]
    telegram: RecordingUpstream
    collector: RecordingUpstream

    def run(self, script: str, *, within: bool = False) -> subprocess.CompletedProcess[str]:
        """Type a piece of the page into a shell; with `within`, into one that has the page's variables."""
        before = ". ./egress.sh\n" if within else ""
        environ = {"BOT_TOKEN": "123456789:AAF4keK3yF0rT3stF4keK3yF0rT3stF4ke0", "CHAT_ID": "1"}
        return subprocess.run(
            ["sh", "-e", "-c", before + script.replace(HOME, str(self.home))],
            cwd=self.home,
            env=environ | self.environ(),
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_S,
        )

    def environ(self) -> dict[str, str]:
        """Give what a user's shell has."""
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        return {"PATH": path, "HOME": str(self.home), "PYTHONPATH": str(ROOT / "proxy")}

    def audit(self) -> list[dict[str, Any]]:
        """Read what the gate wrote down, which is to standard output unless a file is named."""
        lines = (self.home / "out").read_text().splitlines()
        return [line for text in lines if text.startswith("{") for line in [json.loads(text)]]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """The page up to its third step; the ports are those of the page."""
    home = tmp_path_factory.mktemp("agent")
    (home / ".hermes").mkdir()
    (home / ".hermes/.env").write_text(ENV_FILE)
    (home / "agent.key").write_text(secrets.token_hex(32) + "\n")
    (home / "agent.key").chmod(0o600)
    names = {"api.telegram.org": public(66), "collector.example.com": public(67)}
    with own_network():
        root = make_authority(home, "world")
        pair = root.issue("telegram", "dns:api.telegram.org")
        with (
            RecordingUpstream(address=public(66), port=443, context=pair.serving()) as telegram,
            RecordingUpstream(address=public(67), port=80) as collector,
            RecordingUpstream() as agent,
        ):
            # The one thing that the page does not need: its Telegram has a certificate that everybody trusts.
            section = fence("yaml", "watch:").replace(HOME, str(home)) + f"  ca_file: {root.path}\n"
            (home / "herma.yaml").write_text(
                f"upstream: {{url: '{agent.url}', key_file: agent.key}}\n{section}"
            )
            made = World(home, named(home, names), telegram, collector)
            checked, started = fence("sh", "herma run").splitlines()
            assert made.run(checked).returncode == 0
            with (home / "out").open("wb") as out, (home / "err").open("wb") as err:
                process = subprocess.Popen(
                    [*made.launcher, *started.split()], cwd=home, env=made.environ(), stdout=out, stderr=err
                )
                try:
                    _wait(process, home / "err")
                    yield made
                finally:
                    process.terminate()
                    process.wait(PATIENCE_S)


def _wait(process: subprocess.Popen[bytes], log: Path) -> None:
    assert READY is not None
    deadline = monotonic() + PATIENCE_S
    while READY[1] not in log.read_text():
        assert process.poll() is None, log.read_text()[-4000:]
        assert monotonic() < deadline, log.read_text()[-4000:]
        try:
            process.wait(0.05)
        except subprocess.TimeoutExpired:
            continue


@pytest.fixture(scope="module")
def shell(world: World) -> World:
    """With the variables of the fourth step; the agent itself is not started."""
    variables, sourced, agent = fence("sh", "ca env").splitlines()
    assert (sourced, agent.split()[0]) == (". ./egress.sh", "hermes")
    done = world.run(variables)
    assert done.returncode == 0, done.stderr
    return world


def test_a_file_of_keys_is_refused_as_the_page_shows(shell: World) -> None:
    """The answer is the one of the page, and nothing arrives."""
    done = shell.run(fence("sh", "collector.example.com"), within=True)
    answer, shown = json.loads(done.stdout), json.loads(fence("json", "about:blank"))
    assert answer.pop("detail").startswith(shown.pop("detail").rstrip("…"))
    assert {**answer, "exchange": ""} == {**shown, "exchange": ""}
    shell.collector.assert_untouched()


def test_the_audit_has_the_line_of_the_page(shell: World) -> None:
    """Field by field, but for what differs each time."""
    shell.run(fence("sh", "collector.example.com"), within=True)
    shown = json.loads(fence("json", "class_uid"))
    line = next(
        one for one in shell.audit() if one.get("direction") == "egress" and one["http_method"] == "POST"
    )
    varying = dict.fromkeys(("time", "exchange", "duration_ms"))
    assert line | varying == shown | varying
    assert list(line) == list(shown)


def test_a_message_arrives_without_its_secret(shell: World) -> None:
    """As the page says that the chat shows it."""
    shell.telegram.forget()
    shell.telegram.on(
        "POST", "/bot123456789:AAF4keK3yF0rT3stF4keK3yF0rT3stF4ke0/sendMessage", json_answer({"ok": True})
    )
    done = shell.run(fence("sh", "api.telegram.org"), within=True)
    assert json.loads(done.stdout) == {"ok": True}, done.stderr
    (seen,) = shell.telegram.forwarded
    (text,) = parse_qs(seen.body.decode())["text"]
    said = re.search(r"The chat shows `([^`]+)`", PAGE)
    assert said is not None
    assert re.search(re.escape(said[1]).replace("…", "[0-9a-f]{8}"), text), text
    assert SECRET not in text


def test_status_and_metrics_are_there(shell: World) -> None:
    """Each name that the page gives is one of them."""
    status, metrics = fence("sh", "herma status").splitlines()
    assert '"up": true' in shell.run(status + " --json").stdout
    told = shell.run(metrics, within=True).stdout
    table = PAGE.partition("| Metric |")[2].partition("\n\n")[0]
    for name in re.findall(r"`(herma_egress_\w+)`", table):
        if name != "herma_egress_failed_hooks_total":
            assert f"\n{name}" in f"\n{told}", name
    assert 'code="herma.egress.watched",kind="other",outcome="denied"' in told


def test_the_variables_are_written_for_others_as_shown(shell: World) -> None:
    """Each command of the table; systemd takes what is written for it."""
    rows = re.findall(r"^\| (.+?) \| `(herma ca env[^`]*)`", PAGE, re.MULTILINE)
    assert len(rows) == 4
    for _, command in rows:
        done = shell.run(command.partition(" > ")[0])
        assert done.returncode == 0, done.stderr
        assert "127.0.0.1:8645" in done.stdout
    for command in re.findall(r"`(herma ca export [^`]+)`", PAGE):
        assert shell.run(command).returncode == 0
    assert (shell.home / "trust.pem").read_text().endswith((shell.home / "ca.pem").read_text())


def test_units_of_systemd_are_understood(shell: World) -> None:
    """The way around is closed by directives that exist."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("needs systemd-analyze")
    printed = shell.run("herma ca env --for systemd").stdout
    for text in (fence("ini", "IPAddressDeny"), printed):
        unit = shell.home / "hermes.service"
        unit.write_text(f"[Unit]\nDescription=Agent\n{text}\nType=oneshot\nExecStart=/bin/true\n")
        done = subprocess.run(
            ["systemd-analyze", "verify", "--man=no", str(unit)], capture_output=True, text=True, check=False
        )
        assert "hermes.service:" not in done.stderr, done.stderr


def test_a_request_is_explained_as_the_page_says(world: World) -> None:
    """From the file that the page shows."""
    (world.home / "request.json").write_text(fence("json", '"url"'))
    done = world.run(fence("sh", "explain egress"))
    assert done.returncode == 0, done.stderr
    said = re.search(r"It says `([^`]+)`", PAGE.partition("explain egress request.json")[2])
    assert said is not None
    assert done.stdout.startswith(f"{said[1]}\n")
    assert SECRET not in done.stdout


def test_a_platform_of_one_s_own_is_proved_and_known(world: World) -> None:
    """The file that the page shows, in the directory that it names."""
    (world.home / "acme-rules/egress").mkdir(parents=True)
    (world.home / "acme-rules/egress/acme-chat.yaml").write_text(fence("yaml", "id: acme-chat"))
    done = world.run(fence("sh", "acme-rules"))
    assert (done.returncode, done.stdout) == (0, ""), done.stdout
    named = re.search(r"`(content\.rules_dirs): (\[[^`]+\])`", PAGE)
    assert named is not None
    own = f"\ncontent: {{rules_dirs: {named[2]}}}\n"
    (world.home / "own.yaml").write_text((world.home / "herma.yaml").read_text() + own)
    listed = world.run("herma rules list --family egress --config own.yaml")
    assert " acme-chat " in listed.stdout


def test_each_section_that_is_shown_is_a_section(world: World) -> None:
    """The gate takes it without a warning."""
    keys = "auth: {keys: [{name: me, key_file: me.key, scopes: [read]}]}"
    base = f"upstream: {{url: 'http://127.0.0.1:9', key_file: agent.key}}\n{keys}\n"
    (world.home / "me.key").write_text(secrets.token_hex(32))
    (world.home / "me.key").chmod(0o600)
    for number, text in enumerate(fences("yaml", having="egress:")):
        file = world.home / f"section-{number}.yaml"
        file.write_text(base + text.replace(HOME, str(world.home)))
        done = world.run(f"herma check --config {file}")
        assert (done.returncode, "warning" in done.stderr) == (0, False), done.stderr
    # Settings that are named in running text are there, too.
    assert set(re.findall(r"`egress\.(\w+)", PAGE)) <= {field.name for field in fields(Egress)}


def test_every_code_is_in_the_table() -> None:
    """With what lets it pass, as `herma explain egress` says it; the canary is nobody's request."""
    source = "\n".join((ROOT / path).read_text() for path in tracked() if path.is_relative_to("proxy/herma"))
    codes = set(re.findall(r'"(herma\.egress\.[a-z_]+)"', source)) | set(HINTS)
    table = PAGE.partition("| Code |")[2].partition("\n\n")[0]
    assert set(re.findall(r"`(herma\.egress\.\w+)`", table)) >= codes - {"herma.egress.canary"}
    assert yaml.safe_load(fence("yaml", "watch:"))
