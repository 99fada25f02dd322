"""STIX cyber-observable paths and MISP types as drafts: which value is compared in which way.

A comparison that an indicator cannot express is skipped with its reason. One that is only part of a condition may not
refuse by itself: it becomes an alert.
"""

import re
from collections.abc import Iterator

from herma.content.ioc.draft import Draft, Origin, Skipped
from herma.content.ioc.stix_pattern import Comparison, Every, Node, Observed, Some
from herma.policy.address import parse_address
from herma.policy.indicator import Matching

__all__ = ["address_or_name", "digest", "drafts_of"]

# A shorter part of a command line is in every other one.
MIN_COMMAND_CHARS = 8

_PART = "alert only: part of a pattern with further conditions"
_ADDRESSES = {"ipv4-addr:value", "ipv6-addr:value"}
_ENDS = {"network-traffic:dst_ref.value", "network-traffic:src_ref.value"}
_PORTS = {"network-traffic:dst_port", "network-traffic:src_port"}
_TYPES = {"network-traffic:dst_ref.type", "network-traffic:src_ref.type", "network-traffic:protocols"}
_EMAILS = {"email-addr:value", "email-message:from_ref.value", "email-message:sender_ref.value"}
_NAMES = {"file:name", "process:name", "process:image_ref.name", "process:binary_ref.name"}
_PATHS = {"file:path", "directory:path", "file:parent_directory_ref.path"}
_HASHES = re.compile(r"(?:file|artifact|process|x509-certificate):(?:[\w-]+\.){0,4}hashes\.([\w-]{1,32})")
_DIGESTS = {"MD5": "md5", "SHA1": "sha1", "SHA256": "sha256", "SHA512": "sha512"}


def drafts_of(node: Node, origin: Origin, *, part: bool = False) -> Iterator[Draft | Skipped]:
    """Give a draft or a reason for each comparison of a pattern; `part` says that more must hold than the node."""
    match node:
        case Comparison():
            yield from _of_test(node, origin, weak=_PART if part else "")
        case Some(parts=parts):
            for one in parts:
                yield from drafts_of(one, origin, part=part)
        case Observed(part=inner):
            yield from drafts_of(inner, origin, part=True)
        case Every(parts=parts, joined=False):
            for one in parts:
                yield from drafts_of(one, origin, part=True)
        case Every(parts=parts):
            yield from _of_all(parts, origin, part=part)


def _of_all(parts: tuple[Node, ...], origin: Origin, *, part: bool) -> Iterator[Draft | Skipped]:
    tests = [one for one in parts if isinstance(one, Comparison)]
    if any(test.negated for test in tests):
        yield Skipped(origin.id, "an exception (NOT, !=) cannot be expressed")
        return
    digests = [test for test in tests if _HASHES.fullmatch(test.path)]
    if digests:
        # A digest stands for the whole file: what else the pattern says about it narrows nothing.
        for test in digests:
            yield from _of_test(test, origin, weak=_PART if part else "")
        return
    tests = [test for test in tests if test.path not in _TYPES]
    others = [one for one in parts if not isinstance(one, Comparison)]
    if not others and (joined := _host_and_port(tests)) is not None:
        yield from _of_value(joined, origin, weak=_PART if part else "")
        return
    alone = len(tests) + len(others) == 1
    for one in (*tests, *others):
        yield from drafts_of(one, origin, part=part or not alone)


def _host_and_port(tests: list[Comparison]) -> str | None:
    if len(tests) != 2 or any(test.operator != "=" for test in tests):
        return None
    by_path = {test.path: test.values[0] for test in tests}
    host = next(
        (value for path, value in by_path.items() if path in _ADDRESSES | _ENDS | {"domain-name:value"}), None
    )
    port = next((value for path, value in by_path.items() if path in _PORTS), None)
    if host is None or port is None:
        return None
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _of_test(test: Comparison, origin: Origin, weak: str) -> Iterator[Draft | Skipped]:
    if test.negated:
        yield Skipped(origin.id, "an exception (NOT, !=) cannot be expressed")
        return
    if test.operator in {"=", "IN"}:
        for value in test.values:
            yield _equal(test.path, value, origin, weak)
    elif test.operator == "LIKE":
        yield _like(test.path, test.values[0], origin, weak)
    elif test.operator == "MATCHES":
        yield _matches(test.path, test.values[0], origin, weak)
    elif test.operator == "ISSUBSET" and test.path in _ADDRESSES | _ENDS:
        yield Draft(origin, test.values[0], Matching.ADDRESS, "network", weak)
    else:
        yield Skipped(origin.id, f"{test.operator} cannot be expressed for {test.path}")


