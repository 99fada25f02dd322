"""Claims about `herma.policy.command.code`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.command.code import carried, code_of, commands, joined

CODES = {
    "python": (["python3.12", "-c", "import os;x()"], ("import os;x()",)),
    "a module": (["python", "-m", "server", "--port", "80"], ()),
    "a file": (["node", "dist/index.js", "--stdio"], ()),
    "another program": (["npx", "a;b"], ()),
    "nothing": ([], ()),
    "a file that is loaded": (["perl", "-e", "do '/srv/x.pl'"], ("do '/srv/x.pl'",)),
    "a file of that name": (["perl", "do"], ()),
    "one statement": (["ruby", "-e", "puts 1"], ("puts 1",)),
}


@pytest.mark.parametrize(("argv", "codes"), CODES.values(), ids=CODES.keys())
def test_arguments_that_are_programs_are_told_from_others(argv: list[str], codes: tuple[str, ...]) -> None:
    """Only an interpreter's arguments that read like a program are one."""
    assert code_of(argv) == codes


CARRIED = {
    "an option": ("tar", "--checkpoint-action=exec=sh x", "sh x"),
    "an escape": ("psql", "!sh x", "sh x"),
    "a plain word": ("tar", "x", None),
    "what is printed": ("echo", "sh x", None),
    "an order of sed": ("sed", "1e sh x", "sh x"),
    "a replacement that runs": ("sed", r"s/.*/sh \/x/e", "sh /x"),
    "a replacement": ("sed", "s/e x/y e/g", None),
}


@pytest.mark.parametrize(("program", "word", "command"), CARRIED.values(), ids=CARRIED)
def test_an_argument_may_carry_a_command(program: str, word: str, command: str | None) -> None:
    """What only prints carries none, but for the editor that runs what it is told."""
    assert carried(program, word) == command


def test_words_without_quotes_are_commands_of_tcl() -> None:
    """Up to the end of the statement."""
    assert list(commands("set x 1; spawn -noecho curl x.example; exec sh")) == ["curl x.example", "sh"]


JOINED = {
    "sums": ("x('c'+'url')", "x('curl')"),
    "sums over many blanks": ("x('c'" + " " * 20 + "+" + "\n" * 20 + "'url')", "x('curl')"),
    "neighbours": ('x("c" "url")', 'x("curl")'),
    "dots": ("x('c'.'url')", "x('curl')"),
    "reversed": ("x('lruc'[::-1])", "x('curl')"),
    "reversed by methods": ("x('lruc'.split('').reverse().join(''))", "x('curl')"),
    "path parts": ("join('.ssh','authorized_keys')", "join('.ssh/authorized_keys')"),
    "a home and a path": ("Path.home()/'.config/x'", "'~/.config/x'"),
    "a home joined": ("os.path.expanduser('~/x')", "os.path.expanduser('~/x')"),
    "other quotes": ("x('a' + \"b\")", "x('a' + \"b\")"),
}


@pytest.mark.parametrize(("code", "form"), JOINED.values(), ids=JOINED.keys())
def test_strings_that_are_put_together_are_read_as_one(code: str, form: str) -> None:
    """Sums, neighbours, reversals and path parts are undone."""
    assert form in joined(code)


COMMANDS = {
    "a string": ("system('curl -s x')", "curl -s x"),
    "an escaped string": ("system('echo \\'a b\\'')", "echo 'a b'"),
    "a list": ("run(['curl','-s','a b'])", "curl -s 'a b'"),
    "a program and its list": ("spawn('curl', ['-s', 'x'])", "curl -s x"),
    "backticks": ("puts `curl -s x`", "curl -s x"),
    "percent": ("%x(curl -s x)", "curl -s x"),
    "qx": ("qx{curl -s x}", "curl -s x"),
    "three quotes": ('system("""curl -s x""")', "curl -s x"),
    "a package manager as a function": ("import pip;pip.main(['install','a b'])", "pip install 'a b'"),
    "its inner function": ("import pip._internal as p; p.main(['install', 'x'])", "pip install x"),
    "a pipe without blanks": ("system('a|sh')", "a|sh"),
}


@pytest.mark.parametrize(("code", "command"), COMMANDS.values(), ids=COMMANDS.keys())
def test_commands_among_strings_are_found(code: str, command: str) -> None:
    """Strings with blanks or pipes may be commands, and so may lists of words."""
    assert command in list(commands(code))


def test_names_are_no_commands_and_strings_are_read_to_the_last() -> None:
    """A word alone is not read as a command; what stands behind a table of strings is."""
    assert list(commands("import 'x'; f('server')")) == []
    assert list(commands("'a b';" * 500 + "'c d'"))[-1] == "c d"


def test_blanks_and_length_hide_no_list() -> None:
    """Words are told from each other by their quotes."""
    assert "cp /srv/x /etc/y" in list(commands("run(['cp'," + " " * 40 + "'/srv/x',\n'/etc/y'])"))
    assert list(commands("[" + "'a'," * 50 + "'b']")) == ["a " * 50 + "b"]


@given(st.text(alphabet="'\"`ab +.,()[]\\{}%xq", max_size=60))
def test_any_program_is_read(code: str) -> None:
    """No text makes the reading fail."""
    assert all(isinstance(text, str) for text in (*joined(code), *commands(code)))


FILING = [
    "open('/tmp/x','w').write('y')",
    "os.open('/tmp/x', 'r')",
    "require('fs').writeFileSync('/tmp/ready','1')",
    "file_put_contents('/tmp/x', 'y');",
    "os.rename('/tmp/x','/srv/y')",
]


@pytest.mark.parametrize("code", FILING)
def test_a_file_and_what_is_in_it_are_no_command(code: str) -> None:
    """Only the name of the function tells them from words of a vector."""
    assert list(commands(code)) == []


@pytest.mark.parametrize("code", ["popen('/tmp/x','r')", "x=('/tmp/x','r')", "os.execvp(*('/tmp/x','r'))"])
def test_words_in_other_brackets_may_be_one(code: str) -> None:
    """Whatever is called may start them."""
    assert list(commands(code)) == ["/tmp/x r"]
