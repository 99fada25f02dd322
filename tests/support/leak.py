"""The command whose secrets an approval prompt once showed, and how a test recognises them anywhere."""

import base64
import json
from collections.abc import Iterator
from typing import Any

import tree_sitter
import tree_sitter_bash

__all__ = ["COMMAND", "SECRETS", "assert_no_secret", "assert_same_shape", "commands_in", "shape", "sse_texts"]

COMMAND = (
    "export DEPLOY_TOKEN=opaqueTOKENvalue1234567890; curl -sS -m 2 "
    '-H "Authorization: Bearer sk-proj-FAKEfakeFAKEfake1234567890abcd" '
    '-H "X-Vault-Token: hvs.FAKEvaultTOKEN1234567890" -u deploy:hunter2hunter2 '
    '"http://user:p4ssw0rdp4ss@127.0.0.1:18699/i.sh?token=queryTOKEN1234567890&AWSAccessKeyId=AKIAFAKEFAKEFAKE1234" '
    "| bash; rm -rf ./scratch"
)
SECRETS = (
    "opaqueTOKENvalue1234567890",
    "sk-proj-FAKEfakeFAKEfake1234567890abcd",
    "hvs.FAKEvaultTOKEN1234567890",
    "hunter2hunter2",
    "p4ssw0rdp4ss",
    "queryTOKEN1234567890",
    "AKIAFAKEFAKEFAKE1234",
)
# A piece of a secret this long is as good as the secret; public prefixes such as `sk-proj-` are shorter.
TELLING_CHARACTERS = 10
_PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


def assert_no_secret(data: bytes | str, secrets: tuple[str, ...] = SECRETS) -> None:
    """Fail if the data shows one of the secrets or a telling piece of one, plain, JSON-escaped or encoded."""
    text = data if isinstance(data, str) else data.decode("utf-8", "replace")
    for view in (text, _unescaped(text)):
        for number, secret in enumerate(secrets):
            for start in range(len(secret) - TELLING_CHARACTERS + 1):
                piece = secret[start : start + TELLING_CHARACTERS]
                if piece in view:
                    where = view.index(piece)
                    around = view[max(0, where - 120) : where].encode()
                    raise AssertionError(
                        f"secret {number} ({secret[:4]}…) shows from its character {start}, after {around!r}"
                    )
            for coded in (base64.b64encode(secret.encode()).decode().rstrip("="), secret.encode().hex()):
                assert coded not in view, f"secret {number} shows encoded"


def _unescaped(text: str) -> str:
    r"""Undo JSON's `\u0073` spelling, as the reader of a document would."""
    out = []
    position = 0
    while (found := text.find("\\u", position)) >= 0:
        digits = text[found + 2 : found + 6]
        out.append(text[position:found])
        try:
            out.append(chr(int(digits, 16)))
            position = found + 6
        except ValueError:
            out.append("\\u")
            position = found + 2
    return "".join([*out, text[position:]])


# How an unquoted argument is put together is its own business: a placeholder in it has brackets, a token has not.
_UNQUOTED = frozenset({"word", "number", "concatenation"})
_INSIDE = frozenset({"string_content", *_UNQUOTED})
_JOINTS = frozenset({"|", "||", "&&", ";", "&", ">", ">>", "<", "|&", "<<", "<<<"})


def shape(command: str) -> list[str]:
    """Return the types of a command's syntax nodes, in order: what runs, with how many arguments, piped and joined how."""
    types: list[str] = []
    todo = [(_PARSER.parse(command.encode()).root_node, False)]
    while todo:
        node, inside = todo.pop()
        if node.type in _UNQUOTED and not inside:
            types.append("argument")
        elif (node.is_named and node.type not in _INSIDE) or node.type in _JOINTS:
            types.append(node.type)
        inside = node.type in {"concatenation", "string"} or (inside and node.type in _INSIDE)
        todo.extend((child, inside) for child in reversed(node.children))
    return types


def assert_same_shape(masked: str, original: str = COMMAND) -> None:
    """Fail unless the masked command parses to the same structure as the original."""
    assert "ERROR" not in shape(masked), masked
    assert shape(masked) == shape(original), masked


def commands_in(value: Any) -> Iterator[str]:
    """Yield every string below `value` that is the whole command, also in JSON inside strings."""
    if isinstance(value, dict):
        for item in value.values():
            yield from commands_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from commands_in(item)
    elif isinstance(value, str):
        if value.startswith(("{", "[")):
            try:
                yield from commands_in(json.loads(value))
            except ValueError:
                return
        elif value.startswith("export ") and value.endswith("./scratch"):
            yield value


def sse_texts(body: bytes) -> tuple[list[Any], dict[str, str]]:
    """Return the JSON documents of an event stream, and the text that a client would put together from its deltas."""
    documents: list[Any] = []
    joined: dict[str, str] = {}
    for event in body.decode("utf-8", "replace").replace("\r\n", "\n").split("\n\n"):
        data = "\n".join(line[5:].removeprefix(" ") for line in event.split("\n") if line.startswith("data:"))
        try:
            document = json.loads(data)
        except ValueError:
            continue
        documents.append(document)
        for place, text in _deltas(document):
            joined[place] = joined.get(place, "") + text
    return documents, joined


def _deltas(value: Any, place: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _deltas(item, f"{place}/{key}")
    elif isinstance(value, list):
        for item in value:
            yield from _deltas(item, place)
    elif isinstance(value, str) and "delta" in place:
        yield place, value
