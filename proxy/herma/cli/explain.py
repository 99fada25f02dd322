"""`herma explain mcp|prompt|secret|request|egress`: why one input is judged as it is, and what would change that."""

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from herma.cli.explain_egress import MAX_RECORD_BYTES, explain_egress
from herma.cli.explanation import Explainer, Explanation
from herma.cli.judge import JobFields, said
from herma.cli.reason import reason_lines, rules_as_json
from herma.cli.recorded_json import EXPECTED
from herma.cli.sources import Sources, add_source_options, open_sources, report, today
from herma.cli.terminal import FINDINGS, FINE, USAGE, Terminal
from herma.config.upstream import DEFAULT_UPSTREAM
from herma.content.exemption_yaml import exemption_yaml
from herma.errors import ConfigError, ContentError
from herma.policy.checks import read_document
from herma.policy.decision import Deny, Verdict
from herma.policy.exchange import Exchange
from herma.policy.jsondoc import JsonError, parse
from herma.policy.message.canonical import canonical_head

__all__ = ["add_arguments", "explain"]

KINDS: Final = {
    "mcp": 'a server entry: {"name", "entry"}, {"mcpServers": {"name": {…}}} or the entry alone',
    "prompt": "a prompt as text, or a job as JSON",
    "secret": "a text",
    "request": '{"method", "path", "body"}, and "upstream" where there are several',
    "egress": f"what the agent sends: {EXPECTED}, an entry of a HAR file or a whole one, or flows of mitmproxy",
}
# A page of text; whoever has more wants `herma judge`.
MAX_INPUT_BYTES: Final = 1024 * 1024
MAX_DEPTH: Final = 64
MAX_KEYS: Final = 20_000


class _BadInput(Exception):  # noqa: N818 - ends the command; the message says what was expected
    """The input is not what was to be explained."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    kinds = "; ".join(f"{kind}: {what}" for kind, what in KINDS.items())
    parser.add_argument("kind", choices=list(KINDS), help=kinds)
    parser.add_argument(
        "file", nargs="?", default="-", metavar="FILE", help="what to explain (default: standard input)"
    )
    parser.add_argument("--json", action="store_true", help="answer in JSON")
    add_source_options(parser, fingerprints=True)


def explain(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Explain one input; 1 when it would be blocked."""
    try:
        if arguments.kind == "egress":
            raw = _read(arguments.file, terminal, MAX_RECORD_BYTES, "; record less of it")
            return explain_egress(raw, arguments, terminal)
        raw = _read(arguments.file, terminal, MAX_INPUT_BYTES, "; `herma judge` reads many small ones")
        explained = _EXPLAIN[arguments.kind](raw, open_sources(arguments))
    except _BadInput as problem:
        terminal.note(f"herma: {problem}")
        return USAGE
    except (ConfigError, ContentError) as error:
        return report(error, arguments, terminal)
    if arguments.json:
        terminal.json(_as_json(explained))
    else:
        for line in _lines(explained):
            terminal.out(line)
    return FINDINGS if explained.judgement.verdict is Verdict.BLOCK else FINE


def _read(file: str, terminal: Terminal, bound: int, instead: str) -> bytes:
    try:
        if file == "-":
            raw = terminal.input.read(bound + 1)
        else:
            with Path(file).open("rb") as stream:
                raw = stream.read(bound + 1)
    except OSError as error:
        raise _BadInput(f"cannot read {file}: {error.strerror}") from None
    if len(raw) > bound:
        raise _BadInput(f"the input has more than {bound} bytes{instead}")
    return raw


def _json(raw: bytes) -> Any:
    try:
        return parse(raw.strip(), max_depth=MAX_DEPTH, max_keys=MAX_KEYS).value
    except JsonError as problem:
        raise _BadInput(f"{problem} ({problem.code}); the gate would refuse it unjudged") from None


def _text(raw: bytes) -> str:
    # The gate takes UTF-8 only; what is none is read as a reader would see it.
    return raw.decode("utf-8", "replace").removesuffix("\n")


def _explainer(sources: Sources) -> Explainer:
    return Explainer(sources.library, sources.rule_set(), sources.redactor(), today())


