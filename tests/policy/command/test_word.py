"""Claims about `herma.policy.command.word`."""

import pytest

from herma.policy.command.shell import read_argv, read_script

WORDS = {
    "single quotes": ("x 'a $b'", ("x", "a $b")),
    "double quotes": ('b=c; x "a $b"', ("x", "a c")),
    "escapes in quotes": ('x "a\\"b"', ("x", 'a"b')),
    "parts without names": ('b=c; x "$b-$b/d"', ("x", "c-c/d")),
    "a substitution that is not known": ("x $(date)", ("x", "$(date)")),
    "a process substitution": ("x <(date)", ("x", "<(date)")),
    "an unquoted expansion of words": ("b='c d'; x $b", ("x", "c", "d")),
    "a quoted expansion of words": ("b='c d'; x \"$b\"", ("x", "c d")),
    "braces": ("x a{b,c}", ("x", "ab", "ac")),
    "numbers": ("x 12", ("x", "12")),
}


@pytest.mark.parametrize(("script", "argv"), WORDS.values(), ids=WORDS.keys())
def test_words_are_resolved_as_a_shell_does(script: str, argv: tuple[str, ...]) -> None:
    """Quotes, parameters, substitutions and braces are worked out."""
    assert argv in {call.argv for call in read_script(script).calls}


def test_more_values_than_names_go_to_the_last_name() -> None:
    """`read` splits a line as the shell does; names without a value stay unset."""
    lines = read_script("read -r a b c <<< '1 2 3 4'; x $a; y $c; read d e <<< '1'; z $d $e").lines
    assert {"x 1", "y 3 4", "z 1 $e"} <= set(lines)


def test_each_script_has_its_own_parameters() -> None:
    """Those of the script around are there again behind it, also where a plain one sets or shifts its own."""
    script = "set -- a b; sh -c 'x $1' - c; y $1; eval 'set -- d e'; z $1; sh -c 'v; shift' - f; w $1"
    assert {"x c", "y a", "z a", "w a"} <= set(read_script(script).lines)


def test_a_plain_script_may_call_what_asks_for_a_parameter() -> None:
    """Functions and aliases that the script around it made."""
    lines = set(read_script("f() { x $2; }; sh -c 'f a' - b c; alias y='z'; sh -c 'y d' - e").lines)
    assert {"z d"} <= lines
    assert lines & {"x c", "x $2", "x"}


ARRAYS = {
    "an element": "a=(x curl); ${a[1]} /y",
    "the last one": "a=(x sh curl); ${a[-1]} /y",
    "an element that is added": "a=(x); a+=(curl); ${a[1]} /y",
    "an index that is a variable": "i=1; a=(x curl); ${a[$i]} /y",
    "an index that is named": "i=1; a=(x curl); ${a[i]} /y",
    "elements set one by one": "a[0]=cu; a[1]=rl; ${a[0]}${a[1]} /y",
    "keys": "declare -A m=([x]=curl [z]=sh); ${m[x]} /y",
    "keys in quotes": 'declare -A m; m["x"]=curl; ${m["x"]} /y',
    "all of them": "a=(curl /y); ${a[@]}",
    "an array that is read": "read -ra a <<< 'x curl'; ${a[1]} /y",
    "separators": "x=curl_/y; IFS=_; $x",
    "separators of one command": "IFS=_ read -ra a <<< x_curl; ${a[1]} /y",
    "separators that stay": "IFS=_; A=1 true; x=curl_/y; $x",
    "separators of one command only": "IFS=r read b <<< z; x='curl /y'; $x",
}


@pytest.mark.parametrize("script", ARRAYS.values(), ids=ARRAYS)
def test_arrays_and_separators_are_those_of_the_shell(script: str) -> None:
    """What a word stands for does not depend on where its letters are kept."""
    assert ("curl", "/y") in {call.argv for call in read_script(script).calls}


def test_separators_do_not_come_from_outside() -> None:
    """A shell takes them from no environment, and a script is no assignment."""
    calls = read_argv(["env", "IFS=u", "sh", "-c", "x='curl /y'; $x"]).calls
    assert ("curl", "/y") in {call.argv for call in calls}
