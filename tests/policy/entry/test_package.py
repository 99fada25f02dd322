"""Claims about `herma.policy.entry.package`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.entry.package import Package, packages, sources, version_matches

FOUND = {
    "npx": ("npx -y Example-Server@1.0.16", [Package("npm", "example-server", "1.0.16")]),
    "a scope": ("bunx @example/cli@2026.4.0", [Package("npm", "@example/cli", "2026.4.0")]),
    "an alias": ("npx -y memory@npm:bad-package@1.0.16", [Package("npm", "bad-package", "1.0.16")]),
    "a package option": (
        "npm exec --yes --package=bad@4.2.1 -- node server.js",
        [Package("npm", "bad", "4.2.1"), Package("npm", "node")],
    ),
    "a package option with a blank": ("npx -p bad good", [Package("npm", "bad"), Package("npm", "good")]),
    "an option with another value": ("npx --registry https://r.example good", [Package("npm", "good")]),
    "another option with its value": ("npx --registry=https://r.example good", [Package("npm", "good")]),
    "uvx from": (
        "uvx --from litellm==1.82.8 litellm",
        [Package("pypi", "litellm", "1.82.8"), Package("pypi", "litellm")],
    ),
    "normal names": ("pip install Some_Package.Name", [Package("pypi", "some-package-name")]),
    "extras": (
        "uv run --with lightning[all]==2.6.3 x",
        [Package("pypi", "lightning", "2.6.3"), Package("pypi", "x")],
    ),
    "several": ("npm install a b c", [Package("npm", "a"), Package("npm", "b"), Package("npm", "c")]),
    "a crate": ("cargo install --root /srv x-helper@1.2.0", [Package("crates", "x-helper", "1.2.0")]),
    "a module": ("go run example.com/x/y@v1.2.0", [Package("go", "example.com/x/y", "1.2.0")]),
    "an extension": ("code --install-extension a.b", [Package("vscode", "a.b")]),
    "an address": ("uvx git+https://example.com/x", []),
    "prose": ("ask for the package axios", []),
    "an option before the order": ("npm --yes exec bad@1.0", [Package("npm", "bad", "1.0")]),
    "an option with a value before the order": ("uv --directory /srv run bad", [Package("pypi", "bad")]),
    "a runner without an order": ("npm --version", []),
    "another order": ("npm ls bad", []),
    "another program of the runner": (
        "pnpx bad@1.0; nlx b",
        [Package("npm", "bad", "1.0"), Package("npm", "b")],
    ),
    "the runner's own file": ("node /usr/lib/npm/bin/npx-cli.js -y bad", [Package("npm", "bad")]),
    "a runner of addresses": ("deno run -A npm:bad@1.0", [Package("npm", "bad", "1.0")]),
    "its own modules": ("deno run -A main.ts", []),
    "two commands": ("npm install a; npm install b", [Package("npm", "a"), Package("npm", "b")]),
    "two runners in one command": ("npx a uvx b", [Package("npm", "a"), Package("pypi", "b")]),
    "a program that is created": (
        "npm create @a/b@1.0",
        [Package("npm", "@a/b", "1.0"), Package("npm", "@a/create-b", "1.0")],
    ),
    "a list": (
        "uv run --with mcp[cli,ws],bad==1.0,c>=1,<2 x",
        [Package("pypi", "mcp"), Package("pypi", "bad", "1.0"), Package("pypi", "x")],
    ),
    "an alias of an alias": ("npx npm:a@npm:bad@1.0", [Package("npm", "bad", "1.0")]),
    "an option that nobody knows": (
        "npx --loglevel error bad",
        [Package("npm", "error"), Package("npm", "bad")],
    ),
    "only options": ("npx --yes", []),
}


@pytest.mark.parametrize(("line", "found"), FOUND.values(), ids=FOUND.keys())
def test_packages_stand_behind_runners(line: str, found: list[Package]) -> None:
    """Name, ecosystem and version are read from a command line; words in prose are none."""
    assert list(packages(line)) == found


def test_a_package_is_found_however_much_stands_before_it() -> None:
    """Neither options nor other packages hide the last one."""
    assert Package("npm", "bad", "1.0") in packages("npm install " + "a " * 500 + "bad@1.0")
    assert Package("npm", "bad", "1.0") in packages("npx " + "--no-audit " * 500 + "bad@1.0")


ADDRESS = "https://x.example/y"
FROM = {
    "an address": (f"npx {ADDRESS}", {ADDRESS}),
    "an address under another name": (f"npx a@{ADDRESS}", {ADDRESS}),
    "a repository under another name": (f"uvx --from a[b]@git+{ADDRESS} c", {f"git+{ADDRESS}"}),
    "a file under another name": ("npx a@file:/tmp/x", {"file:/tmp/x"}),
    "a name and an address": (f"pip install 'a @ {ADDRESS}'", {ADDRESS}),
    "a name alone": ("npx a@1.0", set()),
    "an index": (f"npx --registry {ADDRESS} a", {f"registry+{ADDRESS}"}),
    "an index of pip behind pipx": (f"pipx run --pip-args=--index-url={ADDRESS} a", {f"registry+{ADDRESS}"}),
    "an index without an address": ("uvx a --index", {"registry+"}),
    "a list": (f"pip install -r {ADDRESS}", {ADDRESS}),
    "a list, joined": (f"uvx --overrides={ADDRESS} a", {ADDRESS}),
    "a list without an address": ("pip install -r", {""}),
    "limits of pip": (f"pip install -c {ADDRESS} a", {ADDRESS}),
    "a command of another runner": (f"npx -c {ADDRESS} a", set()),
    "an option of the program": (f"uvx a --overrides {ADDRESS}", set()),
    "two commands": (f"npx a; npx b --registry {ADDRESS}", {f"registry+{ADDRESS}"}),
}  # fmt: skip


@pytest.mark.parametrize(("line", "found"), FROM.values(), ids=FROM.keys())
def test_where_a_package_comes_from_is_what_counts(line: str, found: set[str]) -> None:
    """Not what it is called; addresses, lists and indexes, and what stands behind the program is its own."""
    assert set(sources(line)) == found


VERSIONS = {
    "every version": ("1.0", (), True),
    "a star": ("", ("*",), True),
    "none asked for": ("", ("1.0",), False),
    "exact": ("1.0.16", ("1.0.15", "1.0.16"), True),
    "another": ("1.0.17", ("1.0.16",), False),
    "a caret": ("^1.0.16", ("1.0.16",), True),
    "inside a range": ("0.1.14", (">=0.0.5,<0.1.16",), True),
    "above a range": ("0.1.16", (">=0.0.5,<0.1.16",), False),
    "below a range": ("0.0.4", (">=0.0.5,<0.1.16",), False),
    "at most": ("1.4.12", ("<=1.4.12",), True),
    "more than": ("1.4.13", (">1.4.12",), True),
    "not more than": ("1.4.12", (">1.4.12",), False),
    "an open part": ("1.0.x", ("1.0.16",), True),
    "another open part": ("2.0.*", ("1.0.16",), False),
    "a lower bound": (">=1.0.16", ("1.0.16",), True),
    "a tag": ("latest", ("<2.0",), False),
    "an odd version": ("1.1.5post1", ("1.1.5post1",), True),
    "no range": ("next", ("next",), True),
}


@pytest.mark.parametrize(("version", "wanted", "matches"), VERSIONS.values(), ids=VERSIONS.keys())
def test_a_version_is_compared_with_lists_and_ranges(
    version: str, wanted: tuple[str, ...], matches: bool
) -> None:
    """Exact versions, stars and ranges decide; a tag or no version is none of them."""
    assert version_matches(version, wanted) is matches


@given(st.text(max_size=100), st.lists(st.text(max_size=20), max_size=3))
def test_any_text_is_searched_and_compared(text: str, wanted: list[str]) -> None:
    """No text makes the search or the comparison fail."""
    assert all(package.name for package in packages("npx " + text))
    assert version_matches(text, tuple(wanted)) in {True, False}
