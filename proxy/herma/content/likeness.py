"""The weights of the model of prompts, from a JSON file: `{"scale": …, "bias": …, "weights": base64 of zlib}`."""

import base64
import binascii
import zlib
from importlib.resources.abc import Traversable
from typing import Final

from herma.errors import ContentError, Source
from herma.policy.jsondoc import JsonError, parse
from herma.policy.prompt.likeness import BUCKETS, Likeness

__all__ = ["LIKENESS_FILE", "load_likeness"]

LIKENESS_FILE: Final = "likeness.json"
# The shipped file has some 150 KiB.
MAX_LIKENESS_BYTES: Final = 1024 * 1024
_KEYS: Final = frozenset({"about", "scale", "bias", "weights"})


def load_likeness(directory: Traversable) -> Likeness | None:
    """Read the weights beside the rules; None where there is no such file.

    Raises:
        ContentError: the file cannot be used.
    """
    file = directory / LIKENESS_FILE
    if not file.is_file():
        return None
    source = Source(str(file))
    raw = file.read_bytes()
    if len(raw) > MAX_LIKENESS_BYTES:
        raise ContentError(f"larger than {MAX_LIKENESS_BYTES} bytes", source)
    try:
        value = parse(raw, max_depth=3, max_keys=32).value
    except JsonError as error:
        raise ContentError(f"not usable as JSON ({error.code})", source) from None
    if not isinstance(value, dict) or set(value) != _KEYS:
        raise ContentError(f"expected the keys {', '.join(sorted(_KEYS))}", source)
    scale, bias = value["scale"], value["bias"]
    if not isinstance(scale, (int, float)) or not isinstance(bias, (int, float)):
        raise ContentError("`scale` and `bias` are numbers", source)
    return Likeness(_weights(value["weights"], source), float(scale), float(bias))


def _weights(text: object, source: Source) -> bytes:
    try:
        packed = base64.b64decode(text if isinstance(text, str) else "", validate=True)
        unpacking = zlib.decompressobj()
        weights = unpacking.decompress(packed, BUCKETS + 1)
    except (binascii.Error, ValueError, zlib.error):
        raise ContentError("`weights` is base64 of a zlib stream", source) from None
    if len(weights) != BUCKETS or not unpacking.eof:
        raise ContentError(f"expected {BUCKETS} weights of one byte", source)
    return weights
