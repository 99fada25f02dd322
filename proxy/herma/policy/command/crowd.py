"""How much the grammar has to try in a script, told from its signs and not from a clock.

Where brackets do not match, the grammar tries each way to go on from each of them, and for an at sign in a word it reads the
word to its end: the time grows with the signs times the characters.
"""

import re

__all__ = ["MAX_CROWD", "crowd", "unmatched"]

# Signs times characters, over all scripts of one entry: about fifty milliseconds. The densest of five hundred real scripts has
# 18 signs in 1000 characters, half of them 4; a script of 2000 characters, ten times what an entry has, stays ten times below.
MAX_CROWD = 1_500_000
# A redirection behind an assignment that has no value counts twice.
_SIGNS = ("|", "<<", "<>", "><", ";&", "=<", "=<")
# An at sign in a shorter word costs nothing.
_LONG_WORD = re.compile(r"\S{256,}+")


def crowd(script: str) -> int:
    """Weigh a script: its brackets, pipes, here-documents and other signs, and the at signs in its long words."""
    signs = max(script.count("("), script.count(")")) + sum(map(script.count, _SIGNS))
    work = signs * len(script)
    if "@" in script:
        work += sum(word.count("@") * len(word) for word in _LONG_WORD.findall(script))
    return work


def unmatched(script: str) -> int:
    """Count the brackets that have no other half: each takes the grammar as long as sixteen characters, in a short script too."""
    return abs(script.count("(") - script.count(")"))
