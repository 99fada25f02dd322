"""The list of bypass classes with the tests that hold each of them shut.

The rows are the classes; the tests come from collecting the suites, by their `bypass` marker. `make docs` writes the page.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

__all__ = ["DOCUMENT", "LATER", "ROOT", "ROWS", "collected", "render"]

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = "docs/security/bypass.md"
SUITES = ("tests/attacks", "tests/e2e", "tests/identity")
COLLECT_TIMEOUT_S = 120
# Classes of parts that are not there yet, and which part that is.
LATER: dict[str, str] = {}
ROWS: dict[str, tuple[str, str]] = {
    "1": ("Dot segments in the path", "400"),
    "2": ("Encoded dots", "400"),
    "3": ("Double encoding", "literal, never decoded twice; 404"),
    "4": ("Mixed case and single dots", "400"),
    "5": ("Encoded slash", "400"),
    "6": ("Double slash", "400, or merged before the verdict"),
    "7": ("Backslash, raw or encoded", "400"),
    "8": ("Path parameters", "400"),
    "9": ("Fragment in the target", "400"),
    "10": ("Encoded `#` and `?`", "400"),
    "11": ("NUL and control characters", "400"),
    "12": ("Overlong, invalid or raw UTF-8", "400"),
    "13": ("Trailing dot, space, slash", "same verdict or 404, never exempt"),
    "14": ("Letter case of the path", "case-sensitive, unknown is denied"),
    "15": ("Query in the route match", "401"),
    "16": ("Suffix of an exempt name", "401; exemptions are exact and per method"),
    "17": ("Prefix of an exempt name", "401"),
    "18": ("Absolute-form target", "400"),
    "19": ("Userinfo in the target", "400"),
    "20": ("Asterisk and authority form", "405 or 400"),
    "21": ("Unusual methods", "405"),
    "22": ("Method override", "dropped"),
    "23": ("Prefix stripped before normalising", "400"),
    "24": ("Rewrite headers", "dropped, never used for policy"),
    "25": ("Underscore alias of a header", "dropped or 400"),
    "26": ("Look-alikes of header names", "400"),
    "27": ("Identity header of a client", "always deleted"),
    "28": ("`Connection` names a protected header", "the header survives, or 400"),
    "29": ("Part of a word as upgrade", "not an upgrade"),
    "30": ("Duplicate `Authorization`", "400"),
    "31": ("Credentials in two places", "400"),
    "32": ("Key in the query string", "rejected, not in any log"),
    "33": ("Scheme games, guessing", "401, uniform body; throttled"),
    "34": ("`X-Forwarded-For` of a stranger", "the peer's address counts"),
    "35": ("Everybody is a trusted proxy", "start-up error"),
    "36": ("Unreadable forwarded lists", "no rule is skipped"),
    "37": ("`Forwarded` and `X-Forwarded-For` disagree", "400, or neither is believed"),
    "38": ("Health-check user agent", "401"),
    "39": ("Malformed cookies", "401"),
    "40": ("Planted cookie", "never adopted"),
    "41": ("Host games", "400 or 421"),
    "42": ("DNS rebinding", "403"),
    "43": ("Loopback taken for trust", "401"),
    "44": ("Ambiguous names and groups", "denied"),
    "45": ("Control characters in header values", "400 and close"),
    "46": ("Log injection", "encoded"),
    "47": ("Hostile response headers", "filtered, or 502"),
    "48": ("Ambiguous framing", "400 and close"),
    "49": ("Transfer coding on HTTP/1.0", "400"),
    "50": ("Malformed chunks", "400"),
    "51": ("Trailer fields", "dropped, never merged"),
    "52": ("HTTP versions", "505 or 400"),
    "53": ("h2c upgrade", "stripped"),
    "54": ("HTTP/2 preface", "400, closed"),
    "55": ("Refused upgrade, then pipelining", "closed, not tunnelled"),
    "56": ("WebSocket without allowed origin or key", "refused before 101"),
    "57": ("Stream outlives its key", "closed"),
    "58": ("Hostile WebSocket frames", "1002, 1007 or 1009"),
    "59": ("Pipelining behind a refusal", "not processed"),
    "60": ("`Expect: 100-continue` with an early refusal", "no 100, closed"),
    "61": ("Body of GET, HEAD, DELETE", "consumed or closed"),
    "62": ("Slow clients", "closed by separate deadlines"),
    "63": ("Client gone in mid-stream", "upstream aborted, slot returned"),
    "64": ("Strict parser missing", "does not start"),
    "65": ("Content encodings", "400, 413 or 415"),
    "66": ("Size and depth", "413 or 400"),
    "67": ("JSON with two readings", "400"),
    "68": ("Content-Type lies", "inspected as the upstream parses, or 415"),
    "69": ("Split and encoded secrets", "masked, never in the first bytes"),
    "70": ("Compressed or ranged answers", "asked for in plain"),
    "71": ("Batches", "each element judged"),
    "72": ("Wrapped server entries", "403"),
    "73": ("Side doors of a write", "same verdict"),
    "74": ("Scheduled prompts", "same verdict on every way in"),
    "75": ("JWT", "401"),
    "76": ("Fire tokens", "401 or 409"),
    "77": ("Timing of key comparison", "no separable distribution"),
    "78": ("Talkative errors", "name nothing, reflect nothing"),
    "start-up": ("Unsafe start", "does not start, with file:line:col"),
}


class _Recorder:
    """A plugin that writes which collected test holds which rows."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def pytest_collection_finish(self, session: object) -> None:
        lines = []
        for item in session.items:  # type: ignore[attr-defined]  # a pytest.Session, which is only imported where pytest runs
            name = f"{item.path.relative_to(ROOT)}::{item.originalname}"
            for marker in item.iter_markers("bypass"):
                lines += [f"{row}\t{name}" for row in marker.args]
        self._path.write_text("\n".join(lines))


