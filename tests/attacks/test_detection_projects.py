"""Tools that run what a project says, pointed at a project that everybody may write, and the same tools of every day beside."""

import shlex
from functools import cache

import pytest

from herma.policy.decision import Verdict, verdict
from herma.policy.entry.entry import Entry
from support.guard_content import entry_judge


@cache
def _judged(line: str, cwd: str = "", **env: str) -> Verdict:
    command, *args = shlex.split(line)
    entry = {"command": command, "args": args, "env": env, "cwd": cwd}
    return verdict(entry_judge().judge_entry(Entry("server", entry, "")))


REFUSED = [
    "docker compose -f /tmp/c.yml up",
    "docker-compose --file=/dev/shm/c.yml up -d",
    "npm -C /tmp/x start",
    "npm start --prefix /tmp/x",
    "pnpm --dir /tmp/x start",
    "yarn --cwd /tmp/x mcp",
    "bun --cwd /tmp/x run mcp",
    "deno task --cwd /tmp/x start",
    "make -f /tmp/Makefile",
    "make -C ${TMPDIR}/x",
    "just -d /tmp/x mcp",
    "task -t /tmp/Taskfile.yml",
    "cargo run --manifest-path /tmp/x/Cargo.toml",
    "poetry --directory /tmp/x run mcp",
    "uv run --project /tmp/x server.py",
    "uv sync --project /tmp/x",
    "psql -f /tmp/x.sql postgres",
    "sqlite3 -init /tmp/x.sql :memory:",
    "gradle -p /tmp/x run",
    "mvn -f /tmp/x/pom.xml exec:java",
    "ansible-playbook /tmp/x.yml",
    "terraform -chdir=/tmp/x apply",
    "kubectl apply -f /tmp/x.yml",
    "nix run path:/tmp/x",
    "npx --prefix /tmp/x server",
    "npx -y nx --cwd /tmp/x serve",
    "mise -C /tmp/x run mcp",
    "pm2 start /tmp/ecosystem.config.js",
    "npm --prefix ../../../../tmp/x start",
    "sh -c 'make -C ~/../../tmp/x'",
    "sh -c 'cd /tmp/x && npm start'",
    "env -C /tmp/x npm start",
    "sudo -D /tmp/x make",
    "systemd-run --working-directory=/tmp/x make",
    "make -C /run/lock/x",
    "dpkg -i /srv/x.deb",
    "dpkg --force-all -i /srv/x.deb",
    "rpm -Uvh /srv/x.rpm",
    "apt-get install ./x.deb",
    "pacman -U /srv/x.pkg.tar.zst",
    "kubectl --kubeconfig /tmp/x get pods",
    "kubectl get pods --kubeconfig=/tmp/x",
    "npx -y kubernetes-mcp-server --kubeconfig=/tmp/x",
    "docker --config /dev/shm/d compose ps",
    "chroot /tmp/x server",
    "sh -c 'cd /tmp && chroot x docker run y'",
    "run-parts /tmp",
    "run-parts --regex=.* /tmp/d",
    "logrotate -f /tmp/x.conf",
    "sh -c 'cd /tmp && logrotate x.conf'",
    "java -cp /srv/x.jar:/tmp/lib Main",
    "perl -I/tmp /srv/x.pl",
    "ruby -I /tmp /srv/x.rb",
    "vim -u /tmp/x -es",
    "gdb -batch -x /tmp/x",
    "tmux -f /tmp/x new -d",
    "gpg --homedir /tmp/x --list-keys",
    "ansible all -i /tmp/x -m ping",
    "proot -r /tmp/x server",
    "gio launch /tmp/x.desktop",
    "git --git-dir=/tmp/x status",
]


@pytest.mark.parametrize(
    "line",
    [
        "x --cache-dir uvx --from /tmp/x y",
        "npx -y x --cache-dir uvx --from /tmp/x y",
        "uv run bash -c '\"$@\"' --cache-dir uvx --from /tmp/x y",
    ],
)
def test_what_stands_behind_a_folder_of_another_program_is_judged(line: str) -> None:
    """Whatever does not know the option may run it."""
    assert _judged(line) is Verdict.BLOCK


@pytest.mark.parametrize("line", REFUSED)
def test_a_project_that_everybody_may_write_is_not_run(line: str) -> None:
    """However the tool is told where it lies."""
    assert _judged(line) is Verdict.BLOCK


@pytest.mark.parametrize(
    "line", ["make", "npm start", "cargo run", "uv run server.py", "docker compose up", "just"]
)
def test_where_a_tool_begins_is_its_project(line: str) -> None:
    """The directory of an entry counts as an option does."""
    assert _judged(line, cwd="/tmp/x") is Verdict.BLOCK


@pytest.mark.parametrize(
    "name", ["COMPOSE_FILE", "UV_PROJECT", "JUST_JUSTFILE", "VAGRANT_CWD", "GOWORK", "MISE_CONFIG_FILE"]
)
def test_variables_that_name_a_project_count_as_options_do(name: str) -> None:
    """A tool takes its project from the environment, too."""
    assert _judged("x", **{name: "/tmp/x/y"}) is Verdict.BLOCK


WARNED = [
    "deno run -A /tmp/x.ts",
    "go run /tmp/x.go",
    "fastmcp run /tmp/x.py",
    "uvx fastmcp run /tmp/x.py",
    "npx tsx /tmp/x.ts",
    "java -jar /tmp/x.jar",
    "tcc -run /tmp/x.c",
    "python3 -c \"exec(open('/tmp/x').read())\"",
    "perl -e 'do \"/tmp/x.pl\"'",
    "python -I /tmp",
    "node /var/tmp/",
]


