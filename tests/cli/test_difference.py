"""How a configuration changes, without its secrets."""

import pytest

from herma.cli.difference import difference

SECRET = "fake0vLm3RtYw7Zs9PbNc2Qx5"

FORMS = {
    "block": f"auth:\n  keys:\n    - name: a\n      key: {SECRET}\n",
    "flow": f"auth: {{keys: [{{name: a, key: {SECRET}, scopes: [run]}}]}}\n",
    "quoted": f"upstream:\n  key: '{SECRET}'\n",
    "quoted key": f"upstream:\n  'key': {SECRET}\n",
    "block scalar": f"upstream:\n  key: |\n    {SECRET}\n",
    "list under the key": f"upstream:\n  key:\n    - {SECRET}\n",
    "hash": f"auth: {{keys: [{{name: a, hash: '{SECRET}'}}]}}\n",
    "other key": f"redaction:\n  fingerprint_key: {SECRET}\n",
    "broken file": f"auth: [\n  key: {SECRET}\n    x\n",
    "broken file, secret anywhere": f"a: [\n{SECRET}\n",
    "repeated in a comment": f"upstream:\n  key: {SECRET} # was {SECRET}\n",
    "escaped": 'upstream:\n  key: "fake\\x30vLm3RtYw7Zs9PbNc2Qx5"\n',
}


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_secret_of_the_old_file_is_masked(text: str) -> None:
    """However it was written, and whether the line stays or goes."""
    for after in ("new: 1\n", text.replace("name: a", "name: b")):
        shown = "\n".join(line for line in difference(text, after, "f") if not line.startswith("+"))
        assert SECRET not in shown
        assert "vLm3RtYw7Zs9PbNc2Qx5" not in shown


def test_everything_else_is_shown() -> None:
    """A person sees what changes, and where secrets come from."""
    before = "upstream:\n  key_file: my.key\n  key: ${NAME}\nworkers: 1\nx:\n"
    shown = difference(before, before.replace("workers: 1", "workers: 2"), "f")
    assert "   key_file: my.key" in shown
    assert "   key: ${NAME}" in shown
    assert "-workers: 1" in shown
    assert "+workers: 2" in shown


def test_new_file_is_shown_whole() -> None:
    """There is no old one to compare with."""
    assert difference("", "a: 1\n", "f")[-1] == "+a: 1"
