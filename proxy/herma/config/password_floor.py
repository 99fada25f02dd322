"""The floor for a person's password, by zxcvbn's count of the guesses it takes (Wheeler, USENIX Security 2016).

A stolen hash is tried at some ten thousand guesses a second with hardware worth a house, so what people think of first falls, and
what is long and unusual holds. There are no rules about kinds of characters (NIST SP 800-63B section 3.1.1).
"""

import math

from zxcvbn import zxcvbn

__all__ = ["MIN_BITS", "MIN_CHARACTERS", "password_weakness"]

# NIST SP 800-63B-4 section 3.1.1.2: fifteen where the password is all there is.
MIN_CHARACTERS = 15
# At that speed half of these take a quarter of a century.
MIN_BITS = 44

# The search costs more than the square of the length; of a longer password the better end counts.
_MAX_JUDGED_CHARACTERS = 72
# What people think of in front of this program.
_FIELD_WORDS = ["herma", "hermes", "agent", "dashboard", "gateway", "correct horse battery staple"]

_FIX = "use four unrelated words, or one that a password manager made"


def password_weakness(password: str) -> str | None:
    """Say why a password is refused; None means that it is strong enough. It is not repeated."""
    if len(password) < MIN_CHARACTERS:
        return f"found a password of {len(password)} characters, expected at least {MIN_CHARACTERS}; {_FIX}"
    bits = max(map(_bits, (password[:_MAX_JUDGED_CHARACTERS], password[-_MAX_JUDGED_CHARACTERS:])))
    if bits < MIN_BITS:
        return f"found a password of about {int(bits)} bits, the floor is {MIN_BITS}; {_FIX}"
    return None


def _bits(password: str) -> float:
    return math.log2(float(zxcvbn(password, user_inputs=_FIELD_WORDS)["guesses"]))
