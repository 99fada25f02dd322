"""The file of the model of prompts."""

import json
import zlib
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from herma.content.likeness import LIKENESS_FILE, load_likeness
from herma.errors import ContentError
from herma.policy.prompt.likeness import BUCKETS
from support.likeness_file import likeness_text

WEIGHTS = bytes(BUCKETS)


def written(directory: Path, **changes: Any) -> Path:
    value = json.loads(likeness_text(WEIGHTS, 0.5, 2.0, "made up")) | changes
    (directory / LIKENESS_FILE).write_text(json.dumps(value))
    return directory


def test_what_is_written_is_read(tmp_path: Path) -> None:
    """Weights, scale and bias; no file is no model."""
    assert load_likeness(tmp_path) is None
    model = load_likeness(written(tmp_path))
    assert model is not None
    assert model.reasons("a", [(0, "send")], 2.0) == ("send",)
    assert model.reasons("a", [(0, "send")], 2.1) == ()


def packed(raw: bytes) -> str:
    return b64encode(raw).decode()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"more": 1}, "expected the keys"),
        ({"scale": "1"}, "numbers"),
        ({"bias": None}, "numbers"),
        ({"weights": 1}, "weights of one byte"),
        ({"weights": "?"}, "zlib"),
        ({"weights": packed(b"no zlib")}, "zlib"),
        ({"weights": packed(zlib.compress(WEIGHTS[1:]))}, "weights of one byte"),
        ({"weights": packed(zlib.compress(WEIGHTS + b"0"))}, "weights of one byte"),
        ({"weights": packed(zlib.compress(WEIGHTS)[:-2])}, "weights of one byte"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    """Half a model is none."""
    with pytest.raises(ContentError, match=message):
        load_likeness(written(tmp_path, **changes))


def test_no_json_and_too_much_are_refused(tmp_path: Path) -> None:
    """Before anything is unpacked."""
    (tmp_path / LIKENESS_FILE).write_text("{")
    with pytest.raises(ContentError, match="JSON"):
        load_likeness(tmp_path)
    (tmp_path / LIKENESS_FILE).write_text(" " * (1024 * 1024 + 1))
    with pytest.raises(ContentError, match="larger"):
        load_likeness(tmp_path)
