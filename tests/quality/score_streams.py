"""Scores a redactor of streams: what leaks because a text arrives in pieces, and what is masked only because of that."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from random import Random

from quality.lines import Line
from quality.measure import Measure, by
from quality.score_secrets import strictly_gone

__all__ = ["Example", "score_clean_streams", "score_examples", "score_streams", "splits"]

# Models write a few characters at a time, tools a line or a buffer.
PIECE_CHARS = (4, 16, 64, 256, 1024)
MOST_CHARS_AT_RANDOM = 12
# A piece of what the whole text masks, of this length, is a leak.
LEAK_CHARS = 8
type InPieces = Callable[[Sequence[str]], str]


@dataclass(frozen=True, slots=True)
class Example:
    """A text that a rule matches, what becomes of it as a whole, and the parts of it that are masked."""

    name: str
    text: str
    whole: str
    parts: tuple[str, ...]


def splits(line: Line) -> list[list[str]]:
    """Give a text in pieces of each size, and in pieces of sizes drawn by its id: the same every time."""
    text: str = line["text"]
    made = [[text[at : at + size] for at in range(0, len(text), size)] for size in PIECE_CHARS]
    chance, pieces, at = Random(line["id"]), [], 0
    while at < len(text):
        size = chance.randint(1, MOST_CHARS_AT_RANDOM)
        pieces.append(text[at : at + size])
        at += size
    return [*made, pieces]


def score_streams(
    prefix: str, lines: Iterable[Line], redact: Callable[[str], str], in_pieces: InPieces
) -> list[Measure]:
    """Score every split of every line whose secret is gone when it comes in one piece."""
    cases = []
    for line in lines:
        if not line.get("optional") and strictly_gone(line, redact(line["text"])):
            for pieces in splits(line):
                longest = max(map(len, pieces))
                cases.append(("leaks", f"{line['id']}@{longest}", strictly_gone(line, in_pieces(pieces))))
    return by(f"{prefix}/split", cases, counts_wrong=True)


def score_clean_streams(
    prefix: str, lines: Iterable[Line], redact: Callable[[str], str], in_pieces: InPieces
) -> list[Measure]:
    """Score every split of every clean line that is left alone when it comes in one piece."""
    cases = [
        ("changed", f"{line['id']}@{max(map(len, pieces))}", in_pieces(pieces) == line["text"])
        for line in lines
        if redact(line["text"]) == line["text"]
        for pieces in splits(line)
    ]
    return by(f"{prefix}/split", cases, counts_wrong=True)


def score_examples(examples: Iterable[Example], in_pieces: InPieces) -> list[Measure]:
    """Score every split of the rules' own examples: a rule that needs what comes later must not let go before."""
    cases = []
    for example in examples:
        runs = {
            part[at : at + LEAK_CHARS] for part in example.parts for at in range(len(part) - LEAK_CHARS + 1)
        }
        secret = [run for run in runs if run not in example.whole]
        for pieces in splits({"id": example.name, "text": example.text}):
            out = in_pieces(pieces)
            cases.append(
                ("leaks", f"{example.name}@{max(map(len, pieces))}", not any(run in out for run in secret))
            )
    return by("rules/split", cases, counts_wrong=True)
