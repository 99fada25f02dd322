"""Claims about `herma.policy.prompt.means`."""

import pytest

from herma.policy.prompt.means import is_means


@pytest.mark.parametrize(
    ("text", "verb", "means"),
    [
        ("check if mail works by mailing it", "by mailing", True),
        ("tell me whether it answers when you post it", "post", True),
        ("alert me if somebody leaks it by mailing it", "by mailing", False),
        ("check whether users upload it", "upload", False),
    ],
)
def test_what_the_agent_does_to_find_out_is_an_order(text: str, verb: str, means: bool) -> None:
    """Only where nobody else is the one who does it."""
    assert is_means(text, 0, text.index(verb)) is means
