"""A request target has one meaning or is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.decision import Deny
from herma.policy.message.target import (
    MAX_TARGET_BYTES,
    Target,
    canonical_target,
    parameter_names,
    percent_decode,
)


def accepted(raw: bytes) -> Target:
    target = canonical_target(raw)
    assert isinstance(target, Target), target
    return target


ACCEPTED = {
    "root": (b"/", ("",), b""),
    "plain": (b"/v1/runs", ("v1", "runs"), b""),
    "trailing slash": (b"/v1/runs/", ("v1", "runs", ""), b""),
    "query": (b"/api/sessions?limit=5&offset=0", ("api", "sessions"), b"limit=5&offset=0"),
    "empty query": (b"/health?", ("health",), b""),
    "question mark in query": (b"/a?b?c", ("a",), b"b?c"),
    "browser leaves brackets": (b"/a?f[x]=1|2", ("a",), b"f[x]=1|2"),
    "encoded letter": (b"/api/%6Aobs", ("api", "jobs"), b""),
    "encoded letter, trailing slash": (b"/api/%6Aobs/", ("api", "jobs", ""), b""),
    "encoded space inside": (b"/a%20b", ("a b",), b""),
    "encoded text": (b"/caf%C3%A9", ("caf\u00e9",), b""),
    "double encoding is literal": (b"/public/%252e%252e/admin", ("public", "%2e%2e", "admin"), b""),
    "dots inside": (b"/a..b/.well-known/v1.2", ("a..b", ".well-known", "v1.2"), b""),
    "sub-delimiters": (b"/a!$&'()*+,=:@b", ("a!$&'()*+,=:@b",), b""),
    "newline in query": (b"/a?q=x%0Ay", ("a",), b"q=x%0Ay"),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_target_with_one_meaning_is_accepted(name: str) -> None:
    """A plain target is cut into decoded segments, and the raw bytes are kept as they came."""
    raw, segments, query = ACCEPTED[name]
    target = accepted(raw)
    assert (target.segments, target.query, target.raw) == (segments, query, raw)
    assert target.path == "/" + "/".join(segments)


REFUSED = {
    "dot dot": b"/public/../admin",
    "dot": b"/./admin",
    "final dot dot": b"/admin/..",
    "encoded dots": b"/public/%2e%2e/admin",
    "mixed case dots": b"/public/%2E%2e/admin",
    "half encoded dots": b"/public/.%2e/admin",
    "encoded single dot": b"/%2e/admin",
    "dots with parameters": b"/public/..;x=1/admin",
    "encoded slash at the start": b"/%2fadmin",
    "encoded slash at the end": b"/public%2F/x",
    "two encoded slashes": b"/public%2f%2Fadmin",
    "dots behind an encoded slash": b"/public%2f..%2fadmin",
    "dot behind an encoded slash": b"/public%2f%2e/x",
    "full-width slash beside an encoded one": b"/a%2fb%ef%bc%8fc",
    "strip prefix": b"/a%2f..%2fb",
    "double slash at the start": b"//admin",
    "double slash inside": b"/public//admin",
    "double slash at the end": b"/admin//",
    "backslash": b"/public\\..\\admin",
    "encoded backslash": b"/public%5cadmin",
    "path parameter": b"/admin;x=1",
    "empty path parameter": b"/public;/../admin",
    "encoded semicolon": b"/admin%3bx=1",
    "fragment": b"/public#/admin",
    "encoded fragment": b"/public%23/admin",
    "encoded question mark": b"/admin%3f",
    "nul": b"/admin%00.css",
    "raw nul": b"/admin\0",
    "crlf": b"/admin%0d%0aX:1",
    "del": b"/admin%7f",
    "tab": b"/admin%09",
    "c1 control": b"/admin%C2%85",
    "overlong": b"/%c0%ae%c0%ae/admin",
    "surrogate": b"/%ed%a0%80",
    "lone continuation": b"/%80",
    "invalid percent": b"/%zz",
    "cut percent": b"/a%2",
    "raw utf-8": "/\u00e9".encode(),
    "raw space": b"/a b",
    "trailing dot": b"/admin.",
    "trailing dots": b"/admin../x",
    "encoded trailing dot": b"/admin%2e",
    "trailing space": b"/admin%20",
    "leading space": b"/%20admin",
    "only space": b"/%20",
    "no-break space": b"/admin%C2%A0",
    "zero width": b"/admin%E2%80%8B",
    "bidi": b"/%E2%80%AEnimda",
    "fullwidth slash": b"/public%EF%BC%8Fadmin",
    "two dot leader": b"/%E2%80%A5/admin",
    "fullwidth dot at the end": b"/admin%EF%BC%8E",
    "braces": b"/{admin}",
    "quote": b'/"admin"',
    "absolute form": b"http://evil.example/admin",
    "user information": b"http://a@evil.example/",
    "absolute form upper case": b"HTTP://evil.example/admin",
    "authority form": b"a:80",
    "asterisk form": b"*",
    "empty": b"",
    "relative": b"admin",
    "query only": b"?x=1",
    "query fragment": b"/a?x#y",
    "query control": b"/a?x=\x01",
    "query space": b"/a?x= y",
    "query raw utf-8": "/a?x=\u00e9".encode(),
    "query invalid percent": b"/a?x=%g1",
    "query nul": b"/a?x=%00",
    "query invalid utf-8": b"/a?x=%ff",
    "method override": b"/a?_method=DELETE",
    "encoded method override": b"/a?%5fmethod=DELETE",
    "method override header name": b"/a?X-HTTP-Method-Override=DELETE",
}


@pytest.mark.parametrize("name", REFUSED)
def test_target_that_parsers_could_read_differently_is_refused(name: str) -> None:
    """What has no single meaning is a 400 with a stable code, and the connection closes."""
    denied = canonical_target(REFUSED[name])
    assert isinstance(denied, Deny), denied
    assert denied.status == 400
    assert denied.close
    assert denied.code.startswith("herma.request.")


def test_target_beyond_the_bound_is_refused() -> None:
    """A target longer than the bound is 414, one of exactly the bound is read."""
    exact = b"/" + b"a" * (MAX_TARGET_BYTES - 1)
    assert accepted(exact).raw == exact
    denied = canonical_target(exact + b"a")
    assert isinstance(denied, Deny)
    assert denied.status == 414


PROTECTED = ("v1", "admin")
# One spelling of each trick that turns one path into another for some parser.
_TRICKS = st.sampled_from([
    b"..", b".", b"%2e%2e", b"%2E.", b"%252e%252e", b"", b"%2f", b"%5c", b"\\", b";", b";x=1", b"%3b", b"%00", b"%0a",
    b"%23", b"#", b"%3f", b"%20", b"%c0%ae", b"%E2%80%A5", b"%EF%BC%8F", b"%u002e", b"%%32e", b".%00.", b"..;",
])  # fmt: skip
_PIECES = st.lists(
    st.one_of(_TRICKS, st.sampled_from([b"v1", b"public", b"admin", b"ADMIN", b"%61dmin"])), max_size=7
)


@given(pieces=_PIECES, glue=st.lists(st.sampled_from([b"/", b"//", b"%2f", b""]), min_size=8, max_size=8))
def test_no_variant_of_a_protected_path_gets_by(pieces: list[bytes], glue: list[bytes]) -> None:
    """Whatever is accepted as another path stays another path under every decoding and normalisation in use."""
    raw = b"/" + b"".join(piece + mark for piece, mark in zip(pieces, glue, strict=False))
    target = canonical_target(raw)
    if isinstance(target, Deny) or target.segments == PROTECTED:
        return
    assert _lenient(percent_decode(raw)) != "/v1/admin"


def _lenient(raw: bytes) -> str:
    """Read a path as the most careless server would: once decoded, backslashes, parameters, dots and blanks resolved."""
    path = (
        raw.decode("utf-8", "replace")
        .replace("\\", "/")
        .partition("#")[0]
        .partition("?")[0]
        .partition("\0")[0]
    )
    out: list[str] = []
    for part in path.split("/"):
        segment = part.partition(";")[0].rstrip(" .") if part not in {".", ".."} else part
        if segment == "..":
            out[-1:] = []
        elif segment not in {"", "."}:
            out.append(segment)
    # A trailing slash is another path, which the profile does not know.
    return "/" + "/".join(out) + ("/" if path.endswith("/") else "")


@given(st.binary(max_size=40).map(lambda tail: b"/" + tail))
def test_accepted_target_is_its_own_canonical_form(raw: bytes) -> None:
    """Reading an accepted target again changes nothing, and nothing accepted holds a delimiter or a control."""
    target = canonical_target(raw)
    if isinstance(target, Target):
        assert canonical_target(target.raw) == target
        assert target.raw == raw
        assert all(part.isprintable() and not set(part) & set("/\\?#;") for part in target.segments)
        assert "" not in target.segments[:-1]


@given(st.text(alphabet=st.characters(codec="ascii", categories=["Ll", "Lu", "Nd"]), min_size=1, max_size=12))
def test_encoding_letters_does_not_change_the_path(text: str) -> None:
    """A path whose letters are percent-encoded is the same path, whatever the case of the hex digits."""
    encoded = "".join(f"%{ord(char):02x}" for char in text).encode()
    assert accepted(b"/x/" + encoded).segments == accepted(b"/x/" + text.encode()).segments


@pytest.mark.parametrize(
    ("query", "names"),
    [
        (b"", set()),
        (b"token=x", {"token"}),
        (b"a=1;TOKEN=x", {"a", "token"}),
        (b"%74oken=x", {"token"}),
        (b"%2574oken=x", {"%74oken"}),
        (b"x-api-key", {"x_api_key"}),
        (b"+token+=x", {"token"}),
        (b"auth[token]=x", {"auth", "token", ""}),
        (b"a.token=x", {"a", "token"}),
        (b"%EF%BD%94oken=x", {"token"}),
    ],
)
def test_parameter_names_are_folded(query: bytes, names: set[str]) -> None:
    """A parameter is found under any spelling that some server would take for it, decoded once."""
    assert parameter_names(query) == names


def test_percent_decoding_happens_once_and_leaves_the_invalid() -> None:
    """Valid escapes are decoded one time; what is no escape stays."""
    assert percent_decode(b"%2541%zz%4") == b"%41%zz%4"


@pytest.mark.parametrize("raw", [b"/v1/models/org%2fmodel", b"/v1/models/org%2Fmodel", b"/a%2fb%2Fc/d"])
def test_an_encoded_slash_inside_a_segment_is_told(raw: bytes) -> None:
    """Most routes refuse it; one whose parameter may hold a slash keeps it, and the bytes stay as they are."""
    target = canonical_target(raw)
    assert isinstance(target, Target)
    assert target.slashed
    assert target.raw == raw
    assert len(target.segments) == raw.count(b"/")


def test_a_plain_path_is_not_slashed() -> None:
    """Nor one with other characters encoded."""
    for raw in (b"/v1/models", b"/v1/m%6Fdels", b"/"):
        target = canonical_target(raw)
        assert isinstance(target, Target)
        assert not target.slashed
