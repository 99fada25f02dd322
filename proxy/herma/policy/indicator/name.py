"""Host names by label: one spelling for `Bücher.Example.`, `bücher。example` and `xn--bcher-kva.example`."""

import unicodedata

__all__ = ["ascii_name", "unicode_name"]

# RFC 1035 section 2.3.4. Longer ones are no host names; writing them in punycode would take quadratic time.
MAX_NAME_CHARS = 253
MAX_LABEL_CHARS = 63

_DOTS = str.maketrans("\u3002\uff0e\uff61", "...")


def ascii_name(name: str) -> str:
    """Write a name in lower-case ASCII labels, without a dot at the end; one that is no host name comes back as it is."""
    if name.isascii():
        return name.lower().removesuffix(".")
    plain = unicodedata.normalize("NFKC", name.translate(_DOTS)).lower().removesuffix(".")
    labels = plain.split(".")
    if len(plain) > MAX_NAME_CHARS or any(len(label) > MAX_LABEL_CHARS for label in labels):
        return plain
    return ".".join(label if label.isascii() else "xn--" + _punycode(label) for label in labels)


def _punycode(label: str) -> str:
    return label.encode("punycode", "replace").decode("ascii")


def unicode_name(name: str) -> str:
    """Write an ASCII name as it is shown to people; labels that are no punycode stay as they are."""
    return ".".join(_shown(label) for label in name.split("."))


def _shown(label: str) -> str:
    if not label.startswith("xn--") or len(label) > MAX_LABEL_CHARS:
        return label
    try:
        return label[4:].encode("ascii").decode("punycode")
    except UnicodeError:
        return label
