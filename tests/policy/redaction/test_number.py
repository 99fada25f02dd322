"""Card and account numbers, which are masked on demand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.redaction.number import NumberRule, card, iban, number_open_at
from herma.policy.redaction.redactor import Redactor
from herma.policy.redaction.stream import StreamRedactor
from support.redactor import KEY, masked, rule, rules

# Test numbers that schemes and standards publish.
CARDS = {
    "Visa": "4111 1111 1111 1111",
    "Visa in one run": "4012888888881881",
    "Mastercard": "5555-5555-5555-4444",
    "Mastercard, new range": "2223003122003222",
    "American Express": "3782 822463 10005",
    "Discover": "6011111111111117",
    "Diners": "30569309025904",
    "JCB": "3530111333300000",
    "UnionPay": "6212345678901232",
}
ACCOUNTS = {
    "Germany": "DE89 3704 0044 0532 0130 00",
    "United Kingdom": "GB82WEST12345698765432",
    "Netherlands": "NL91ABNA0417164300",
    "Norway": "NO93 8601 1117 947",
    "Malta": "MT84MALT011000012345MTLCAST001S",
}
OPTIONAL = Redactor(rules(), KEY, ["payment-card", "iban"])


@pytest.mark.parametrize("number", [*CARDS.values(), *ACCOUNTS.values()], ids=[*CARDS, *ACCOUNTS])
def test_a_number_is_masked_when_its_class_is_asked_for(number: str) -> None:
    """In one run or in groups; what stands around it stays."""
    out = OPTIONAL.text(f"pay {number}, thanks").text
    assert out.startswith("pay [")
    assert out.endswith("], thanks")
    assert masked(f"pay {number}, thanks") == f"pay {number}, thanks"


@pytest.mark.parametrize(
    "text",
    [
        "4111 1111 1111 1112",
        "DE88 3704 0044 0532 0130 00",
        "DE89 3704 0044",
        "XX89 3704 0044 0532 0130 00",
        "1111111111111111",
        "7111111111111111",
        "4444444444444444",
        "41111111111111",
        "id 94111111111111111",
        "3.4111111111111111",
        "2026-12-01 10:11:12",
        "DE893704004405320130001",
    ],
)
def test_a_number_without_its_proof_stays(text: str) -> None:
    """Check digit, range and length must be right."""
    assert OPTIONAL.text(text).text == text


def test_one_number_has_one_fingerprint_however_it_is_grouped() -> None:
    """Groups are for the eye."""
    assert OPTIONAL.text("4111-1111-1111-1111").text == OPTIONAL.text("4111111111111111").text


def test_capitals_behind_an_account_number_stay() -> None:
    """The length of the country ends it."""
    assert OPTIONAL.text("DE89 3704 0044 0532 0130 00 AND MORE").text.endswith("] AND MORE")


@given(st.integers(0, 10**11 - 1), st.integers(0, 9))
def test_one_check_digit_of_ten_is_right(body: int, last: int) -> None:
    """For each number, exactly one."""
    digits = f"4012{body:011d}"
    assert sum(bool(card(digits + str(digit))) for digit in range(10)) == 1
    assert card(digits + str(last)) in {"", digits + str(last)}


@given(st.text("ABDEG0123456789 ", max_size=40))
def test_a_proof_takes_a_beginning_or_nothing(text: str) -> None:
    """Whatever the text."""
    assert text.startswith(iban(text))


@pytest.mark.parametrize("number", [CARDS["Visa"], ACCOUNTS["Germany"]])
def test_no_cut_of_a_stream_lets_a_number_through(number: str) -> None:
    """A number in groups is held until it ends."""
    text = f"pay {number} now"
    for cut in range(len(text)):
        stream = StreamRedactor(OPTIONAL)
        out = stream.feed(text[:cut], 0.0) + stream.feed(text[cut:], 0.1) + stream.finish()
        assert out == OPTIONAL.text(text).text


def test_a_text_may_end_inside_a_number() -> None:
    """What could be the first groups is told."""
    assert number_open_at("pay 4111 11") == 4
    assert number_open_at("pay DE89 37") == 4
    assert number_open_at("pay now") == 7


def test_a_rule_names_its_proof() -> None:
    """An unknown one is refused."""
    with pytest.raises(ValueError, match=r"options\.number"):
        NumberRule(rule(pattern="x", number="ean"))