def _entry(raw: bytes, sources: Sources) -> Explanation:
    value = _json(raw)
    if not isinstance(value, dict):
        raise _BadInput(f"expected {KINDS['mcp']}")
    name, entry = value.get("name", ""), value.get("entry", value)
    for place in ("mcpServers", "mcp_servers"):
        if isinstance(listed := value.get(place), dict):
            if len(listed) != 1:
                raise _BadInput("expected one server; explain them one by one")
            ((name, entry),) = listed.items()
    return _explainer(sources).entry(name if isinstance(name, str) else "", entry)


def _prompt(raw: bytes, sources: Sources) -> Explanation:
    if raw.lstrip()[:1] == b"{" and isinstance(value := _json(raw), dict):
        job = {name: value[name] for name in JobFields if name in value}
        if not job:
            raise _BadInput(f"expected {KINDS['prompt']}, with at least `prompt`")
    else:
        job = {"prompt": _text(raw)}
    return _explainer(sources).job(job)


def _secret(raw: bytes, sources: Sources) -> Explanation:
    return _explainer(sources).secret(_text(raw))


def _request(raw: bytes, sources: Sources) -> Explanation:
    value = _json(raw)
    if not isinstance(value, dict) or not {"method", "path"} <= value.keys():
        raise _BadInput(f"expected {KINDS['request']}")
    method, path = str(value["method"]).encode("utf-8"), str(value["path"]).encode("utf-8")
    head = canonical_head(method, path, "1.1", [(b"Host", b"localhost")])
    if isinstance(head, Deny):
        raise _BadInput(f"the gate refuses this head: {head.code}: {head.message}")
    profiles, upstream = sources.profiles(), value.get("upstream", DEFAULT_UPSTREAM)
    if upstream not in profiles:
        raise _BadInput(f"there is no such upstream; known: {', '.join(profiles)}")
    match = profiles[upstream].match(head.method, head.target)
    if isinstance(match, Deny):
        raise _BadInput(f"the gate refuses this route: {match.code}: {match.message}")
    body = _body(value.get("body"))
    document = read_document(head, match, body, _Limits())
    if isinstance(document, Deny):
        raise _BadInput(f"the gate refuses this body unjudged: {document.code}: {document.message}")
    return _explainer(sources).exchange(Exchange("", head, match, "", None, document))


def _body(value: Any) -> bytes:
    return b"" if value is None else json.dumps(value, ensure_ascii=False).encode()


class _Limits:
    """As the gate bounds a body unless it is told otherwise."""

    max_json_depth = MAX_DEPTH
    max_json_keys = MAX_KEYS


_EXPLAIN: dict[str, Callable[[bytes, Sources], Explanation]] = {
    "mcp": _entry,
    "prompt": _prompt,
    "secret": _secret,
    "request": _request,
}


def _as_json(explained: Explanation) -> dict[str, Any]:
    answer: dict[str, Any] = {
        **said(explained.judgement),
        "code": explained.judgement.code,
        "steps": {name: list(texts) for name, texts in explained.steps.items()},
        "rules": rules_as_json(explained.reasons),
        "exemption": "\n".join(exemption_yaml(explained.exemptions)) if explained.exemptions else "",
        "obstacle": explained.obstacle,
    }
    return {**answer, "text": explained.text} if explained.text else answer


def _lines(explained: Explanation) -> Iterator[str]:
    judgement = explained.judgement
    yield f"verdict: {judgement.verdict}" + (f" ({judgement.code})" if judgement.code else "")
    if explained.text:
        yield "without its secrets:"
        yield from _indented([explained.text])
    for name, texts in explained.steps.items():
        if texts:
            yield ""
            yield f"{name}:"
            yield from _indented(texts)
    for reason in explained.reasons:
        yield ""
        yield from reason_lines(reason)
    if explained.exemptions:
        yield ""
        yield "the narrowest exemption that lets it pass:"
        yield from exemption_yaml(explained.exemptions)
    elif explained.obstacle:
        yield ""
        yield explained.obstacle


def _indented(texts: Sequence[str]) -> Iterator[str]:
    for text in texts:
        yield from (f"    {line}" for line in text.split("\n"))