@pytest.mark.parametrize("line", WARNED)
def test_a_script_that_everybody_may_write_is_told(line: str) -> None:
    """People try things there; it is worth a look."""
    assert _judged(line) is Verdict.WARN


SPARED = [
    "npm --silent --prefix /opt/x run mcp",
    "npm run mcp -- --root /tmp/x",
    "npx -y @modelcontextprotocol/server-filesystem /tmp/x",
    "uv run server.py --directory /tmp/sandbox",
    "uv run --cache-dir /tmp/uv server.py",
    "uv --directory /home/u/mcp run server --data /tmp/d",
    "uvx mcp-server-git -r /tmp/x",
    "docker run -i --rm -v /tmp/x:/data mcp/filesystem /data",
    "docker compose -f /srv/mcp/compose.yml run --rm mcp",
    "cargo run --release --target-dir /tmp/target",
    "cargo run --manifest-path /home/u/x/Cargo.toml -- --root /tmp/x",
    "go build -o /tmp/x ./cmd",
    "deno run --allow-read=/tmp jsr:@example/server",
    "deno run -A server.ts /tmp/x",
    "npx -y @playwright/mcp --user-data-dir /tmp/p",
    "pytest --basetemp=/tmp/pt tests",
    "mvn -q exec:java -Dexec.args=/tmp/x",
    "npx -y nx-mcp@latest /tmp/x",
    "sh -c 'cd /tmp && npx -y server'",
    "gunicorn -b unix:/tmp/g.sock app:app",
    "direnv exec /home/u/x npx -y server",
    "bash -lc 'apt-get update && apt-get install -y jq; exec node server.js'",
    "rpm -qa",
    "dpkg -l",
    "apk add --no-cache nodejs",
    "flatpak run org.example.Mcp",
    "python -m tool /tmp/x",
    "tcc -o /tmp/x /srv/x.c",
    "python3 -c \"import json;print(json.load(open('/tmp/x.json')))\"",
    "psql -f /srv/x.sql -o /tmp/out postgres",
    "kubectl --kubeconfig /home/u/.kube/config exec -i pod/x -- server",
    "chroot /srv/root /usr/bin/server",
    "logrotate -s /tmp/state /etc/logrotate.conf",
    "apptainer exec --bind /tmp:/tmp /srv/x.sif server",
    "bwrap --ro-bind / / --tmpfs /tmp node /srv/index.js",
    "git -C /tmp/repo log",
    "java -Djava.io.tmpdir=/tmp -cp /srv/x.jar Main",
    "sh -c 'cd /tmp && cd /srv/mcp && ./run.sh'",
    "python3 -c \"open('/tmp/started','w').write('x'); import acme; acme.main()\"",
    "node -e \"require('fs').writeFileSync('/tmp/ready','1'); require('/srv/mcp')\"",
]


@pytest.mark.parametrize("line", SPARED)
def test_the_same_tools_are_left_alone(line: str) -> None:
    """Caches, outputs and what they pass on may well lie there."""
    assert _judged(line) is Verdict.ALLOW


def test_a_package_runner_may_begin_anywhere() -> None:
    """It has no project; what it is told to use elsewhere is elsewhere."""
    assert _judged("npx -y example-server", cwd="/tmp") is Verdict.ALLOW
    assert _judged("docker run -i --rm mcp/time", cwd="/tmp") is Verdict.ALLOW
    assert _judged("env bin/server", cwd="/tmp") is Verdict.BLOCK
    assert _judged("sh -c 'docker pull mcp/time; bin/server'", cwd="/tmp") is Verdict.BLOCK
    assert _judged("sh -c 'docker run x bin/s; bin/s'", cwd="/tmp") is Verdict.BLOCK
    assert _judged("sh -c 'docker run x bin/s'", cwd="/tmp") is Verdict.ALLOW
    assert _judged("sh -c 'cd /tmp; (cd /srv); bin/s'") is Verdict.BLOCK
    assert _judged("sh -c 'cd /srv; bin/s'") is Verdict.ALLOW
    assert _judged("sh -c 'cd /srv && bin/s'", cwd="/tmp") is Verdict.ALLOW
    assert _judged("sh -c 'cd /srv; bin/s'", cwd="/tmp") is Verdict.BLOCK
    assert _judged("sh -c 'cd /srv || bin/s'", cwd="/tmp") is Verdict.BLOCK
    assert _judged("sh -c 'cd() { pushd /nowhere; }; cd /srv && bin/s'", cwd="/tmp") is Verdict.BLOCK
    assert _judged("sh -c 'cd /tmp && cd \"$NONE\" && bin/s'") is Verdict.BLOCK
    assert _judged("sudo -u docker -n poetry run bin/s", cwd="/tmp") is Verdict.BLOCK
    assert _judged("sh -c 'exec npx -y example-server'", cwd="/tmp") is Verdict.ALLOW
    assert _judged("uv --directory /srv/x run server", cwd="/tmp") is Verdict.ALLOW


@pytest.mark.parametrize(
    "script", ["cd /proc/self/cwd && ./run", "cd ~+ && ./run", "cd /srv && cd ../proc/self/cwd && ./run"]
)
def test_a_change_to_where_one_is_leads_nowhere_else(script: str) -> None:
    """The program lies where the agent starts, which everybody may write."""
    entry = Entry("server", {"command": "bash", "args": ["-c", script], "cwd": "/tmp"}, "")
    assert verdict(entry_judge().judge_entry(entry)) is Verdict.BLOCK
