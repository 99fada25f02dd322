"""The scoring rules themselves, on made-up lines: a lenient score would flatter the detectors."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from herma.policy.decision import Verdict
from quality.lines import Line, lines
from quality.measure import Measure, by
from quality.recorded import with_unseen
from quality.score_files import score_files
from quality.score_guards import score_entries, score_prompts
from quality.score_secrets import score_clean, score_secrets, strictly_gone, surface
from quality.score_streams import Example, score_clean_streams, score_examples, score_streams

SECRET = "F4keK3yF0rT3stF4keK3yF0rT3st"
LINE: Line = {
    "id": "s-1",
    "class": "made-up",
    "embedding": "e_log",
    "optional": False,
    "text": f"login key={SECRET} host=db",
    "secrets": [SECRET],
    "cores": [SECRET],
    "raw": [],
    "keep": ["login", "host=db"],
}


def _shown(measures: list[Measure]) -> dict[str, str]:
    return {measure.key: f"{measure.shown}/{measure.of}" for measure in measures}


@pytest.mark.parametrize(
    ("left", "strict"),
    [
        ("", True),
        (SECRET[:11], True),
        (SECRET[:12], False),
        (SECRET[-12:], False),
        (SECRET, False),
    ],
)
def test_a_run_of_twelve_characters_is_a_leak(left: str, strict: bool) -> None:
    """Half a key is no redaction; a prefix that tells which key it was is."""
    assert strictly_gone(LINE, f"login key=[x]{left} host=db") is strict


@pytest.mark.parametrize(("left", "strict"), [("tuli", True), ("tulip", False), ("tulip-8", False)])
def test_of_a_short_secret_a_shorter_piece_is_a_leak(left: str, strict: bool) -> None:
    """Three fifths of it, rounded up."""
    assert strictly_gone({**LINE, "secrets": ["tulip-84"], "cores": ["tulip-84"]}, left) is strict


def test_the_joined_form_of_a_split_secret_is_a_leak() -> None:
    """Masking the two halves and printing the whole helps nobody."""
    line = {**LINE, "secrets": ["abcd", "efgh"], "cores": ["abcd", "efgh"], "raw": ["ab-cd"]}
    assert not strictly_gone(line, "ab-cd")


def test_what_must_stay_is_counted_string_by_string() -> None:
    """A line is right when the secret is gone and everything else is there."""
    scored = _shown(score_secrets("secrets", [LINE], lambda _: "login [masked]"))
    assert scored["secrets/strict"] == "1/1"
    assert scored["secrets/keep-lost"] == "1/2"
    assert scored["secrets/right"] == "0/1"
    assert scored["secrets/surface/logs"] == "1/1"


def test_what_leaks_only_in_pieces_is_counted_by_split() -> None:
    """Whoever looks at each piece by itself misses what lies across two; what the whole text leaks is not counted again."""

    def redact(text: str) -> str:
        return text.replace(SECRET, "[x]")

    def each(pieces: Sequence[str]) -> str:
        return "".join(map(redact, pieces))

    (leaks,) = score_streams("secrets", [LINE, {**LINE, "cores": ["login"]}], redact, each)
    assert (leaks.of, leaks.key) == (6, "secrets/split/leaks")
    assert {"s-1@4", "s-1@16"} < set(leaks.wrong)
    assert len(leaks.wrong) == 3
    (changed,) = score_clean_streams("clean", [{"id": "c-1", "text": "a" * 40}], redact, "-".join)
    assert {"c-1@4", "c-1@16"} < set(changed.wrong)
    assert len(changed.wrong) == 3


def test_a_rule_that_lets_go_too_early_is_named() -> None:
    """By its example and by the longest piece."""
    example = Example("made-up-0", LINE["text"], "login key=[x] host=db", (SECRET,))
    (leaks,) = score_examples([example], lambda pieces: "".join(pieces) if len(pieces) > 1 else "[x]")
    assert (leaks.key, leaks.of, len(leaks.wrong)) == ("rules/split/leaks", 6, 3)
    assert "made-up-0@4" in leaks.wrong


def test_optional_lines_are_apart() -> None:
    """Cards are masked by those who ask for it."""
    scored = score_secrets("secrets", [{**LINE, "optional": True}], lambda text: text)
    assert [(measure.key, measure.apart) for measure in scored] == [("secrets/optional", True)]


def test_a_line_of_another_corpus_has_no_surface() -> None:
    """Its words for carriers are not known here."""
    assert surface({**LINE, "embedding": "nushell"}) == ""
    assert surface({**LINE, "embedding": "e_export"}) == "commands"


def test_any_change_of_a_clean_line_counts() -> None:
    """Even a blank."""
    clean = [{"id": "c-1", "text": "a b", "why": "prose"}, {"id": "c-2", "text": "a", "why": "prose"}]
    (total, kind) = score_clean("clean", clean, lambda text: text.replace(" ", ""))
    assert (total.key, total.wrong, total.percent) == ("clean/changed", ("c-1",), 50.0)
    assert (kind.key, str(kind)) == ("clean/kind/prose", "50.0 % (1/2)")


def test_tiers_that_need_no_refusal_are_apart() -> None:
    """A policy line that is only warned of is neither hit nor miss; dual use neither alarm nor pass."""
    hostile: list[Line] = [
        {"id": "m-1", "family": "dropper", "tier": "published"},
        {"id": "m-2", "family": "dropper", "tier": "evasion"},
        {"id": "m-3", "family": "dropper", "tier": "policy"},
    ]
    innocent: list[Line] = [{"id": "b-1", "family": "binary"}, {"id": "b-2", "family": "dual-use"}]
    verdicts = {"m-1": Verdict.BLOCK, "m-3": Verdict.WARN, "b-1": Verdict.WARN, "b-2": Verdict.BLOCK}
    scored = _shown(score_entries(hostile, innocent, lambda line: verdicts.get(line["id"], Verdict.ALLOW)))
    assert scored["mcp/hostile/blocked"] == "1/2"
    assert scored["mcp/hostile/family/dropper"] == "1/2"
    assert scored["mcp/hostile/cell/dropper/policy"] == "0/1"
    assert scored["mcp/hostile/apart-told/policy"] == "1/1"
    assert scored["mcp/innocent/blocked"] == "0/1"
    assert scored["mcp/innocent/warned"] == "1/1"
    assert scored["mcp/innocent/apart/dual-use"] == "1/1"


def test_of_prompts_the_core_tier_counts() -> None:
    """What is hostile only in its context is apart."""
    hostile: list[Line] = [
        {"id": "m-1", "family": "override", "tier": "core", "lang": "en"},
        {"id": "m-2", "family": "override", "tier": "soft", "lang": "fa"},
    ]
    scored = _shown(score_prompts(hostile, [], lambda _: Verdict.BLOCK))
    assert scored["cron/hostile/blocked"] == "1/1"
    assert scored["cron/hostile/lang/en"] == "1/1"
    assert "cron/hostile/lang/fa" not in scored
    assert scored["cron/hostile/cell/override/soft/fa"] == "1/1"


def test_files_are_found_by_their_stem(tmp_path: Path) -> None:
    """Compressed or not, several of one kind; what has a longer name is of another kind."""
    (tmp_path / "secrets.dev.jsonl").write_text(json.dumps({"id": "1"}) + "\n\n")
    (tmp_path / "secrets-2.jsonl.gz").write_bytes(gzip.compress(b'{"id": "2", "text": "\xe2\x80\xa8"}\n'))
    (tmp_path / "hard_secrets.jsonl").write_text('{"id": "3"}\n')
    (tmp_path / "secrets_other.jsonl").write_text('{"id": "4"}\n')
    (tmp_path / "secrets.txt").write_text("no\n")
    assert {line["id"] for line in lines(tmp_path, "secrets")} == {"1", "2"}
    assert [line["id"] for line in lines(tmp_path, "hard_secrets")] == ["3"]


def test_changed_lines_of_real_files_are_named_by_place(tmp_path: Path) -> None:
    """File and line, never what stands there; binary files and blank lines do not count."""
    (tmp_path / "a.txt").write_text("one\n\ntwo key\n")
    (tmp_path / "b.bin").write_bytes(b"key\0")
    figure = score_files("x", tmp_path, lambda text: text.replace("key", ""), len)
    assert (figure.files, figure.lines, figure.changed) == (1, 2, ("a.txt:3",))
    assert (figure.per_10_000, figure.upstream_changed) == (5000.0, 2)


def test_of_an_unseen_set_only_totals_are_kept() -> None:
    """Whoever mends the rules must not learn from the page what such a set holds."""
    measures = {
        measure.key: measure
        for measure in (
            *by("mcp/hostile", [("blocked", "m-1", True)]),
            *by("mcp/hostile/family", [("dropper", "m-1", True)]),
            *by("secrets", [("strict", "s-1", False)]),
            *by("secrets/class", [("made-up", "s-1", False)]),
        )
    }
    once = with_unseen({}, "blind", measures, None, "2026-01-01")
    kept = with_unseen(once, "blind", measures, measures, "2026-01-02")
    assert kept["unseen"] == [
        {
            "set": "blind",
            "date": "2026-01-02",
            "figures": {"mcp/hostile/blocked": "1/1", "secrets/strict": "0/1"},
            "upstream": {"mcp/hostile/blocked": "1/1", "secrets/strict": "0/1"},
        }
    ]
