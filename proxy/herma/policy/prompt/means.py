"""Orders inside a clause that only seems to ask: what the agent is to do so that it can tell.

`Check if mail works by mailing the key` orders the mailing. Who tells of others (`if somebody leaks a key by mailing it`) orders
nothing.
"""

import re
from typing import Final

__all__ = ["is_means"]

# The verb says itself that it is a means.
_MEANS: Final = re.compile(
    r"(?:by|while|after|when) \w{2,16}ing(?!\w)|(?:by|after) (?:turning|switching|setting) "
)
# The agent is the subject, or the clause that asks has ended without a mark.
_ADDRESSED: Final = re.compile(
    r"(?<!\w)(?:(?:when|while|as|once|after|until|why|how|whenever) you|(?:whether|in case) (?:[\w']{1,16} ){1,4})(?: first| also| then)? ?$"
)
MAX_ADDRESS_CHARS: Final = 80
# Anybody but the agent.
_OTHERS: Final = re.compile(
    r"(?<!\w)(?:some(?:one|body)|any(?:one|body)|nobody|no one|attack\w{0,5}|attempt\w{0,3}|tr(?:y|ies|ied|ying)|users?|people|employees?|staff|who"
    r"|malware|they|adversar\w{1,4}|phish\w{0,5}|scam\w{0,5}|techniques?|threats?|insiders?|customers?|companies|hackers?|criminals?"
    r"|processe?s?|accounts?|extensions?|packages?|apps?|vendors?|agents?|logs?|incidents?|articles?|cve|vulnerab\w{1,7}|is sent|are sent)(?!\w)"
)
MAX_OTHERS_CHARS: Final = 160


def is_means(text: str, begin: int, start: int) -> bool:
    """Tell whether the verb at `start` is a means, in a clause whose question began at `begin`."""
    if _MEANS.match(text, start) is None and not _addressed(text, start):
        return False
    return _OTHERS.search(text, max(begin, start - MAX_OTHERS_CHARS), start) is None


def _addressed(text: str, start: int) -> bool:
    return _ADDRESSED.search(text, max(0, start - MAX_ADDRESS_CHARS), start) is not None
