r"""The words that prompts are judged by, from YAML: one concept a file, its terms per language.

    concept: send
    kind: intent
    description: 'Moving data away.'
    misspelt: true          # letters swapped or missing are taken as well
    words:
      en: >-
        send, upload, post
    shapes:                 # for what has no words; tried where a keyword is in the text
      - keywords: ['://']
        pattern: 'https?://[^\s]{3,200}'

Strict, as rules are: an unknown key, a pattern outside the linear subset or a directory without words is an error.
"""

from functools import lru_cache
from importlib.resources.abc import Traversable
from typing import Final

from herma.content.node import Node
from herma.errors import ConfigError, ContentError, Source
from herma.policy.pattern import PatternError, examine_pattern
from herma.policy.prompt.vocabulary import Concept, Kind, Shape, Vocabulary
from herma.yamlfile import load

__all__ = ["load_vocabulary"]

# A concept in thirty languages is a few pages.
MAX_CONCEPT_BYTES: Final = 128 * 1024
# A vocabulary has some sixty concepts; each is a bit of a mask.
MAX_CONCEPTS: Final = 256

# Languages that put the verb behind its object; `rest` are many languages with a few words each, whatever their order.
VERB_LAST: Final = frozenset(
    {"tr", "az", "kk", "ja", "ko", "hi", "ur", "bn", "ta", "te", "fa", "ka", "hu", "si", "rest"}
)

_KEYS: Final = ("concept", "kind", "description", "misspelt", "words", "shapes")


def load_vocabulary(directory: Traversable) -> Vocabulary:
    """Read every concept of a directory.

    Raises:
        ContentError: a file cannot be used, or there is none.
    """
    entries = (
        sorted(
            (entry for entry in directory.iterdir() if entry.name.endswith(".yaml")),
            key=lambda entry: entry.name,
        )
        if directory.is_dir()
        else []
    )
    if not entries or len(entries) > MAX_CONCEPTS:
        raise ContentError(
            f"expected between 1 and {MAX_CONCEPTS} files with words here", Source(str(directory))
        )
    return _compiled(tuple(_concept(entry) for entry in entries))


# What is in force, and what a reload makes of it; half a second of work where a word changed.
@lru_cache(2)
def _compiled(concepts: tuple[Concept, ...]) -> Vocabulary:
    return Vocabulary(concepts)


def _concept(entry: Traversable) -> Concept:
    source = str(entry)
    try:
        text = entry.read_bytes()
    except OSError as error:
        raise ContentError(f"cannot be read: {error.strerror}", Source(source)) from error
    if len(text) > MAX_CONCEPT_BYTES:
        raise ContentError(f"larger than {MAX_CONCEPT_BYTES} bytes", Source(source))
    try:
        loaded = load(text, source)
    except ConfigError as error:
        raise ContentError(error.problems[0].message, error.problems[0].source) from error
    node = Node(loaded, (), loaded.value, _KEYS, ("concept", "kind", "description"))
    if node.text("concept") != entry.name.removesuffix(".yaml"):
        raise node.error("the concept must be the file's name", "concept")
    concept = Concept(
        node.text("concept"),
        node.choice("kind", Kind, Kind.OBJECT),
        tuple(_terms(node, late=False)),
        tuple(_terms(node, late=True)),
        tuple(
            _shape(item) for item in node.nodes("shapes", ("keywords", "pattern"), ("keywords", "pattern"))
        ),
        node.flag("misspelt"),
    )
    if not (concept.terms or concept.late or concept.shapes):
        raise node.error("a concept has words or shapes")
    return concept


def _terms(node: Node, *, late: bool) -> list[str]:
    terms: dict[str, None] = {}
    for language, listed in node.pairs("words"):
        if (language in VERB_LAST) is not late:
            continue
        for term in listed.split(","):
            if not any(letter.isalnum() or letter in "<[#*" for letter in term):
                raise node.error("an empty term between two commas", "words", language)
            terms[term.strip()] = None
    return list(terms)


def _shape(item: Node) -> Shape:
    pattern = item.text("pattern")
    try:
        examine_pattern(pattern)
    except PatternError as error:
        raise item.error(f"pattern, character {error.column}: {error}", "pattern") from error
    keywords = item.texts("keywords")
    if not keywords or "" in keywords:
        raise item.error(
            "a shape has keywords of one character at least, or it would never be tried", "keywords"
        )
    return Shape(keywords, pattern)
