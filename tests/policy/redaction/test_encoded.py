"""Encoded runs."""

import base64
import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.redaction.encoded import MAX_CHARS, beginnings, encoded
from herma.policy.redaction.hit import Certainty, Hit
from herma.policy.redaction.work import Work
from support.redactor import GITHUB, masked

INSIDE = f"TOKEN={GITHUB}\n".encode()


@pytest.mark.parametrize(
    "run",
    [
        base64.b64encode(INSIDE),
        base64.urlsafe_b64encode(INSIDE).rstrip(b"="),
        INSIDE.hex().encode(),
        base64.b64encode(base64.b64encode(INSIDE)),
        base64.b64encode(gzip.compress(INSIDE, mtime=0)),
        base64.b64encode(zlib.compress(INSIDE)),
        gzip.compress(INSIDE, mtime=0).hex().encode(),
    ],
    ids=[
        "base64",
        "base64url without padding",
        "hex",
        "base64 twice",
        "gzip in base64",
        "zlib in base64",
        "gzip in hex",
    ],
)
def test_a_run_that_holds_a_secret_is_masked_with_its_fingerprint(run: bytes) -> None:
    """The same secret has the same placeholder, encoded or not."""
    out = masked(f"echo {run.decode()} | base64 -d")
    assert out == f"echo {masked(GITHUB)} | base64 -d"


@pytest.mark.parametrize("more", range(5))
def test_base32_is_read_whatever_its_length(more: int) -> None:
    """Also without its padding."""
    run = base64.b32encode(GITHUB.encode() + b" " * more).decode()
    assert run.rstrip("=") not in masked(f"echo {run} | base32 -d")
    assert run[:40] not in masked(f"see {run.rstrip('=')}7 there")


def test_what_only_begins_like_something_packed_is_no_secret() -> None:
    """Cut, it is no text either."""
    run = base64.b64encode(b"\x1f\x8b" + bytes(range(40))).decode()
    assert masked(f"echo {run}") == f"echo {run}"


@pytest.mark.parametrize(
    "run",
    [
        base64.b64encode(b"hello world, this is a text").decode(),
        "fa4e0c0ffee1dead" * 4,
        "AAAAB3NzaC1yc2EAAAADAQABAAABgQ",
        "path/to/SomeModule_name",
        "F4keK3yF0rT3stF4k",
    ],
)
def test_a_run_without_a_secret_stays(run: str) -> None:
    """Texts, digests, public keys and paths stay."""
    assert masked(f"echo {run} | base64 -d") == f"echo {run} | base64 -d"


@pytest.mark.parametrize(
    "before", ["https://h.example/cb/", "/a/", "data-", "x_", "by+", "a-b_c/d+"], ids=ascii
)
def test_what_stands_before_a_run_does_not_hide_it(before: str) -> None:
    """A path, a word or a form goes over into the run, and may be read as a part of it; what is not is kept."""
    run = base64.b64encode(INSIDE).decode()
    kept, mask, after = masked(f"see {before}{run} end").partition(masked(GITHUB))
    assert f"see {before}".startswith(kept)
    assert kept.startswith("see ")
    assert (mask, after) == (masked(GITHUB), " end")


@pytest.mark.parametrize("line", ["hello world, this is text\n", "你好，世界，这是文本。\n", "a\u00e9\n"])
@pytest.mark.parametrize("after", [0, 1, 2, 60_000])
def test_a_secret_is_found_however_deep_it_stands_in_a_run(line: str, after: int) -> None:
    """A file in base64 is read to its end, across the borders of the pieces in which it is read."""
    for before in (MAX_CHARS * 3 // 4 - 20, MAX_CHARS * 3 // 4 + 1, 150_000):
        body = (line.encode() * before)[:before].decode("utf-8", "ignore") + "\n"
        inside = f"{body}{INSIDE.decode()}{line * (after // 20)}"
        run = base64.b64encode(inside.encode()).decode()
        out = masked(f"see {run} end")
        at = len(body.encode()) * 4 // 3
        assert run[at + 20 : at + 40] not in out
        assert out.startswith("see ")


def test_segments_that_are_not_read_for_want_of_work_are_masked() -> None:
    """To the end of their run."""
    run = "/".join(["Zk7pQ2vW9sXeZk7pQ2vW9sXe"] * 20)
    (hit,) = encoded(run, lambda _: [], Work(0, base=8))
    assert hit.certainty is Certainty.UNJUDGED
    assert hit.end == len(run)


@given(st.text(alphabet="abAB01+/_-= ", max_size=120))
def test_any_run_is_decoded_or_left(text: str) -> None:
    """Decoding never fails."""
    assert list(encoded(text, lambda _: [])) == []


def test_a_command_encoded_for_powershell_is_read() -> None:
    """UTF-16, lowest byte first, in base64."""
    wide = base64.b64encode(f"$env:KEY='{GITHUB}'; go".encode("utf-16-le")).decode()
    out = masked(f"powershell -NoProfile -EncodedCommand {wide}")
    assert out.startswith("powershell -NoProfile -EncodedCommand [github_pat:")
    innocent = base64.b64encode("Get-ChildItem C:".encode("utf-16-le")).decode()
    assert masked(f"powershell -EncodedCommand {innocent}").endswith(innocent)


def test_packed_text_that_is_not_read_to_its_end_is_masked() -> None:
    """A secret may stand behind what is unpacked; what is packed and no text stays."""
    lines = "".join(f"line {number} of a log that says nothing\n" for number in range(4000)).encode()
    packed = base64.b64encode(gzip.compress(lines + INSIDE, mtime=0)).decode()
    assert masked(f"see {packed} end").startswith("see [unjudged:")
    assert packed[:64] not in masked(f"see {packed} end")
    assert not any("log that says" in text for text in beginnings(packed[: MAX_CHARS // 2]))
    binary = base64.b64encode(gzip.compress(bytes(range(256)) * 2000, mtime=0)).decode()
    assert masked(f"see {binary} end") == f"see {binary} end"


def test_a_run_that_holds_nothing_is_read_once() -> None:
    """The views of a text repeat its runs, which are decoded for the first of them."""
    run = base64.b64encode(b"an ordinary text of some length").decode()
    read: list[str] = []

    def inside(text: str) -> list[Hit]:
        read.append(text)
        return []

    work = Work(100)
    for text in (run, f"{run} and {run}", f"again: {run}"):
        assert list(encoded(text, inside, work)) == []
    assert len(read) == 1


def test_a_run_that_holds_a_secret_is_masked_each_time() -> None:
    """What is remembered is only that there is nothing in a run."""
    run = base64.b64encode(f"token {GITHUB}".encode()).decode()
    assert run not in masked(f"{run} and {run}")
