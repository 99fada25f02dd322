"""The file of the model of prompts, as its trainer writes it."""

import base64
import zlib

__all__ = ["likeness_text"]


def likeness_text(weights: bytes, scale: float, bias: float, about: str) -> str:
    """Give the text of the file, which `herma.content.likeness` reads."""
    packed = base64.b64encode(zlib.compress(weights, 9)).decode("ascii")
    # By hand, for the order of the keys and one line for the weights.
    return f'{{\n  "about": "{about}",\n  "scale": {scale!r},\n  "bias": {bias!r},\n  "weights": "{packed}"\n}}\n'
