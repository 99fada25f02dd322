"""Answers that are judged whole, and answers that are copied."""

import asyncio
import json
import zlib
from collections.abc import Callable
from contextlib import suppress

import pytest

from support.inprocess import SECRET, UPSTREAM_KEY, Call, Gated, code, gated, gzipped, json_of, until
from support.raw import Ended
from support.upstream import answer, chunk

JSON = [("Content-Type", "application/json")]
PNG = [("Content-Type", "image/png")]
MIB = 1 << 20
LEAK = {"output": f"export TOKEN={SECRET} && run", "id": "c", "list": [1, 2.50, None]}
MODELS = "/v1/models"


def _leaking(*, status: int = 200, headers: list[tuple[str, str]] | None = None) -> bytes:
    return answer(status, json.dumps(LEAK).encode(), headers if headers is not None else JSON)


# --- judged


async def test_the_upstreams_own_key_never_leaves() -> None:
    """Wherever it stands; what takes its place opens nothing."""
    async with gated() as gate:
        gate.agent.on(
            "GET", MODELS, answer(200, f"<p>{UPSTREAM_KEY}</p>".encode(), [("Content-Type", "text/html")])
        )
        assert (await gate.ask("GET", MODELS)).body == b"<p>held-by-the-gate</p>"
        assert (await gate.last()).redactions == 1


@pytest.mark.parametrize("status", [200, 202, 400, 404, 500])
async def test_an_answer_is_redacted_and_framed_anew(status: int) -> None:
    """The credential is gone, the rest is as it was, and the length is right; errors are judged as well."""
    async with gated() as gate:
        gate.agent.on("GET", MODELS, _leaking(status=status))
        response = await gate.ask("GET", MODELS)
        assert response.status == status
        assert SECRET.encode() not in response.body
        shown = json_of(response)
        assert shown["output"].startswith("export TOKEN=[github_pat:")
        assert shown["output"].endswith("] && run")
        assert (shown["id"], shown["list"]) == ("c", [1, 2.5, None])
        assert response.get("content-length") == str(len(response.body))
        record = await gate.last()
        assert record.redactions == 1
        assert [found.place for found in record.findings] == ["/output"]


@pytest.mark.parametrize("headers", [[], [("Content-Type", "text/plain")], [("Content-Type", "x/y")]])
async def test_text_of_any_kind_is_redacted(headers: list[tuple[str, str]]) -> None:
    """A missing or unknown type hides nothing."""
    async with gated() as gate:
        gate.agent.on("GET", MODELS, _leaking(headers=headers))
        assert SECRET.encode() not in (await gate.ask("GET", MODELS)).body


async def test_an_answer_without_secrets_is_left_alone() -> None:
    """Not one byte of it changes."""
    body = b'{ "a" : 1.0e0 ,\n "b":"\\u0068" }'
    async with gated() as gate:
        gate.agent.on("GET", MODELS, answer(200, body, JSON))
        assert (await gate.ask("GET", MODELS)).body == body
        assert (await gate.last()).redactions == 0


async def test_chunks_are_judged_together() -> None:
    """However the upstream cuts its answer, a secret across two chunks is found."""
    whole = json.dumps(LEAK).encode()
    cut = whole.index(SECRET.encode()) + 10

    async def play(call: Call) -> None:
        await call.send(answer(200, headers=[*JSON, ("Transfer-Encoding", "chunked")], framed=False))
        await call.chunk(whole[:cut], whole[cut:])
        await call.end()

    async with gated() as gate:
        gate.agent.on("GET", MODELS, play)
        response = await gate.ask("GET", MODELS)
        assert SECRET.encode() not in response.body
        assert response.get("transfer-encoding") is None


async def test_monitoring_reports_and_changes_nothing() -> None:
    """The answer is the upstream's, byte for byte, and the audit names what it showed."""
    async with gated(redaction={"mode": "monitor"}) as gate:
        gate.agent.on("GET", MODELS, _leaking())
        assert (await gate.ask("GET", MODELS)).body == json.dumps(LEAK).encode()
        record = await gate.last()
        assert (record.redactions, len(record.findings)) == (1, 1)


