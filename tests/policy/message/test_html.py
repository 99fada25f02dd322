"""Pages of the upstream: the policy that they get, and the stand-in for its key."""

import base64
import hashlib

import pytest

from herma.policy.message.html import MAX_INLINE, STAND_IN, key_in, page_policy, withheld, without_stand_in
from herma.policy.secret import Secret

PAGE = b"""<!doctype html><html><head>
<script type="module" crossorigin src="/assets/index.js"></script>
<SCRIPT>window.a=1;</SCRIPT ><script nonce="x">
 second()
</script></head><body><div id="root"></div></body></html>"""


def hashed(script: bytes) -> bytes:
    return b"'sha256-" + base64.b64encode(hashlib.sha256(script).digest()) + b"'"


def scripts(policy: bytes) -> list[bytes]:
    (rule,) = [part for part in policy.split(b"; ") if part.startswith(b"script-src")]
    return rule.split()[1:]


def test_the_scripts_that_stand_in_a_page_may_run_and_no_others() -> None:
    """By their digest: one more character in one of them, and it does not run."""
    policy = page_policy(PAGE)
    assert scripts(policy) == [b"'self'", hashed(b"window.a=1;"), hashed(b"\n second()\n")]
    for rule in (b"default-src 'self'", b"object-src 'none'", b"frame-ancestors 'none'", b"base-uri 'none'"):
        assert rule in policy
    assert b"unsafe-inline" not in b" ".join(scripts(policy))


def test_a_page_without_scripts_of_its_own_has_files_only() -> None:
    """And one with the same twice names it once."""
    assert scripts(page_policy(b"<p>hello")) == [b"'self'"]
    assert len(scripts(page_policy(b"<script>a</script>" * 5))) == 2


def test_the_scripts_are_counted() -> None:
    """A header has bounds."""
    many = b"".join(b"<script>%d</script>" % number for number in range(50))
    assert len(scripts(page_policy(many))) == MAX_INLINE + 1
    assert scripts(page_policy(b"<script>" * 20_000)) == [b"'self'"]


@pytest.mark.parametrize(
    ("query", "left"),
    [
        (b"", b""),
        (b"token=secret", b"token=secret"),
        (b"token=" + STAND_IN, b""),
        (b"a=1&token=" + STAND_IN + b"&b=2", b"a=1&b=2"),
        (b"token=x" + STAND_IN, b"token=x" + STAND_IN),
        (b"token=x&key=" + STAND_IN, b"token=x"),
        (b"token=" + STAND_IN + b";token=x", b"token=" + STAND_IN + b";token=x"),
    ],
)
def test_the_stand_in_is_no_credential(query: bytes, left: bytes) -> None:
    """Exactly it; what looks like it is looked at as before."""
    assert without_stand_in(query) == left


def test_the_upstreams_key_is_put_out_of_an_answer() -> None:
    """Where there is one; otherwise the answer is what it was."""
    key = Secret(b"upstream-key")
    assert withheld(b"a upstream-key b upstream-key", key) == b"a " + STAND_IN + b" b " + STAND_IN
    data = b"nothing of it"
    assert withheld(data, key) is data
    assert withheld(data, None) is data


@pytest.mark.parametrize(
    ("page", "found"),
    [
        (b'<script>window.__KEY__="abcdefghijklmnop0123";x()</script>', b"abcdefghijklmnop0123"),
        (
            b'window.__KEY__ = "abcdefghijklmnop0123"; window.__KEY__="abcdefghijklmnop0123"',
            b"abcdefghijklmnop0123",
        ),
        (b'window.__KEY__="abcdefghijklmnop0123";window.__KEY__="bbcdefghijklmnop0123"', None),
        (b'window.__KEY__="short"', None),
        (b"window.__KEY__='abcdefghijklmnop0123'", None),
        (b'window.__OTHER__="abcdefghijklmnop0123"', None),
        (b'window.__KEY__="abcdefghijklmnop 123"', None),
        (b'window.__KEY__="' + b"a" * 300 + b'"', None),
        (b"", None),
    ],
)
def test_the_key_of_a_page_is_read_in_one_form(page: bytes, found: bytes | None) -> None:
    """What is in another form, or twice with different values, is no key."""
    key = key_in(page, "__KEY__")
    assert (key.reveal() if key else None) == found
