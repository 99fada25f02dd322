"""`herma redact`."""

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.cli.redact import _Lines, _Text
from herma.cli.terminal import Terminal
from herma.policy.redaction.charset import wide_encoding
from support.config_text import FAKE_KEY
from support.console import herma
from support.redactor import GITHUB, PASSWORD, redactor
from support.tree import ROOT


class Bytes:
    """Streams of bytes, as a process has them."""

    def __init__(self) -> None:
        self.out = io.BytesIO()
        self.terminal = Terminal(stdout=io.TextIOWrapper(self.out), stderr=io.StringIO())


def copied(data: bytes, kind: type[_Text] | type[_Lines] = _Text) -> bytes:
    streams = Bytes()
    kind(redactor(), streams.terminal)(io.BytesIO(data))
    streams.terminal.flush()
    return streams.out.getvalue()


def test_secrets_are_gone_and_the_rest_is_there() -> None:
    """Line ends, colours and commands stay."""
    answer = herma(["redact"], f"\x1b[31mexport A={GITHUB} && run\x1b[0m\r\nplain\n")
    assert answer.code == 0
    assert GITHUB not in answer.out
    assert answer.out.startswith("\x1b[31mexport A=[github_pat:")
    assert answer.out.endswith("] && run\x1b[0m\r\nplain\n")
    assert answer.err == ""


@given(st.binary(max_size=300))
def test_bytes_without_a_secret_pass_as_they_are(data: bytes) -> None:
    """UTF-8 or not, cut or whole, controls included."""
    text = data.decode("utf-8", "surrogateescape")
    if not wide_encoding(data) and redactor().text(text).text == text:
        assert copied(data) == data


@given(st.binary(max_size=40).map(lambda noise: noise.replace(b"\n", b"")))
def test_noise_before_a_line_does_not_carry_a_secret_out(noise: bytes) -> None:
    """Bytes of another encoding stay bytes; what is on the next line is masked."""
    out = copied(noise + f"\nTOKEN={GITHUB}\n".encode())
    assert GITHUB.encode() not in out


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32"])
def test_text_of_two_bytes_a_character_is_judged(encoding: str) -> None:
    """And leaves in its encoding; lines of JSON are masked whole where a line's end cut a character."""
    text = f"password={PASSWORD}\nplain\n"
    out = copied(text.encode(encoding)).decode(encoding)
    assert PASSWORD not in out
    assert out.endswith("]\nplain\n")
    lines = copied(f'{{"password": "{PASSWORD}"}}\n{{"password": "{PASSWORD}"}}\n'.encode(encoding), _Lines)
    assert all(
        PASSWORD.encode(name) not in lines for name in ("utf-8", "utf-16-le", "utf-16-be", "utf-32-le")
    )


def test_lines_of_json_stay_json() -> None:
    """A string is judged with its name; a line that is no JSON is masked as text."""
    lines = [json.dumps({"password": PASSWORD, "n": 1}), "", f"plain {GITHUB}", '{"ok":true}']
    out = copied("\n".join(lines).encode(), _Lines).decode().split("\n")
    assert json.loads(out[0]).keys() == {"password", "n"}
    assert PASSWORD not in out[0]
    assert out[1] == ""
    assert GITHUB not in out[2]
    assert out[3:] == ['{"ok":true}', ""]


def test_a_line_of_json_beyond_the_bound_is_withheld(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would have to be read in part; the command says so and goes on."""
    monkeypatch.setattr("herma.cli.line_reader.line_batches.__defaults__", (8,))
    answer = herma(["redact", "--json-lines", "--json"], '{"a":"12345678"}\n{}\n')
    assert answer.code == 1
    assert [json.loads(line).keys() for line in answer.out.splitlines()] == [{"herma"}, set()]
    assert json.loads(answer.err) == {"masked": {}, "withheld": 1}


def test_what_was_masked_is_counted() -> None:
    """By rule, on standard error, so that the copy stays a copy."""
    answer = herma(["redact", "--json"], f"{GITHUB}\n{GITHUB}\n")
    assert json.loads(answer.err) == {"masked": {"github-pat": 2}, "withheld": 0}


def test_files_are_copied_one_after_the_other(tmp_path: Path) -> None:
    """Standard input is `-`; a file that cannot be read is told, and the others are copied."""
    (tmp_path / "a").write_bytes(b"a\xff\n")
    (tmp_path / "b").write_text(GITHUB)
    answer = herma(["redact", tmp_path / "a", "-", tmp_path / "none", tmp_path / "b"], "middle\n")
    assert answer.code == 1
    assert answer.out.startswith("a\udcff\nmiddle\n[github_pat:")
    assert answer.err == f"herma: cannot read {tmp_path / 'none'}: No such file or directory\n"


def test_the_same_key_gives_the_same_fingerprint(tmp_path: Path) -> None:
    """Without one it is another each time, so that nothing can be looked up."""
    key = tmp_path / "key"
    key.write_text(FAKE_KEY)
    key.chmod(0o600)
    named = ["redact", "--fingerprint-key-file", key]
    assert herma(named, GITHUB).out == herma(named, GITHUB).out
    assert herma(["redact"], GITHUB).out != herma(["redact"], GITHUB).out
    key.write_text("short")
    assert herma(named, GITHUB).code == 78
    assert herma(["redact", "--fingerprint-key-file", tmp_path / "none"], GITHUB).code == 78


@contextlib.contextmanager
def running(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(
        [sys.executable, "-m", "herma", "redact", *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT / "proxy")},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        yield process


def test_a_pipe_that_stays_open_is_not_waited_for() -> None:
    """A line comes out while the next one has not been written; what is held leaves after the deadline, masked."""
    with running() as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"first line\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"first line\n"
        process.stdin.write(b"Authorization: Bearer " + GITHUB.encode()[:30])
        process.stdin.flush()
        held = b""
        while b":" not in held.partition(b"Bearer [")[2]:
            held += process.stdout.read1()
        assert GITHUB.encode()[:20] not in held
        process.stdin.write(GITHUB.encode()[30:] + b"\nlast")
        process.stdin.close()
        rest = process.stdout.read()
        assert rest.endswith(b"\nlast")
        assert GITHUB.encode()[30:] not in held + rest
        assert process.wait() == 0


def test_a_reader_that_leaves_ends_it_quietly() -> None:
    """As `head` does: no traceback, and the code that a shell reports for it."""
    with running() as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        with contextlib.suppress(BrokenPipeError):
            for _ in range(100):
                process.stdin.write(b"line\n" * 10_000)
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        assert process.stderr.read() == b""
        assert process.wait() == 141


def test_an_interrupt_loses_nothing_that_was_read() -> None:
    """What was still held leaves, judged as it stands."""

    class Interrupted(io.BytesIO):
        def read1(self, size: int | None = -1) -> bytes:
            piece = super().read1(size)
            if not piece:
                raise KeyboardInterrupt
            return piece

    streams = Bytes()
    with pytest.raises(KeyboardInterrupt):
        _Text(redactor(), streams.terminal)(Interrupted(b"export PASSWORD=" + PASSWORD.encode()))
    streams.terminal.flush()
    assert streams.out.getvalue().startswith(b"export PASSWORD=[")
