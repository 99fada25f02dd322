"""Claims about `herma.content.vocabulary`."""

from pathlib import Path

import pytest

from herma.content import vocabulary as module
from herma.content.shipped import data_dir
from herma.content.vocabulary import load_vocabulary
from herma.errors import ContentError
from herma.policy.prompt.vocabulary import Kind

GOOD = """concept: send
kind: intent
description: 'Moving data away.'
misspelt: true
words:
  en: >-
    send, upload it,
    post
  tr: 'gönder*'
shapes:
  - keywords: ['://']
    pattern: 'https?://[a-z]{1,20}'
"""


def _write(directory: Path, text: str, name: str = "send.yaml") -> Path:
    (directory / name).write_text(text, encoding="utf-8")
    return directory


def test_a_concept_is_read_with_all_that_it_says(tmp_path: Path) -> None:
    """Terms of languages that put the verb last are kept apart."""
    (concept,) = load_vocabulary(_write(tmp_path, GOOD)).concepts
    assert (concept.name, concept.kind, concept.misspelt) == ("send", Kind.INTENT, True)
    assert concept.terms == ("send", "upload it", "post")
    assert concept.late == ("gönder*",)
    assert concept.shapes[0].keywords == ("://",)


WRONG = {
    "an unknown key": GOOD + "level: high\n",
    "a missing key": "concept: send\nkind: intent\nwords: {en: send}\n",
    "an unknown kind": GOOD.replace("intent", "verb"),
    "another name": GOOD.replace("concept: send", "concept: sned"),
    "an empty term": GOOD.replace("upload it,", "upload it, ,"),
    "a bad pattern": GOOD.replace("{1,20}", "+"),
    "neither words nor shapes": "concept: send\nkind: intent\ndescription: 'x'\n",
    "a shape without keywords": GOOD.replace("['://']", "[]"),
    "an empty keyword": GOOD.replace("['://']", "['']"),
    "no YAML": "concept: [",
    "no mapping": "- send\n",
}


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG.keys())
def test_a_file_that_cannot_be_used_is_an_error(tmp_path: Path, text: str) -> None:
    """Nothing is skipped; the place is named."""
    with pytest.raises(ContentError):
        load_vocabulary(_write(tmp_path, text))


def test_a_vocabulary_is_there_and_has_a_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No directory, no file, too many files and too large ones are errors."""
    with pytest.raises(ContentError):
        load_vocabulary(tmp_path / "none")
    with pytest.raises(ContentError):
        load_vocabulary(tmp_path)
    _write(tmp_path, GOOD)
    with monkeypatch.context() as patch:
        patch.setattr(module, "MAX_CONCEPT_BYTES", 10)
        with pytest.raises(ContentError):
            load_vocabulary(tmp_path)
    monkeypatch.setattr(module, "MAX_CONCEPTS", 0)
    with pytest.raises(ContentError):
        load_vocabulary(tmp_path)


def test_a_file_that_cannot_be_opened_is_an_error(tmp_path: Path) -> None:
    """A directory with the name of a concept is none."""
    (tmp_path / "send.yaml").mkdir()
    with pytest.raises(ContentError):
        load_vocabulary(tmp_path)


def test_the_shipped_words_have_the_languages_of_the_world() -> None:
    """Every concept that is said in words is said in English; orders are known in twenty languages and more."""
    concepts = {concept.name: concept for concept in load_vocabulary(data_dir("rules/cron/words")).concepts}
    for name in ("ignore", "send", "delete", "secret", "instructions", "tell"):
        assert len(concepts[name].terms) + len(concepts[name].late) > 150
