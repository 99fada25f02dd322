"""The words of the first look: what must stand in a text, plain, in base64 or in hex, if it holds an indicator."""

import base64
import re
from collections.abc import Iterator
from ipaddress import IPv4Network, IPv6Network
from itertools import chain, product

from herma.policy.address import spellings
from herma.policy.indicator.indicator import Indicator, Matching
from herma.policy.indicator.literal import required_literal
from herma.policy.indicator.matching import AS_PLACES
from herma.policy.indicator.name import ascii_name, unicode_name
from herma.policy.indicator.network import parse_network
from herma.policy.indicator.url import parse_locator, place_of
from herma.policy.text.views import views
from herma.policy.wildcard_dns import written_in_names

__all__ = ["ODD_HOST", "ODD_HOST_BYTES", "ODD_NUMBER", "encoded_words", "words"]

# A host of digits that is no dotted quad: an address in an unusual spelling, of which there are too many to list.
_ODD = r"://(?:[^/\s@]{1,64}@)?(?:\[[0-9a-f:.]{2,45}\]|0x[0-9a-f]|0[0-7]|[0-9]{1,3}(?:\.[0-9]{1,3}){0,2}\.?[0-9]{4})"
ODD_HOST = re.compile(_ODD)
ODD_HOST_BYTES = re.compile(_ODD.encode())
# The same without a scheme: hex and octal parts, a part above 255, one number for all four bytes.
ODD_NUMBER = re.compile(
    r"(?<!\w)(?:0x[0-9a-f]|0[0-7]{1,11}\.[0-9]|[0-9]{1,3}\.[0-9]{4,8}(?!\w)|[0-9]{8,10}(?!\w)|0[0-7]{9,15}(?!\w))"
)
# Shorter words are in every text.
_SHORTEST = 4
# Four digits of a larger network are in every other digest.
_HEX_PARTS = 3
# Shorter ones share their base64 with too much else.
_SHORTEST_ENCODED = 6
# Parts of a name that are joined in every way: 3 to the power of their joints.
_MAX_JOINED = 4


def words(indicator: Indicator) -> tuple[str, ...]:
    """Give lower-case words one of which stands in every text that holds the indicator unencoded."""
    return tuple(dict.fromkeys(word for word in _plain(indicator) if len(word) >= _SHORTEST))


def encoded_words(indicator: Indicator) -> Iterator[bytes]:
    """Give the same for raw bytes, with what base64 and hex make of the words; lower-case, like the bytes looked at."""
    value = indicator.value.lower()
    for word in words(indicator):
        raw = word.encode()
        yield raw
        yield raw.hex().encode()
        if len(raw) >= _SHORTEST_ENCODED:
            written = indicator.value.encode() if word == value else raw
            yield from (form.lower() for form in _base64_forms(written))


def _plain(indicator: Indicator) -> Iterator[str]:
    value = indicator.value.lower()
    match indicator.matching:
        case Matching.ADDRESS:
            yield from _of_network(parse_network(value)[0])
        case Matching.DOMAIN:
            yield from _of_name(value.partition(":")[0])
        case Matching.URL:
            yield from _of_host(parse_locator(indicator.value).host)
        case Matching.PATH:
            # The last part stays the same however the path is written.
            yield "/" + value.rpartition("/")[2]
        case Matching.REGEX:
            yield required_literal(indicator.value)
        case Matching.PACKAGE if indicator.ecosystem == "pypi":
            # One package under three spellings.
            yield from _joined(re.split(r"[-_.]+", value))
        case _:
            yield value
            if indicator.matching in AS_PLACES and place_of(value) is not None:
                # Each part stays the same however what joins them is written; the longest is the rarest.
                yield max(value.split("/"), key=len)


def _joined(parts: list[str]) -> Iterator[str]:
    """Join the parts of a name in each way that is the same name: `a-b_c` too."""
    if len(parts) > _MAX_JOINED:
        yield max(parts, key=len)
        return
    for separators in product("-_.", repeat=len(parts) - 1):
        yield parts[0] + "".join(chain.from_iterable(zip(separators, parts[1:], strict=True)))


def _of_name(name: str) -> Iterator[str]:
    name = ascii_name(name)
    yield name
    if "xn--" in name:
        # As people write it, and as it looks once look-alike letters are folded.
        yield from views(unicode_name(name)).each()


def _of_host(host: str) -> Iterator[str]:
    try:
        network, _ = parse_network(host)
    except ValueError:
        yield from _of_name(host)
    else:
        yield from _of_network(network)


def _of_network(network: IPv4Network | IPv6Network) -> Iterator[str]:
    if isinstance(network, IPv6Network):
        yield from _of_ipv6(network)
    elif network.prefixlen == 32:
        yield from spellings(str(network.network_address))
        yield from written_in_names(network.network_address)
    else:
        parts = str(network.network_address).split(".")[: network.prefixlen // 8]
        for separator in ".-":
            yield separator.join(parts) + separator
            yield separator + separator.join(reversed(parts))
        if len(parts) >= _HEX_PARTS:
            yield f"{int(network.network_address):08x}"[: len(parts) * 2]
            yield from _beginnings(network)


def _beginnings(network: IPv4Network) -> Iterator[str]:
    """Give how the addresses of a small network begin in the spellings that hide its parts."""
    numbers = [int(network.network_address), int(network.broadcast_address)]
    a, b, c, _ = network.network_address.packed
    # Without the last digits, which are those of the single addresses: octal, two parts, three parts, IPv6. A decimal number is
    # an address in a URL only, where `ODD_HOST` sees it, and behind a command, where it is written as one before it is looked for.
    yield from (f"0{held:o}" for held in range(numbers[0] >> 6, (numbers[1] >> 6) + 1))
    for before, mask in ((f"{a}.", 0xFFFFFF), (f"{a}.{b}.", 0xFFFF)):
        first, last = ((number & mask) // 100 for number in numbers)
        yield from (f"{before}{held}" for held in range(first, last + 1))
    yield f"{a << 8 | b:x}:{c:x}"
    yield f"{a << 8 | b:x}:{c:02x}"
    yield ".".join(f"0x{part:x}" for part in (a, b, c)) + "."
    yield ".".join(f"0{part:o}" for part in (a, b, c)) + "."


def _of_ipv6(network: IPv6Network) -> Iterator[str]:
    yield from (form for word in _groups(network) for form in (word, word.replace(":", "-")))


def _groups(network: IPv6Network) -> Iterator[str]:
    # The first two groups of a network of 32 bits or more, with the leading zeros that a writer may add.
    first, second, *_ = network.network_address.exploded.split(":")
    short = second.lstrip("0")
    if not short:
        yield from (f"{first}::", *(f"{first}:{'0' * length}:" for length in range(1, 5)))
    else:
        yield from (f"{first}:{short.rjust(length, '0')}" for length in range(len(short), 5))


def _base64_forms(raw: bytes) -> Iterator[bytes]:
    """Give what base64 makes of `raw` at each of the three alignments, without the characters its neighbours change."""
    for offset in range(3):
        form = base64.b64encode(b"\0" * offset + raw)
        start = (0, 2, 3)[offset]
        whole = (len(raw) + offset) * 8 // 6
        yield form[start:whole]
