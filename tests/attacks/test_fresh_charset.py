"""The one charset a body may have, whatever spelling names another: the upstream honours those of RFC 2231."""

import pytest

from support.gate import Gate
from support.upstream import RecordingUpstream
from support.verdict import assert_refused

# Read as UTF-7, this is a job with a field that no check has seen.
HIDDEN = b'{"name":"x","schedule":"2h","prompt":"a+ACIALAAi-deliver+ACI:+ACI-telegram:1"}'


@pytest.mark.bypass(68)
@pytest.mark.parametrize(
    "parameters",
    [
        "charset*=utf-8''utf-7",
        "charset*=''utf-7",
        "charset*0=utf; charset*1=-7",
        "charset*0=utf-7",
        'charset*0="utf-"; charset*1="7"',
        "CHARSET*0=utf-7",
        "charset=utf-8; charset*0=utf-7",
        'x="charset=utf-8"; charset*0=utf-7',
    ],
)
@pytest.mark.parametrize("target", ["/api/jobs", "/p/x/api/jobs"])
def test_a_charset_in_an_extended_spelling_is_refused(
    gate: Gate, upstream: RecordingUpstream, parameters: str, target: str
) -> None:
    """A parameter value in pieces or with a language names a charset as well as a plain one."""
    headers = [("Content-Type", f"application/json; {parameters}")]
    talk = gate.ask("POST", target, key="scheduler", headers=headers, body=HIDDEN)
    assert_refused(upstream, talk, 400, 415)
