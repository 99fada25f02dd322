"""Letters of several scripts in one word, of which a reader sees one."""

import re
import unicodedata

__all__ = ["mixes_scripts"]


def mixes_scripts(text: str) -> bool:
    """Tell whether one label has Latin letters beside look-alikes of another script (Unicode TR 39, section 5.1)."""
    if text.isascii():
        return False
    for label in re.split(r"[.\u3002]", unicodedata.normalize("NFKC", text)):
        scripts = {unicodedata.name(letter, "").split(" ")[0] for letter in label if letter.isalpha()}
        if "LATIN" in scripts and scripts & {"CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE"}:
            return True
    return False
