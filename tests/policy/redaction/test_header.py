"""Headers with a grammar of their own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.redaction.header import authorization, bare_scheme, cookie
from herma.policy.redaction.hit import Certainty
from herma.policy.redaction.name import Names
from herma.policy.redaction.work import Work
from support.redactor import masked, redactor

S = "F4keK3yF0rT3stF4keK3y"
CASES = {
    f"Authorization: Bearer {S}": "Authorization: Bearer [",
    f"Authorization: Basic {S}=": "Authorization: Basic [",
    f'Proxy-Authorization: Digest username="bob", response={S}': 'Proxy-Authorization: Digest username="bob", response=[',
    f'Authorization: Token token="{S}"': 'Authorization: Token token="[',
    f'Authorization: Digest realm="r", nonce="a {S}", qop=auth': 'Authorization: Digest realm="r", nonce="[',
    f"'Authorization': '{S}'": "'Authorization': '[",
    f"Authorization: Custom {S}": "Authorization: Custom [",
    f"Authorization: {'abc' * 200}{S}": "Authorization: [",
    f"send Bearer {S}, please": "send Bearer [",
    f"Cookie: sessionid={S}; lang=en; theme=dark": "Cookie: sessionid=[",
    f"Set-Cookie: a={S}; Secure; HttpOnly; Path=/": "Set-Cookie: a=[",
}
KEPT = [
    "require Authorization: Bearer instead of the x-api-key header",
    "curl -H 'Authorization: Bearer sk-...'",
    "authorization = _sign(key, path)",
    "Authorization model: RBAC",
    "Authorization: Bearer ${TOKEN}",
    "Authorization: Bearer {token}",
    "Authorization: see below",
    "Authorization: none",
    "Authorization",
    "Authorization: ",
    "Bearer plants are common",
    "Bearer",
    "Basic realm",
    "Cookie: lang=en; theme=dark",
    "cookies are fine",
    "Cookie: =x",
    "Authorization: Custom realm",
    f"Bearer <{S}>",
    "Cookie: session=$SID",
    "Basic é",
    "Basic YWJj",
    "tool --type=bearer --auth-file=F4keK3yF0rT3st",
]


@pytest.mark.parametrize(("text", "start"), CASES.items())
def test_a_credential_is_masked_and_its_scheme_stays(text: str, start: str) -> None:
    """The person who approves sees which header and scheme it is."""
    out = masked(text)
    assert out.startswith(start)
    assert S not in out


def test_harmless_cookies_and_attributes_stay() -> None:
    """Only what opens a session is masked."""
    out = masked(f"Cookie: sid={S}; lang=en; theme=dark; Path=/; token={S}")
    assert "lang=en; theme=dark; Path=/; token=[" in out


@pytest.mark.parametrize("text", KEPT)
def test_a_header_without_a_credential_stays(text: str) -> None:
    """References, words and harmless cookies are no credentials."""
    assert masked(text) == text


@given(st.text(alphabet="Bear: ;=a1,\"'\n$", max_size=50))
def test_any_text_behind_a_header_is_read(text: str) -> None:
    """Hits lie inside the text, whatever it is."""
    names = redactor().finder.names
    for hits in (authorization("x" + text, 1), bare_scheme("x" + text, 1), cookie("x" + text, 1, names)):
        assert all(1 <= hit.start < hit.end <= len(text) + 1 for hit in hits)


def test_cookies_that_are_not_judged_for_want_of_work_are_masked() -> None:
    """To the end of their line, however many stand on it."""
    line = "Cookie: " + "sid=F4keX7pq; " * 50
    hits = list(cookie(f"{line}\nnext", 6, Names([]), Work(0, base=200)))
    assert [hit.rule_id for hit in hits[:-1]] == ["cookie-header"] * (len(hits) - 1)
    assert hits[-1].certainty is Certainty.UNJUDGED
    assert (hits[-2].end < hits[-1].start, hits[-1].end) == (True, len(line))
