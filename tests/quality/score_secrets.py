"""Scores a redactor: are the secrets gone, does the rest stay, is innocent text left alone.

The rules are those of corpora/README.md.
"""

from collections.abc import Callable, Iterable
from math import ceil

from quality.lines import Line
from quality.measure import Measure, by

__all__ = ["gone", "score_clean", "score_secrets", "strictly_gone", "surface"]

# A piece of a secret of this length is a leak; of a short secret, this share of it.
RUN_CHARS = 12
SHORT_SHARE = 0.6
# Shorter pieces stand in any text by chance.
LEAST_CHARS = 4

# Where a line would be seen, by how its secret is carried (`embedding`). What is not named here is a command line.
_SURFACES = {
    "events": "e_sse e_sse_u e_sse_tool e_argv e_json s_json s_json-escaped s_sse s_sse-double-escaped s_escaped s_nested",
    "logs": "e_log e_pydict e_ansi e_ansi_in s_ansi s_log s_pyrepr s_truncated",
    "config": "e_yaml e_toml e_xmlprop s_yaml s_yaml-block s_ini s_plain s_dq s_sq s_k8s-data s_multi s_wg",
    "chat": "t_punct t_cjk t_diff t_prose t_table e_chat_code s_chat s_spaced s_feishu s_list",
}
_SURFACE_OF = {name: surface for surface, names in _SURFACES.items() for name in names.split()}


def surface(line: Line) -> str:
    """Tell where a line would be seen: commands, events, logs, config, chat; empty if its corpus does not say how."""
    embedding = line["embedding"]
    if embedding[:2] not in {"e_", "t_", "s_"}:
        return ""
    return _SURFACE_OF.get(embedding, "commands")


def gone(line: Line, out: str) -> bool:
    """Tell whether no secret of the line is in the output, joined and decoded forms included."""
    return not any(secret in out for secret in (*line["secrets"], *line.get("raw", ())))


def strictly_gone(line: Line, out: str) -> bool:
    """Tell whether besides no telling piece of a secret is left."""
    return gone(line, out) and not any(
        piece in out for core in line.get("cores") or line["secrets"] for piece in _pieces(core)
    )


def _pieces(core: str) -> Iterable[str]:
    size = min(RUN_CHARS, max(LEAST_CHARS, ceil(SHORT_SHARE * len(core))), len(core))
    return (core[at : at + size] for at in range(len(core) - size + 1))


def score_secrets(prefix: str, lines: Iterable[Line], redact: Callable[[str], str]) -> list[Measure]:
    """Score lines that hold secrets: totals, then a class, an embedding, a surface each; `optional` ones apart."""
    scored = [(line, redact(line["text"])) for line in lines]
    judged = [(line, out) for line, out in scored if not line.get("optional")]
    optional = [(line, out) for line, out in scored if line.get("optional")]
    strict = {line["id"]: strictly_gone(line, out) for line, out in scored}
    kept = [("keep-lost", line["id"], text in out) for line, out in judged for text in line.get("keep", ())]
    return [
        *by(prefix, (("gone", line["id"], gone(line, out)) for line, out in judged)),
        *by(prefix, (("strict", line["id"], strict[line["id"]]) for line, _ in judged)),
        *by(prefix, kept, counts_wrong=True),
        *by(
            prefix,
            (
                ("right", line["id"], strict[line["id"]] and all(text in out for text in line["keep"]))
                for line, out in judged
            ),
        ),
        *by(prefix, (("optional", line["id"], strict[line["id"]]) for line, _ in optional), apart=True),
        *by(
            f"{prefix}/surface",
            ((surface(line), line["id"], strict[line["id"]]) for line, _ in judged if surface(line)),
        ),
        *by(f"{prefix}/class", ((line["class"], line["id"], strict[line["id"]]) for line, _ in judged)),
        *by(
            f"{prefix}/embedding",
            ((line["embedding"], line["id"], strict[line["id"]]) for line, _ in judged),
        ),
    ]


def score_clean(prefix: str, lines: Iterable[Line], redact: Callable[[str], str]) -> list[Measure]:
    """Score lines that hold none: any change is wrong; the total, then a kind each."""
    cases = [(line["why"], line["id"], redact(line["text"]) == line["text"]) for line in lines]
    return [
        *by(prefix, (("changed", identifier, same) for _, identifier, same in cases), counts_wrong=True),
        *by(f"{prefix}/kind", cases, counts_wrong=True),
    ]
