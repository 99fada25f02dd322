"""Which alphabet a key is drawn from."""

import math

import pytest

from herma.config.alphabet import class_bits, prices

SMALLEST = {
    "digits": ("8305917264", 10),
    "hex": ("8f3a1c07e5b92d64", 16),
    "upper hex": ("8F3A1C07E5B92D64", 16),
    "lower case": ("qhzvxwkjtm", 26),
    "base32": ("QHZV2XWK3JTM", 32),
    "letters and digits": ("qhzv8xwk3jtm", 36),
    "mixed case": ("qHzVxWkJtM", 52),
    "base62": ("qHzV8xWk3JtM", 62),
    "base64url": ("qHzV8-xWk3_JtM", 64),
    "base64": ("qHzV8+xWk3/JtM", 64),
    "printable": ("qHzV8+xWk3-J%M", 94),
}


@pytest.mark.parametrize(("key", "size"), SMALLEST.values(), ids=SMALLEST)
def test_character_is_worth_its_smallest_alphabet(key: str, size: int) -> None:
    """A hex digit is worth four bits, not six and a half."""
    assert sum(prices(key, 8.0)[0]) == pytest.approx(len(key) * math.log2(size))


def test_strangers_are_priced_one_by_one() -> None:
    """A few signs among hex digits do not lift the price of the digits."""
    sheet = prices("8f3a1c07e5b92d648f3a!!", 8.0)[-1]
    assert sheet[0] == 4.0
    assert sheet[-2] > 10
    assert sheet[-1] < 5


def test_few_different_characters_are_worth_little() -> None:
    """Two characters in any order hold one bit a place."""
    assert sum(prices("a%%a%aa%a%%%aa%a", 8.0)[-1]) < 30


@pytest.mark.parametrize(("character", "size"), [("7", 10), ("q", 26), ("Q", 26), ("%", 32), ("é", 32)])
def test_class_of_a_character(character: str, size: int) -> None:
    """People choose a class first and a character then."""
    assert class_bits(character) == math.log2(size)