@pytest.mark.parametrize(
    ("encoding", "pack"), [("gzip", gzipped), ("deflate", zlib.compress), ("identity", bytes)]
)
async def test_a_packed_answer_is_judged_unpacked(encoding: str, pack: Callable[[bytes], bytes]) -> None:
    """Asked not to, the upstream packs: what leaves is plain, judged, and says so."""
    body = pack(json.dumps(LEAK).encode())
    async with gated() as gate:
        gate.agent.on("GET", MODELS, answer(200, body, [*JSON, ("Content-Encoding", encoding)]))
        response = await gate.ask("GET", MODELS)
        assert response.get("content-encoding") is None
        assert json_of(response)["output"].startswith("export TOKEN=[github_pat:")
        assert (await gate.agent.only()).get("accept-encoding") == "identity"


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize(
    ("encoding", "body"), [("br", b"whatever"), ("gzip", b"no gzip"), ("gzip, br", gzipped(b"{}"))]
)
async def test_what_cannot_be_unpacked_is_withheld(method: str, encoding: str, body: bytes) -> None:
    """What cannot be read cannot be judged, and does not leave."""
    target = MODELS if method == "GET" else "/v1/runs"
    async with gated() as gate:
        gate.agent.on(method, target, answer(200, body, [*JSON, ("Content-Encoding", encoding)]))
        response = await gate.ask(method, target, body=b"{}" if method == "POST" else b"")
        assert (response.status, code(response)) == (502, "herma.upstream.unjudged")
        assert response.get("x-should-retry") == "false"


async def test_two_encodings_in_two_lines_are_two_encodings() -> None:
    """Naming none first does not let the second pass unread: a list of encodings is withheld."""
    headers = [*JSON, ("Content-Encoding", "identity"), ("Content-Encoding", "gzip")]
    async with gated() as gate:
        packed = gzipped(json.dumps(LEAK).encode())
        gate.agent.on("GET", MODELS, answer(200, packed, headers))
        assert code(await gate.ask("GET", MODELS)) == "herma.upstream.unjudged"
        gate.agent.on("GET", MODELS, answer(200, packed, [*headers, ("Content-Encoding", "br")]))
        assert (await gate.ask("GET", MODELS)).status == 502


SMALL = {"max_response_bytes": 65536}


async def test_an_answer_over_the_limit_is_withheld() -> None:
    """502, and not its first half; exactly the limit passes."""
    async with gated(limits=SMALL) as gate:
        gate.agent.on("GET", MODELS, answer(200, b"x" * 65536, [("Content-Type", "text/plain")]))
        assert len((await gate.ask("GET", MODELS)).body) == 65536
        gate.agent.on("GET", MODELS, answer(200, b"x" * 65537, [("Content-Type", "text/plain")]))
        response = await gate.ask("GET", MODELS)
        assert (response.status, code(response)) == (502, "herma.upstream.too_large")


async def test_a_bomb_from_the_upstream_is_withheld() -> None:
    """It is counted unpacked."""
    async with gated(limits=SMALL) as gate:
        packed = gzipped(b" " * MIB)
        gate.agent.on("GET", MODELS, answer(200, packed, [*JSON, ("Content-Encoding", "gzip")]))
        response = await gate.ask("GET", MODELS)
        assert (response.status, code(response)) == (502, "herma.upstream.unjudged")


async def _half(call: Call) -> None:
    await call.send(answer(200, headers=[*JSON, ("Content-Length", "100")], framed=False), b'{"a":')
    call.close()


async def test_an_answer_that_breaks_off_is_a_bad_gateway() -> None:
    """Nothing was told yet, so the caller hears of it by status."""
    async with gated() as gate:
        gate.agent.on("GET", MODELS, _half)
        response = await gate.ask("GET", MODELS)
        assert (response.status, code(response)) == (502, "herma.upstream.failed")
        assert (await gate.last()).outcome == "denied"


