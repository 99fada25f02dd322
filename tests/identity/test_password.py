"""Passwords are hashed and verified beside the event loop, a few at once."""

import asyncio
import threading

import pytest

from herma.identity import PasswordChecker, TooManyPasswords, hash_password
from herma.identity import password as module
from herma.policy.browser.password_hash import PasswordHash
from support.login import PASSWORDS, USERS

STORED = PasswordHash.parse(USERS[0]["password_hash"])
RIGHT = PASSWORDS["alice"].encode()


def test_a_password_is_stored_so_that_the_gate_takes_it_back() -> None:
    """Salted anew each time."""
    first, second = hash_password(RIGHT), hash_password(RIGHT)
    assert PasswordHash.parse(first.reveal()) == first
    assert first != second


async def test_only_the_password_is_right() -> None:
    """And what comes out of `hash_password` can be verified."""
    checker = PasswordChecker()
    assert await checker.verify(STORED, RIGHT)
    assert await checker.verify(hash_password(RIGHT), RIGHT)
    for wrong in (b"", RIGHT + b" ", RIGHT[:-1], RIGHT.upper(), b"x" * 4096):
        assert not await checker.verify(STORED, wrong)


class Slow:
    """Verifies when the test says so, and counts how many do at once."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.lock = threading.Lock()
        self.running = 0
        self.most = 0

    def __call__(self, stored: bytes, password: bytes) -> bool:
        with self.lock:
            self.running += 1
            self.most = max(self.most, self.running)
        self.go.wait(10)
        with self.lock:
            self.running -= 1
        return True


async def test_few_run_few_wait_and_the_rest_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop goes on meanwhile; afterwards there is room again."""
    slow = Slow()
    monkeypatch.setattr(module, "_verify", slow)
    checker = PasswordChecker(at_once=2, waiting=3)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(checker.verify(STORED, RIGHT)) for _ in range(5)]
        await asyncio.sleep(0)
        with pytest.raises(TooManyPasswords):
            await checker.verify(STORED, RIGHT)
        slow.go.set()
    assert [task.result() for task in tasks] == [True] * 5
    assert slow.most == 2
    assert await checker.verify(STORED, RIGHT)


async def test_who_leaves_while_waiting_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """And whoever leaves while being verified does so when the thread is done."""
    slow = Slow()
    monkeypatch.setattr(module, "_verify", slow)
    checker = PasswordChecker(at_once=1, waiting=1)
    loop = asyncio.get_running_loop()
    running = loop.create_task(checker.verify(STORED, RIGHT))
    waiting = loop.create_task(checker.verify(STORED, RIGHT))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    third = loop.create_task(checker.verify(STORED, RIGHT))
    await asyncio.sleep(0)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    with pytest.raises(TooManyPasswords):
        await checker.verify(STORED, RIGHT)
    slow.go.set()
    assert await third
