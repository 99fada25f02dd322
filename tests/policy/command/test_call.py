"""Claims about `herma.policy.command.call`."""

from herma.policy.command.call import Call


def test_a_call_is_written_on_one_line() -> None:
    """Files that are written come before those that are read, both behind the words."""
    assert Call(("x", "y"), writes=("/w",), reads=("/r",)).line == "x y > /w < /r"
    assert Call(("x",)).line == "x"
