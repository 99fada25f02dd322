"""The lines of a corpus: any directory whose files are named after what they hold."""

import gzip
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["SHIPPED", "Line", "directory", "lines"]

SHIPPED = Path(__file__).resolve().parent / "corpora"
type Line = dict[str, Any]

_NAME = re.compile(r"([a-z]+(?:_[a-z]+)*)[^a-z_].*")


def directory() -> Path:
    """Give the corpus that is scored: the shipped one unless `HERMA_CORPORA` names another."""
    return Path(os.environ.get("HERMA_CORPORA") or SHIPPED)


def lines(corpus: Path, stem: str) -> list[Line]:
    """Give the lines of every file `<stem>….jsonl` or `<stem>….jsonl.gz`; none if there is no such file."""
    return [line for path in sorted(corpus.iterdir()) if _is(path.name, stem) for line in _read(path)]


def _is(name: str, stem: str) -> bool:
    # `secrets.dev.jsonl` and `secrets.jsonl.gz` are secrets, `secrets_more.jsonl` is something else.
    found = _NAME.fullmatch(name)
    return bool(found) and found[1] == stem and name.endswith((".jsonl", ".jsonl.gz"))


def _read(path: Path) -> Iterator[Line]:
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode()
    # Not splitlines(): prompts hold the other characters that it takes for line ends.
    yield from (json.loads(line) for line in text.split("\n") if line.strip())
