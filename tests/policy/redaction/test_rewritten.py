"""What stands in place of the strings of a document."""

import json

from herma.policy.redaction.rewritten import Rewritten, with_copies
from support.redactor import redactor

VALUE = "Zk7pQ2vW9sXe"
KNOWN = {VALUE: ("[password:01234567]", "password")}


def test_copies_are_masked_beside_and_inside_what_was_rewritten() -> None:
    """Not where somebody else masks, nor where a string is rewritten whole."""
    text = f'{{"a":"{VALUE}","b":"{VALUE} x","c":"{VALUE}"}}'
    change = Rewritten(6, 18, f"[x] {VALUE} y {VALUE}", (), "/a")
    found = with_copies(text, [change], KNOWN, [(40, 54)])
    assert found[0].written == "[x] [password:01234567] y [password:01234567]"
    (copy,) = found[1:]
    assert text[copy.start : copy.end] == VALUE
    assert copy.written == "[password:01234567]"
    assert [finding.rule_id for finding in copy.findings] == ["password"]


def test_a_document_of_copies_is_masked_in_linear_time_and_stays_a_document() -> None:
    """However often a string repeats a value."""
    raw = json.dumps({"password": VALUE, "log": f"{VALUE} " * 500}).encode()
    out, _ = redactor().json(raw)
    assert VALUE not in out.decode()
    assert json.loads(out)["log"].count("[") == 500