def collected() -> dict[str, list[str]]:
    """Collect the suites in a process of their own and return the tests of each row."""
    with tempfile.TemporaryDirectory() as directory:
        out = Path(directory) / "rows"
        done = subprocess.run(
            [sys.executable, str(Path(__file__).resolve()), "--collect", str(out)],
            cwd=ROOT,
            env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            timeout=COLLECT_TIMEOUT_S,
            check=False,
        )
        if done.returncode != 0:
            raise RuntimeError(
                f"the suites could not be collected:\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
            )
        pairs = [line.split("\t") for line in out.read_text().splitlines()]
    table: dict[str, list[str]] = {}
    for row, name in pairs:
        if name not in table.setdefault(row, []):
            table[row].append(name)
    return table


def render(table: dict[str, list[str]]) -> str:
    """Write the document."""
    lines = [
        "# What must not get through",
        "",
        "<!-- Generated by `make docs` from the tests' `bypass` markers. Do not edit. -->",
        "",
        "Every class of bypass below was met in a real product. Each is tried against the running gate with a raw socket and a recording",
        "upstream: the test asserts the answer, and that the upstream saw nothing or exactly the bytes that were judged. These are classes, not",
        "payloads: most tests generate many spellings.",
        "",
        "| row | class | answer | held shut by |",
        "|---|---|---|---|",
    ]
    for row, (title, verdict) in ROWS.items():
        lines.append(f"| {row} | {title} | {verdict} | {_cell(row, table.get(row, ()))} |")
    return "\n".join(lines) + "\n"


def _cell(row: str, tests: Iterable[str]) -> str:
    names = [f"`{name.removeprefix('tests/')}`" for name in sorted(tests)]
    if not names and row in LATER:
        return f"not yet: {LATER[row]}"
    return "<br>".join(names)


def _collect(out: str) -> int:
    import pytest

    return int(
        pytest.main(
            ["--collect-only", "-q", "-p", "no:cacheprovider", *SUITES], plugins=[_Recorder(Path(out))]
        )
    )


if __name__ == "__main__":
    sys.exit(_collect(sys.argv[2]))
