"""How much the grammar has to try in a script, told from its signs and not from a clock.

Where brackets do not match, the grammar tries each way to go on from each of them, and for an at sign in a word it reads the
word to its end: the time grows with the signs times the characters.
"""

import re

__all__ = ["MAX_CROWD", "crowd"]

# Signs times characters, over all scripts of one entry: about fifty milliseconds. The densest of five hundred real scripts has
# 18 signs in 1000 characters, half of them 4; a script of 2000 characters, ten times what an entry has, stays ten times below.
MAX_CROWD = 1_500_000
# An at sign in a shorter word costs nothing.
_LONG_WORD = re.compile(r"\S{256,}+")


def crowd(script: str) -> int:
    """Weigh a script: its brackets, pipes and here-documents, and the at signs in its long words."""
    signs = max(script.count("("), script.count(")")) + sum(map(script.count, ("|", "<<", "<>", "><")))
    work = signs * len(script)
    if "@" in script:
        work += sum(word.count("@") * len(word) for word in _LONG_WORD.findall(script))
    return work
