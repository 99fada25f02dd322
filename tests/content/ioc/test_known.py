"""Claims about `herma.content.ioc.known`."""

import pytest

from herma.content.ioc.known import is_local, is_popular


@pytest.mark.parametrize(
    "name", ["github.com", "api.github.com", "www.google.com", "github.io", "raw.githubusercontent.com"]
)
def test_what_everybody_uses_is_known(name: str) -> None:
    """Code hosts, clouds, and the hosts of each."""
    assert is_popular(name)


@pytest.mark.parametrize("name", ["evil.github.io", "a.b.github.com", "notgithub.com", "evil.example"])
def test_what_is_somebodys_own_is_not(name: str) -> None:
    """A page on a hosting service is as good as any other host."""
    assert not is_popular(name)


def test_local_names_are_known() -> None:
    """They mean another machine to everybody."""
    assert is_local("localhost")
    assert is_local("printer.lan")
    assert not is_local("lan.example")
