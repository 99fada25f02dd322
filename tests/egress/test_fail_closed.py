"""Hooks that shut when they fail."""

import asyncio
import os
from collections.abc import Generator

import pytest

from herma.egress.fail_closed import MARK, fail_closed, fail_closed_layer

STUCK = -9


class Hooks:
    """Two hooks that fail for a negative number."""

    def __init__(self) -> None:
        self.shut: list[int] = []
        self.told: list[tuple[str, str]] = []

    def failed(self, hook: str, error: Exception) -> None:
        """Note it."""
        self.told.append((hook, type(error).__name__))

    def close(self, number: int) -> None:
        """Shut, or fail at that."""
        if number == STUCK:
            raise OSError(number)
        self.shut.append(number)

    @fail_closed(close)
    def plain(self, number: int) -> None:
        """Fail, or not."""
        if number < 0:
            raise ValueError(number)

    @fail_closed(close)
    async def waiting(self, number: int) -> None:
        """Fail, or not."""
        await asyncio.sleep(0)
        if number < 0:
            raise OSError(number)


def test_a_hook_that_raises_shuts_and_is_told() -> None:
    """By the kind of its error, whose text may repeat what was sent."""
    hooks = Hooks()
    hooks.plain(1)
    asyncio.run(hooks.waiting(2))
    assert (hooks.shut, hooks.told) == ([], [])
    hooks.plain(-1)
    asyncio.run(hooks.waiting(-2))
    assert hooks.shut == [-1, -2]
    assert hooks.told == [("plain", "ValueError"), ("waiting", "OSError")]


def test_a_guarded_hook_wears_the_mark() -> None:
    """And keeps its name, by which it is found."""
    assert getattr(Hooks.plain, MARK)
    assert getattr(Hooks.waiting, MARK)
    assert Hooks.plain.__name__ == "plain"


def test_a_hook_that_is_cancelled_shuts() -> None:
    """And stays cancelled."""
    hooks = Hooks()

    async def cancelled() -> None:
        async with asyncio.timeout(0):
            await hooks.waiting(3)

    with pytest.raises(TimeoutError):
        asyncio.run(cancelled())
    assert hooks.shut == [3]


def test_a_layer_that_raises_shuts() -> None:
    """After what it wanted done before."""

    def layer(*, broken: bool) -> Generator[str, None, None]:
        yield "send"
        if broken:
            raise ValueError

    def shut(error: Exception) -> Generator[str, None, None]:
        yield type(error).__name__

    assert list(fail_closed_layer(layer(broken=True), shut)) == ["send", "ValueError"]
    assert list(fail_closed_layer(layer(broken=False), shut)) == ["send"]


def test_who_cannot_even_shut_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gate that is down lets nothing out; an error that is raised on would."""

    class EndedError(BaseException):
        """The process ended."""

    def end(code: int) -> None:
        raise EndedError(code)

    monkeypatch.setattr(os, "_exit", end)
    for call in (lambda: Hooks().plain(STUCK), lambda: asyncio.run(Hooks().waiting(STUCK))):
        with pytest.raises(EndedError, match="70"):
            call()
