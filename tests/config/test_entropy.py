"""How strong a key is."""

import base64
import random
import string
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.config.entropy import MAX_JUDGED_CHARACTERS, estimate_bits

FLOOR_BITS = 64
# Fixed, so that the figures below are the same at every run.
SEED = 20260601

# The estimates when this table was written; a change of the estimator shows here.
MEASURED = {
    "aaaaaaaaaaaaaaaa": 6,
    "aaaaaaaaaaaaaaab": 11,
    "0000000000000001": 11,
    "1234567890123456": 11,
    "0123456789abcdef": 11,
    "fedcba9876543210": 14,
    "abcdefghijklmnopqrstuvwxyz": 6,
    "ABCDEFGHIJKLMNOP": 6,
    "qwertyuiopasdfgh": 11,
    "1qaz2wsx3edc4rfv": 12,
    "zxcvbnmasdfghjkl": 13,
    "password12345678": 11,
    "Summer2026Summer2026": 23,
    "Summer2026Winter2025": 30,
    "correcthorsebatterystaple": 43,
    "correct-horse-battery-staple": 50,
    "monkeydragonbaseball": 16,
    "x7Kqx7Kqx7Kqx7Kq": 21,
    "abababbabaabbaba": 28,
    "deadbeefdeadbeef": 11,
    "cafebabedeadbeef": 11,
    "1111222233334444": 25,
    "112233445566778899": 24,
    "20261011201012": 46,
    "2026-10-11-2026-10-12": 27,
    "3141592653589793": 36,
    "P@ssw0rdP@ssw0rd1": 18,
    "p4ssw0rd-f0r-ag3nt": 26,
    "Tr0ub4dor&3Tr0ub4dor&3": 47,
    "racecarracecarracecar": 18,
    "hermes-agent-api-key": 29,
    "my-secret-api-key-2026": 18,
    "sommerregenwolke": 41,
    "liebeistallesmein": 44,
    "ilovemydogandcat": 41,
    "MyDogBarksAtNight!": 46,
    "lorem-ipsum-dolor-sit-amet": 61,
    "sk-aaaaaaaaaaaaaaaa": 27,
}


@pytest.mark.parametrize(("key", "bits"), MEASURED.items(), ids=MEASURED)
def test_key_that_a_person_makes_stays_below_the_floor(key: str, bits: int) -> None:
    """Repetitions, sequences, walks, words, dates, look-alikes and phrases are seen for what they are."""
    assert estimate_bits(key) == pytest.approx(bits, abs=1)
    assert estimate_bits(key) < FLOOR_BITS


def test_sixteen_hex_digits_without_a_pattern_have_64_bits() -> None:
    """The weakest random key that is accepted just passes."""
    assert estimate_bits("8f3a1c07e5b92d64") == 64.0


def hex_16(source: random.Random) -> str:
    return "".join(source.choices("0123456789abcdef", k=16))


def base64_16_bytes(source: random.Random) -> str:
    return base64.urlsafe_b64encode(source.randbytes(16)).decode().rstrip("=")


def hex_32(source: random.Random) -> str:
    return source.randbytes(16).hex()


def uuid_4(source: random.Random) -> str:
    return str(uuid.UUID(int=source.getrandbits(128), version=4))


def prefixed(source: random.Random) -> str:
    return "sk-proj-" + "".join(source.choices(string.ascii_letters + string.digits, k=32))


# Kind of key, how many are made, how many of them may be refused: sixteen hex digits have no bit to spare.
RANDOM = {
    "16 hex digits": (hex_16, 1500, 15),
    "16 bytes in base64": (base64_16_bytes, 300, 0),
    "16 bytes in hex": (hex_32, 100, 0),
    "UUID": (uuid_4, 100, 0),
    "key with a maker's prefix": (prefixed, 100, 0),
}


@pytest.mark.parametrize(("make", "count", "allowed"), RANDOM.values(), ids=RANDOM)
def test_random_key_is_not_taken_for_a_pattern(make, count: int, allowed: int) -> None:
    """Chance makes `11` and `abc` in every key; less than one random key in a hundred is refused for it."""
    source = random.Random(SEED)
    assert sum(estimate_bits(make(source)) < FLOOR_BITS for _ in range(count)) <= allowed


def test_phrase_of_six_random_words_passes() -> None:
    """A long phrase is a good key; four words are not."""
    assert estimate_bits("gravel-oxbow-tundra-pickle-sextant-mohair") >= FLOOR_BITS


def test_stranger_among_hex_digits_does_not_make_them_worth_more() -> None:
    """Twelve hex digits and four equal signs have little more than twelve hex digits."""
    assert estimate_bits("8f3a1c07e5b9!!!!") < FLOOR_BITS


def test_uuid_is_worth_less_than_its_digits() -> None:
    """Version and variant are known."""
    assert estimate_bits("8f3a1c07-e5b9-4d64-9a2f-b07c5e81d936") == 122.0


def test_long_key_is_judged_by_its_better_end() -> None:
    """Work is bounded, and a weak beginning does not hide a strong end."""
    strong = random.Random(SEED).randbytes(40).hex()
    assert estimate_bits("a" * 100_000 + strong) >= 250
    assert estimate_bits("a" * 100_000) < FLOOR_BITS


def test_empty_key_has_no_bits() -> None:
    """Nothing is worth nothing, with a prefix too."""
    assert estimate_bits("") == 0.0


@given(st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), max_size=24))
def test_estimate_is_never_more_than_the_characters_can_hold(key: str) -> None:
    """No key is worth more than printable characters drawn at random, and none less than nothing."""
    assert 0.0 <= estimate_bits(key) <= len(key) * 6.5546


@given(st.text("abcdef0123456789", min_size=1, max_size=6), st.integers(min_value=4, max_value=12))
def test_repetition_adds_little(block: str, times: int) -> None:
    """A block of up to six characters is no key, however often it is repeated."""
    assert estimate_bits((block * times)[:MAX_JUDGED_CHARACTERS]) < FLOOR_BITS


@given(st.text(max_size=200))
def test_any_text_is_judged(key: str) -> None:
    """No text makes the estimate fail."""
    assert estimate_bits(key) >= 0.0
