"""All figures of one corpus."""

from collections.abc import Callable
from pathlib import Path

from quality.judges import Detectors
from quality.lines import lines
from quality.measure import Measure, Measures
from quality.score_guards import score_entries, score_prompts
from quality.score_secrets import score_clean, score_secrets
from quality.score_streams import score_clean_streams, score_examples, score_streams

__all__ = ["measure"]


def measure(corpus: Path, detectors: Detectors, told: Callable[[str], None] = lambda _: None) -> Measures:
    """Score detectors on every file of a corpus; `told` hears what is under way."""
    told("rules")
    found: list[Measure] = score_examples(detectors.examples(), detectors.in_pieces)
    for prefix in ("secrets", "hard_secrets"):
        told(prefix)
        found += score_secrets(prefix, lines(corpus, prefix), detectors.redact)
        found += score_streams(prefix, lines(corpus, prefix), detectors.redact, detectors.in_pieces)
    for prefix in ("clean", "hard_clean"):
        told(prefix)
        found += score_clean(prefix, lines(corpus, prefix), detectors.redact)
        found += score_clean_streams(prefix, lines(corpus, prefix), detectors.redact, detectors.in_pieces)
    told("mcp")
    found += score_entries(lines(corpus, "mcp_malicious"), lines(corpus, "mcp_benign"), detectors.entry)
    told("cron")
    found += score_prompts(lines(corpus, "cron_malicious"), lines(corpus, "cron_benign"), detectors.prompt)
    return {measure.key: measure for measure in found}
