"""Archives that are unpacked over the agent's home: read as the upstream's reader does, or refused."""

import io
import struct
import zipfile
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.message import archive
from herma.policy.message.archive import MAX_UNPACKED_BYTES, ArchiveError, restored

NAME = "config.yaml"


def packed(*files: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w", method) as made:
        for name, content in files:
            made.writestr(name, content)
    return into.getvalue()


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_what_something_is_started_from_is_given_with_its_place(method: int) -> None:
    """However it is packed; pictures, databases and chats are not."""
    names = [
        "config.yaml",
        "profiles/a/config.yml",
        ".env",
        "profiles/a/.env.local",
        "x.env",
        "hooks/a/run.sh",
    ]
    others = [
        "state.db",
        "sessions/1.json",
        "skills/x/run.sh",
        "logs/agent.log",
        "config.yaml/",
        "hooks/x.png",
    ]
    raw = packed(*((name, b"text") for name in names), *((name, b"text") for name in others), method=method)
    assert restored(raw) == [{"path": f"~/.hermes/{name}", "content": "text"} for name in names]
    assert restored(packed()) == []


def test_what_leaves_the_home_is_given_by_its_place() -> None:
    """Whatever it is; and with its text if something is started from it."""
    raw = packed(
        ("_external/.ssh/authorized_keys", b"key"), ("_external/.honcho/.env", b"A=b"), ("x/_external/y", b"")
    )
    assert restored(raw) == [
        {"path": "~/.ssh/authorized_keys"},
        {"path": "~/.honcho/.env"},
        {"path": "~/.hermes/_external/.honcho/.env", "content": "A=b"},
    ]


@given(st.lists(st.tuples(st.sampled_from(["a.yaml", "b/.env", "c.yml"]), st.text(max_size=200)), max_size=5))
def test_every_text_that_python_would_unpack_is_there(files: list[tuple[str, str]]) -> None:
    """The upstream reads archives with the standard library."""
    told = {name: text for name, text in files}
    raw = packed(*((name, text.encode()) for name, text in told.items()))
    assert {one["path"]: one["content"] for one in restored(raw)} == {
        f"~/.hermes/{name}": text for name, text in told.items()
    }


def test_names_are_read_in_the_two_ways_that_there_are() -> None:
    """UTF-8 where the member says so, and the old one else; bytes that are no text are nothing to start from."""
    assert restored(packed(("ä.yaml", b"x")))[0]["path"] == "~/.hermes/ä.yaml"
    raw = packed(("a.yaml", b"x")).replace(b"a.yaml", b"\x84.yaml")
    assert restored(raw)[0]["path"] == "~/.hermes/ä.yaml"
    assert restored(packed((NAME, b"\xff\xfeb\0"))) == []


def changed(at: int, code: str, value: int, *, central: bool = True) -> Callable[[], bytes]:
    """Return an archive whose one member, or the end behind it, tells something else at a place."""

    def made() -> bytes:
        raw = bytearray(packed((NAME, b"x" * 100)))
        struct.pack_into(
            code, raw, (raw.index(b"PK\x01\x02") if central else raw.index(b"PK\x05\x06")) + at, value
        )
        return bytes(raw)

    return made


def with_extra(field: bytes) -> bytes:
    member = zipfile.ZipInfo(NAME)
    member.extra = field
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w") as made:
        made.writestr(member, b"x")
    return into.getvalue()


REFUSED: dict[str, Callable[[], bytes]] = {
    "nothing": lambda: b"",
    "no archive": lambda: b"x" * 100,
    "something behind it": lambda: packed((NAME, b"x")) + b"x",
    "something before it": lambda: b"x" + packed((NAME, b"x")),
    "a comment": changed(20, "<H", 1, central=False),
    "on another disk": changed(4, "<H", 1, central=False),
    "more members than there are": lambda: packed((NAME, b"x")).replace(
        struct.pack("<2H", 1, 1), struct.pack("<2H", 2, 2)
    ),
    "fewer members than there are": lambda: packed((NAME, b"x"), ("y", b"")).replace(
        struct.pack("<2H", 2, 2), struct.pack("<2H", 1, 1)
    ),
    "no entry": changed(0, "<L", 0),
    "a password": changed(8, "<H", 1),
    "another packing": changed(10, "<H", 12),
    "another size": changed(24, "<L", 99),
    "more than there is": changed(20, "<L", 5000),
    "a size that stands elsewhere": changed(24, "<L", 0xFFFFFFFF),
    "a member that is not there": changed(42, "<L", 5000),
    "no member at its place": changed(42, "<L", 1),
    "another name": lambda: packed((NAME, b"x")).replace(NAME.encode(), b"readme.text", 1),
    "a name that goes on": lambda: packed(("a\tb.yaml", b"x")),
    "a name in no language": lambda: packed(("ä.yaml", b"x")).replace("ä".encode(), b"\xff\xff"),
    "a name of its own": lambda: with_extra(struct.pack("<HHx", 0x7075, 1)),
    "a large size": lambda: with_extra(struct.pack("<HHHH8x", 0x9999, 0, 0x0001, 8)),
    "no packing": lambda: packed((NAME, b"x" * 100)).replace(packed((NAME, b"x" * 100))[41:44], b"\xff\xff\xff"),
    "a stored member of two sizes": lambda: packed((NAME, b"xyz"), method=0).replace(
        struct.pack("<2L", 3, 3), struct.pack("<2L", 3, 2)
    ),
}  # fmt: skip


@pytest.mark.parametrize("make", REFUSED.values(), ids=REFUSED.keys())
def test_what_two_readers_would_read_differently_is_refused(make: Callable[[], bytes]) -> None:
    """A lenient reader finds something else in it, or nothing."""
    with pytest.raises(ArchiveError) as caught:
        restored(make())
    assert not caught.value.too_large


def test_more_than_can_be_judged_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """By what it would unpack to, which costs nothing to know, and by its members."""
    with pytest.raises(ArchiveError) as caught:
        restored(packed(*((f"{at}.yaml", b"x" * (MAX_UNPACKED_BYTES // 2)) for at in range(3))))
    assert caught.value.too_large
    assert len(restored(packed(*((f"{at}.yaml", b"x" * (MAX_UNPACKED_BYTES // 2)) for at in range(2))))) == 2
    assert restored(packed(("state.db", b"x" * 2 * MAX_UNPACKED_BYTES))) == []
    monkeypatch.setattr(archive, "MAX_MEMBERS", 2)
    with pytest.raises(ArchiveError) as caught:
        restored(packed(("a", b""), ("b", b""), ("c", b"")))
    assert caught.value.too_large
