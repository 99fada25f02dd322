"""Claims about `herma.policy.command.chain`."""

import pytest

from herma.policy.command.shell import read_script

SURE = {
    "a change": ("cd /srv && x", "/srv/"),
    "a change of a home": ("cd ~/src && x", "~/src/"),
    "no name": ("cd && x", "~/"),
    "an option": ("cd -P /srv && x", "/srv/"),
    "a push": ("pushd /srv && x", "/srv/"),
    "a change and one from there": ("cd /srv && cd app && x", "/srv/app/"),
    "the last of several": ("cd /tmp && cd /srv && x", "/srv/"),
    "commands between": ("cd /srv && y && z && x", "/srv/"),
    "a change with a redirection": ("cd /srv >/dev/null && x", "/srv/"),
    "parentheses behind it": ("cd /srv && (y; x)", "/srv/"),
    "a change in parentheses": ("cd /tmp && (cd /srv && x)", "/srv/"),
    "another script behind it": ("cd /srv && sh -c x", "/srv/"),
}


@pytest.mark.parametrize(("script", "place"), SURE.values(), ids=SURE)
def test_what_runs_behind_a_change_runs_there(script: str, place: str) -> None:
    """`&&` goes on only if the change was made."""
    assert _place(script) == place


DOUBTFUL = {
    "no change": "x",
    "a change that may fail": "cd /srv; x",
    "a change that failed": "cd /srv || x",
    "a change that is given up": "cd /srv || true && x",
    "a list that may have ended": "cd /srv && y; x",
    "parentheses that end": "(cd /srv) && x",
    "a pipe": "cd /srv | y && x",
    "a denial": "! cd /srv && x",
    "what a variable says": 'cd "$P" && x',
    "where one was before": "cd /srv && cd - && x",
    "back": "cd /srv && popd && x",
    "from a place that is not known": "cd app && x",
    "behind another word": "cd /srv && builtin cd /tmp && x",
    "in a text": "cd /srv && eval 'cd /tmp' && x",
    "in a block": "cd /srv && { cd /tmp; true; } && x",
    "in a function": "f() { cd /tmp; }; cd /srv && f && x",
    "a function of that name": "cd() { pushd /nowhere; }; cd /srv && x",
    "an alias of that name": "alias cd='pushd /nowhere; true'; cd /srv && x",
    "a value beside it": "cd /srv && A=$(cd /tmp; y) && x",
    "in a container": "cd /srv && docker run i x",
    "words that no grammar places": "cd /srv && ) x",
    "where a process is": "cd /proc/self/cwd && x",
    "where a process is, by another path": "cd /srv/../proc/self/cwd && x",
    "where a process is, from there": "cd /srv && cd ../proc/self/cwd && x",
    "where the shell is": "cd ~+ && x",
    "where the shell was": "cd ~- && x",
    "a place that is looked for elsewhere first": "CDPATH=/tmp; cd /srv && cd app && x",
    "another home": "HOME=/tmp; cd && x",
    "a home of its own further on": "cd /srv && HOME=/tmp && cd && x",
}


@pytest.mark.parametrize("script", DOUBTFUL.values(), ids=DOUBTFUL)
def test_what_may_run_elsewhere_is_not_sure(script: str) -> None:
    """A change that may have failed, ended or led elsewhere says nothing."""
    assert _place(script) == ""


def _place(script: str) -> str:
    return next(call.after for call in read_script(script).calls if call.argv == ("x",))