async def test_an_answer_may_be_as_slow_as_the_configuration_says() -> None:
    """The wait inside a whole answer is the operator's idle time, not a constant."""
    async with gated(upstream_extra={"idle_timeout_s": 1}) as gate:

        async def play(call: Call) -> None:
            await call.send(answer(200, headers=[*JSON, ("Content-Length", "100")], framed=False), b'{"a":')
            await call.gone()

        gate.agent.on("GET", MODELS, play)
        response = await gate.ask("GET", MODELS)
        assert (response.status, code(response)) == (504, "herma.upstream.timeout")


# --- copied


async def test_an_opaque_answer_is_copied() -> None:
    """Bytes are bytes; its length and its packing stay."""
    body = bytes(range(256)) * 300 + SECRET.encode()
    async with gated() as gate:
        gate.agent.on("GET", MODELS, answer(200, body, [*PNG, ("Content-Encoding", "x-own")]))
        response = await gate.ask("GET", MODELS)
        assert response.body == body
        assert response.get("content-length") == str(len(body))
        assert response.get("content-encoding") == "x-own"
        assert (await gate.last()).bytes_out == len(body)


async def test_an_opaque_answer_of_unknown_length_is_copied() -> None:
    """It goes on in chunks and ends where the upstream's ended."""

    async def play(call: Call) -> None:
        await call.send(answer(200, headers=[*PNG, ("Transfer-Encoding", "chunked")], framed=False))
        await call.chunk(b"abc", b"def")
        await call.end()

    async with gated() as gate:
        gate.agent.on("GET", MODELS, play)
        response = await gate.ask("GET", MODELS)
        assert response.body == b"abcdef"
        assert response.get("content-length") is None
        assert response.complete


@pytest.mark.parametrize(
    "head",
    [
        answer(200, headers=[*PNG, ("Content-Length", "100")], framed=False) + b"abc",
        answer(200, headers=[*PNG, ("Transfer-Encoding", "chunked")], framed=False) + chunk(b"abc"),
    ],
    ids=["length", "chunks"],
)
async def test_a_copy_that_breaks_off_is_broken_off(head: bytes) -> None:
    """Half a file does not look whole: the connection is reset, and the audit says whose fault it was."""

    async def play(call: Call) -> None:
        await call.send(head)
        call.close()

    async with gated() as gate:
        gate.agent.on("GET", MODELS, play)
        talk = await gate.talk("GET", MODELS)
        assert talk.ended is Ended.RESET
        record = await gate.last()
        assert (record.outcome, record.bytes_out, record.status) == ("upstream_gone", 3, 200)


async def _settled(gate: Gated, sent: list[int]) -> int:
    """Wait until the agent can send no more; what a socket holds is all that is on the way then."""
    before = -1
    while sent[0] != before:
        before = sent[0]
        with suppress(TimeoutError):
            async with asyncio.timeout(0.1):
                await until(lambda: sent[0] != before)  # noqa: B023 - read in this very turn
    return before


async def test_a_caller_who_reads_slowly_slows_the_upstream() -> None:
    """What the caller has not taken is not piled up in the gate, and in the end all of it arrives."""
    total, piece, sent = 64 * MIB, MIB, [0]

    async def play(call: Call) -> None:
        await call.send(answer(200, headers=[*PNG, ("Content-Length", str(total))], framed=False))
        while sent[0] < total:
            await call.send(bytes(piece))
            sent[0] += piece

    async with gated() as gate:
        gate.agent.on("GET", MODELS, play)
        client = await gate.open("GET", MODELS)
        await client.until(b"\r\n\r\n")
        client.writer.transport.pause_reading()
        await until(lambda: sent[0] > 0)
        assert await _settled(gate, sent) < total // 2
        client.writer.transport.resume_reading()
        left = total
        while left:
            left -= len(await client.reader.read(8 * MIB))
        assert sent[0] == total