def _equal(path: str, value: str, origin: Origin, weak: str) -> Draft | Skipped:
    if path in _ADDRESSES:
        return Draft(origin, value, Matching.ADDRESS, "ipv6" if ":" in value else "ipv4", weak)
    if path in _ENDS:
        return address_or_name(value, origin, weak)
    if path == "domain-name:value":
        return Draft(origin, value.lower().removesuffix("."), Matching.DOMAIN, "domain", weak)
    if path == "url:value":
        return Draft(origin, value.strip(), Matching.URL, "url", weak)
    if path in _EMAILS:
        return Draft(origin, value, Matching.EMAIL, "email", weak)
    if path in _NAMES:
        return Draft(origin, value, Matching.EXACT, "file_name", weak)
    if path in _PATHS and value.startswith(("/", "~/")):
        return Draft(origin, value.rstrip("/"), Matching.PATH, "path", weak)
    if path == "process:command_line":
        return _command(value, origin, weak)
    if match := _HASHES.fullmatch(path):
        return digest(match[1], value, origin, weak)
    return Skipped(origin.id, f"{path} cannot be seen in requests")


def _like(path: str, value: str, origin: Origin, weak: str) -> Draft | Skipped:
    inner = value.strip("%")
    if "%" in inner or ("_" in inner and path != "process:command_line"):
        return Skipped(origin.id, f"a wildcard inside the value of {path} cannot be expressed")
    if value == inner:
        return _equal(path, value, origin, weak)
    if path == "domain-name:value" and value == f"%{inner}" and inner.startswith("."):
        return Draft(origin, inner.removeprefix(".").lower(), Matching.DOMAIN, "domain", weak)
    if path == "url:value" and value.startswith(inner):
        return Draft(origin, inner + "*", Matching.URL, "url", weak)
    if path == "process:command_line":
        return _command(inner, origin, weak)
    return Skipped(origin.id, f"this wildcard of {path} cannot be expressed")


def _matches(path: str, value: str, origin: Origin, weak: str) -> Draft | Skipped:
    if path not in {"process:command_line", "url:value", "domain-name:value", *_NAMES}:
        return Skipped(origin.id, f"MATCHES cannot be expressed for {path}")
    # An anchor speaks of the field's end; a request holds the field inside a longer text.
    pattern = value.removeprefix("^")
    if pattern.endswith("$") and not pattern.endswith("\\$"):
        pattern = pattern[:-1]
    weak = weak or "alert only: a pattern of another system"
    return Draft(origin, pattern, Matching.REGEX, "pattern", weak)


def _command(value: str, origin: Origin, weak: str) -> Draft | Skipped:
    if len(value) < MIN_COMMAND_CHARS:
        return Skipped(
            origin.id, f"a command line of less than {MIN_COMMAND_CHARS} characters is in every text"
        )
    return Draft(origin, value, Matching.SUBSTRING, "command", weak)


def digest(algorithm: str, value: str, origin: Origin, weak: str = "") -> Draft | Skipped:
    """Give the draft of a file's digest."""
    kind = _DIGESTS.get(algorithm.upper().replace("-", "").replace("_", ""))
    if kind is None:
        return Skipped(origin.id, f"digests of the kind {algorithm} cannot be compared as text")
    return Draft(origin, value.strip().lower(), Matching.WORD, kind, weak)


def address_or_name(value: str, origin: Origin, weak: str = "") -> Draft:
    """Give the draft of a host that may be either."""
    if parse_address(value.partition("/")[0]) is not None:
        return Draft(origin, value, Matching.ADDRESS, "ipv6" if ":" in value else "ipv4", weak)
    return Draft(origin, value.lower().removesuffix("."), Matching.DOMAIN, "domain", weak)


def _of_value(value: str, origin: Origin, weak: str) -> Iterator[Draft]:
    host = value.rpartition(":")[0].strip("[]")
    is_address = parse_address(host) is not None
    yield Draft(
        origin,
        value if is_address else value.lower(),
        Matching.ADDRESS if is_address else Matching.DOMAIN,
        "host_port",
        weak,
    )
