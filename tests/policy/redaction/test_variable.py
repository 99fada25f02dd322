"""Variables that make one value together."""

from herma.policy.redaction import variable
from herma.policy.redaction.variable import joined_variables, may_join_variables
from herma.policy.redaction.view import View
from herma.policy.redaction.work import Work
from support.redactor import GITHUB, masked

A, B = GITHUB[:14], GITHUB[14:]


def test_two_halves_in_two_variables_are_one_secret() -> None:
    """Both assignments lose their value, in whatever order they stand; the use stays."""
    for text in (
        f'A={A}; B={B}; curl -H "Authorization: Bearer $A$B" h',
        f"b='{B}'\na='{A}'\nexport T=\"${{a}}${{b}}\"",
    ):
        out = masked(text)
        assert A not in out
        assert B not in out
        assert text[-4:] == out[-4:]


def test_variables_that_the_text_does_not_set_join_nothing() -> None:
    """Neither does a text without two of them side by side."""
    assert joined_variables(View("A=x; echo $HOME$USER")) is None
    assert joined_variables(View("echo $A")) is None
    assert not may_join_variables("A=x")


def test_what_is_joined_is_bounded() -> None:
    """A program that sets and uses variables without end is read at its beginning; spent work ends the reading."""
    many = "".join(f"a{number}=xx\n" for number in range(variable.MAX_ASSIGNMENTS + 9))
    last = variable.MAX_ASSIGNMENTS + 8
    assert joined_variables(View(f"{many}echo $a{last}$a{last}")) is None
    spent = Work(0)
    spent.left = 0
    assert joined_variables(View("a=x1\nb=x2\n$a$b"), spent) is None


def test_uses_that_are_not_read_for_want_of_work_are_masked() -> None:
    """From the line of the first of them; the ones before it are read, however many there are."""
    text = "a=xx\n" + "echo $a$a\n" * 100 + "echo $b$b\n"
    read = joined_variables(View(text))
    assert read is not None
    assert read.text.count("xxxx") == 100
    view = View(text)
    some = joined_variables(view, Work(0, base=20))
    assert some is not None
    (hit,) = view.unseen
    assert some.text.count("xxxx") * len("echo $a$a\n") + len("a=xx\n") == hit.start
    assert hit.end == len(text)


def test_a_variable_that_is_used_where_a_secret_stands_holds_one() -> None:
    """One is enough, and its name may tell nothing."""
    out = masked(f"X={A}{B[:9]}; mysql -u root -p$X shop")
    assert A not in out
    assert out.endswith("-p$X shop")


def test_variables_that_hold_what_was_written_are_no_secret() -> None:
    """Paths and names, used or not; a text with very many assignments is read as far as its bound."""
    assert not may_join_variables("DIR=/srv/app/releases; cd $DIR")
    assert not may_join_variables(f"X={A}; echo $HOME")
    many = "".join(f"V{number}=app; " for number in range(variable.MAX_ASSIGNMENTS + 1))
    assert may_join_variables(f"{many}cd $V{variable.MAX_ASSIGNMENTS}")
    assert masked(f"{many}cd $HOME") == f"{many}cd $HOME"


def test_a_text_that_assigns_what_it_does_not_use_is_told_at_once() -> None:
    """Few names that are used are looked for one by one; where there are many, the assignments are read."""
    drawn = f"X={A}{B}"
    used = " ".join(f"$y{number}" for number in range(variable.MAX_ASKED_USES + 1))
    assert not may_join_variables(f"{drawn}; echo $y ${{z}}")
    assert not may_join_variables(f"{drawn}; echo {used}")
    assert may_join_variables(f"{drawn}; echo {used} $X")
    assert may_join_variables(f"{drawn}; echo ${{X}}")
