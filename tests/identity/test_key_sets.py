"""The key sets of all issuers."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from herma.identity.jwks import KeySetError, read_key_set
from herma.identity.key_sets import FileKeys, KeySets, KeySource, RemoteKeys, reading
from support.tokens import key_set, signer
from support.wire_client import PATIENCE_S

ONE, TWO = FileKeys("/one"), RemoteKeys("https://idp.example.com/jwks")
SET = key_set(signer())


class Reader:
    """Hands out one set for every source, and notes which were asked for."""

    def __init__(self) -> None:
        self.asked: list[KeySource] = []

    def __call__(self, source: KeySource) -> Callable[[], Awaitable[bytes]]:
        async def read() -> bytes:
            self.asked.append(source)
            return SET

        return read


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not holds():
            await asyncio.sleep(0)


async def test_sets_are_read_while_they_are_wanted() -> None:
    """One that stays is not read again because of a reload; one that goes is forgotten."""
    reader, told = Reader(), list[tuple[KeySource, str]]()
    sets = KeySets(reader, lambda source, failure: told.append((source, failure)))
    assert sets.get(ONE) is None
    sets.adopt([ONE])
    kept = sets.get(ONE)
    await until(lambda: told == [(ONE, "")])
    sets.adopt([TWO, ONE, TWO])
    await until(lambda: told == [(ONE, ""), (TWO, "")])
    assert sets.get(ONE) is kept
    assert reader.asked == [ONE, TWO]
    sets.adopt([TWO])
    assert sets.get(ONE) is None
    await sets.close()
    assert sets.get(TWO) is None


def test_a_source_is_told_by_where_it_is() -> None:
    """As the operator wrote it."""
    assert (str(ONE), str(TWO)) == ("/one", "https://idp.example.com/jwks")


async def test_a_set_may_stand_in_a_file(tmp_path: Path) -> None:
    """One that others may not write."""
    file = tmp_path / "jwks.json"
    file.write_bytes(SET)
    file.chmod(0o644)
    read = reading(FileKeys(str(file)))
    assert read_key_set(await read())[0].kid == "key-1"
    file.chmod(0o666)
    with pytest.raises(KeySetError, match="other users may write"):
        await read()
    with pytest.raises(KeySetError, match="cannot be read"):
        await reading(FileKeys(str(tmp_path / "nothing")))()


async def test_a_set_that_cannot_be_fetched_is_told_as_such(tmp_path: Path) -> None:
    """Whether nobody answers, or the authorities to trust are missing or none."""
    with pytest.raises(KeySetError, match="no answer"):
        await reading(RemoteKeys("http://127.0.0.1:1/jwks"))()
    with pytest.raises(KeySetError, match="authorities"):
        await reading(RemoteKeys("https://127.0.0.1:1/jwks", str(tmp_path / "nothing.pem")))()
