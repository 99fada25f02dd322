"""Numbers that prove themselves: payment cards by the check digit of Luhn, accounts by the check digits of ISO 13616.

They are optional classes, off by default: an order number in sixteen digits passes the check of Luhn one time in ten. A number
without its proof, or outside the ranges that are issued, stays.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from herma.policy.redaction.hit import Certainty, Hit
from herma.policy.rule import Rule

__all__ = ["NumberRule", "card", "iban", "number_open_at"]

# Issuer ranges of ISO/IEC 7812 with the lengths in use: first digits from, to, and the numbers of digits.
_ISSUERS: Final = (
    ("4", "4", (13, 16, 19)),
    ("51", "55", (16,)),
    ("2221", "2720", (16,)),
    ("34", "34", (15,)),
    ("37", "37", (15,)),
    ("6011", "6011", (16, 17, 18, 19)),
    ("644", "659", (16, 17, 18, 19)),
    ("300", "305", (14, 16, 19)),
    ("36", "36", (14, 16, 19)),
    ("38", "39", (14, 16, 19)),
    ("3528", "3589", (16, 17, 18, 19)),
    ("62", "62", (16, 17, 18, 19)),
    ("2200", "2204", (16, 17, 18, 19)),
    ("5018", "5038", (12, 13, 14, 15, 16, 17, 18, 19)),
    ("6759", "6763", (12, 13, 14, 15, 16, 17, 18, 19)),
    ("9792", "9792", (16,)),
)
# Lengths of the IBAN registry (ISO 13616), release 100.
_IBAN_COUNTRIES: Final = (
    "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 "
    "FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 "
    "LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 "
    "SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30"
)
_IBAN_LENGTHS: Final[Mapping[str, int]] = {entry[:2]: int(entry[2:]) for entry in _IBAN_COUNTRIES.split()}
_OPEN: Final = re.compile(
    r"(?:(?<![A-Za-z0-9])[A-Z]{1,2}(?:[0-9][A-Z0-9 ]{0,44})?|[0-9][0-9 -]{0,44})$", re.ASCII
)
# The longest account number in groups of four.
MAX_NUMBER_CHARS: Final = 48


def card(written: str) -> str:
    """Give the part of a match that is a card number, all or nothing."""
    digits = written.replace(" ", "").replace("-", "")
    issued = any(
        first <= digits[: len(first)] <= last and len(digits) in lengths for first, last, lengths in _ISSUERS
    )
    return written if issued and len(set(digits)) > 1 and _luhn(digits) else ""


def _luhn(digits: str) -> bool:
    """Check the last digit: every second digit from the right is doubled, and the digits of the products are added."""
    total = sum(map(int, digits[-1::-2])) + sum(sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return total % 10 == 0


def iban(written: str) -> str:
    """Give the part of a match that is an account number; what stands behind it in capitals is cut off."""
    length = _IBAN_LENGTHS.get(written[:2], 0)
    end = count = 0
    while count < length and end < len(written):
        count += written[end] != " "
        end += 1
    compact = written[:end].replace(" ", "")
    if not length or len(compact) != length or written[end : end + 1].isalnum():
        return ""
    # Letters count as two digits, A is 10; the country and the check digits move to the end.
    rest = int("".join(str(int(character, 36)) for character in compact[4:] + compact[:4])) % 97
    return written[:end] if rest == 1 else ""


_PROOFS: Final[Mapping[str, Callable[[str], str]]] = {"card": card, "iban": iban}


class NumberRule:
    """A rule whose pattern says where a number may stand, and whose proof says whether it is one."""

    def __init__(self, rule: Rule) -> None:
        self.id = rule.id
        self._pattern = re.compile(rule.pattern, re.ASCII)
        kind = str(rule.options.get("number"))
        if kind not in _PROOFS:
            raise ValueError(f"rule {rule.id}: options.number is one of {', '.join(_PROOFS)}")
        self._proof = _PROOFS[kind]

    def everywhere(self, text: str) -> Iterator[Hit]:
        """Find every number of a text."""
        for found in self._pattern.finditer(text):
            written = self._proof(found.group())
            if written:
                end = found.start() + len(written)
                compact = written.replace(" ", "").replace("-", "")
                yield Hit(found.start(), end, self.id, compact, Certainty.FORMAT)


def number_open_at(text: str) -> int:
    """Find where a number begins that the end of a text may have cut; its end when there is none."""
    found = _OPEN.search(text, max(0, len(text) - MAX_NUMBER_CHARS))
    return found.start() if found else len(text)
