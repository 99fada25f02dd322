"""A request head has one meaning or is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.decision import Deny
from herma.policy.message.canonical import MAX_HEAD_BYTES, METHODS, Head, canonical_head, connection_options

HOST = (b"Host", b"127.0.0.1:8643")


def judged(
    *headers: tuple[bytes, bytes], method: bytes = b"GET", target: bytes = b"/v1/runs", version: str = "1.1"
) -> Head | Deny:
    return canonical_head(method, target, version, (HOST, *headers))


def refused(verdict: Head | Deny, status: int, what: str) -> None:
    assert isinstance(verdict, Deny), verdict
    assert (verdict.status, verdict.code, verdict.close) == (status, f"herma.request.{what}", True)


def test_plain_head_is_accepted() -> None:
    """Names become lower case, values lose the blanks around them, order and everything else stays."""
    head = judged(
        (b"Authorization", b"Bearer test-key"), (b"X-Forwarded-For", b" a "), (b"x-forwarded-for", b"b")
    )
    assert isinstance(head, Head)
    assert (head.method, head.host, head.port, head.version) == ("GET", "127.0.0.1", 8643, "1.1")
    assert head.headers[1:] == (
        (b"authorization", b"Bearer test-key"),
        (b"x-forwarded-for", b"a"),
        (b"x-forwarded-for", b"b"),
    )
    assert head.get(b"authorization") == b"Bearer test-key"
    assert head.get(b"cookie") is None
    assert head.all(b"x-forwarded-for") == (b"a", b"b")


@pytest.mark.parametrize("method", sorted(METHODS))
def test_ordinary_methods_are_accepted(method: bytes) -> None:
    """The seven methods that HTTP APIs use pass."""
    assert isinstance(judged(method=method), Head)


@pytest.mark.parametrize(
    "method",
    [
        b"TRACE",
        b"TRACK",
        b"CONNECT",
        b"get",
        b"Get",
        b"FOO-BAR",
        b"",
        b"GET ",
        b"PROPFIND",
        b"PRI",
        b"M-SEARCH",
    ],
)
def test_other_methods_are_refused(method: bytes) -> None:
    """Everything else is 405, lower case included."""
    refused(judged(method=method), 405, "method")


@pytest.mark.parametrize("version", ["2.0", "0.9", "9.9", "1.2", "", "1"])
def test_other_versions_are_refused(version: str) -> None:
    """Only HTTP/1.0 and HTTP/1.1 are spoken."""
    refused(judged(version=version), 505, "version")


def test_refused_target_is_the_verdict() -> None:
    """A target without a single meaning refuses the whole head."""
    refused(judged(target=b"/a/../b"), 400, "target")


@pytest.mark.parametrize(
    "name",
    [
        b"X_Forwarded_User", b"X-Forwarded_User", b"_", b"X-Forwarded-User ", b" X-A", b"X\tA", b"X:A", b"", b"X\0A", b"X\r\nA",
        "X-Forwarded-\uff35ser".encode(), b"X-\xe9", b"(x)", b'"x"', b"X_" + b"a" * 100, b"X " + b"a" * 100,
    ],
)  # fmt: skip
def test_header_name_that_could_pass_for_another_is_refused(name: bytes) -> None:
    """Underscores, blanks, look-alikes and everything that is no token refuse the request."""
    refused(judged((name, b"root")), 400, "header_name")


def test_long_header_name_is_read() -> None:
    """A name of any length within the bounds is judged by the same rule."""
    head = judged((b"X-" + b"A" * 100, b"1"))
    assert isinstance(head, Head)
    assert head.get(b"x-" + b"a" * 100) == b"1"


@pytest.mark.parametrize(
    "value", [b"a\r\nX: 1", b"a\nb", b"a\rb", b"a\0b", b"\x01", b"a\x7fb", b"a\r\n b", b"\x1b[2J"]
)
def test_control_character_in_a_value_is_refused(value: bytes) -> None:
    """CR, LF, NUL, folded lines and terminal escapes never get as far as a log or the upstream."""
    refused(judged((b"X-Any", value)), 400, "header_value")


def test_obs_text_passes_where_nothing_is_judged() -> None:
    """Bytes outside ASCII pass untouched in a header that nobody judges, and are refused in one that is judged."""
    head = judged((b"X-Title", b"caf\xc3\xa9\ttab"))
    assert isinstance(head, Head)
    assert head.get(b"x-title") == b"caf\xc3\xa9\ttab"
    refused(judged((b"X-Hermes-Session-Key", b"caf\xc3\xa9")), 400, "header_value")
    refused(judged((b"Origin", b"http://\xe9")), 400, "header_value")


def test_malformed_authorization_is_left_to_the_login() -> None:
    """A key outside ASCII is a failed login with a uniform 401, not another answer than a wrong key gets."""
    assert isinstance(judged((b"Authorization", b"Bearer \xe9")), Head)


@pytest.mark.parametrize(
    "name",
    [
        b"Host", b"Authorization", b"Content-Length", b"Content-Type", b"Content-Encoding", b"Transfer-Encoding", b"Origin",
        b"Cookie", b"Expect", b"Upgrade", b"Idempotency-Key", b"X-Hermes-Session-Id", b"X-Hermes-Session-Key", b"X-API-Key",
        b"Sec-Fetch-Site", b"X-Request-Id", b"Range", b"Last-Event-ID",
    ],
)  # fmt: skip
@pytest.mark.parametrize("second", [b"1", b"2"])
def test_duplicate_of_a_judged_header_is_refused(name: bytes, second: bytes) -> None:
    """Two of them are refused, equal or not and in any case of the name: parsers disagree on which one counts."""
    refused(judged((name, b"1"), (name.swapcase(), second)), 400, "header_duplicate")


@pytest.mark.parametrize(
    "host",
    [
        b"",
        b"a/../b@c#d",
        b"host.",
        b"a b",
        b"a@b",
        b"h\xc3\xb6st",
        b"a:b",
        b"[::1",
        b"127.1",
        b"a,b",
        b"http://a",
        b"a:0",
    ],
)
@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_host_without_a_single_meaning_is_refused(host: bytes, version: str) -> None:
    """A Host that is no plain name or address is 400."""
    verdict = canonical_head(b"GET", b"/", version, [(b"Host", host)])
    assert isinstance(verdict, Deny)
    assert (verdict.status, verdict.close) == (400, True)


@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_missing_host_is_refused(version: str) -> None:
    """Without a Host there is no telling which name is meant, on HTTP/1.0 neither."""
    refused(canonical_head(b"GET", b"/", version, []), 400, "host")


def test_host_is_judged_in_lower_case_and_forwarded_as_it_came() -> None:
    """The judged name is folded; the header keeps its bytes."""
    head = canonical_head(b"GET", b"/", "1.1", [(b"HOST", b"Agent.Example.COM:8443")])
    assert isinstance(head, Head)
    assert (head.host, head.port) == ("agent.example.com", 8443)
    assert head.get(b"host") == b"Agent.Example.COM:8443"


@pytest.mark.parametrize(
    "value",
    [
        b"close, X-Forwarded-User, Authorization", b"authorization", b"Host", b"keep-alive, content-length", b"x-hermes-session-id",
        b"Transfer-Encoding", b"content-type", b"X-Forwarded-For", b"x-real-ip", b"cookie", b"Idempotency-Key", b"sec-fetch-site",
        b"accept-encoding", b"remote-user",
    ],
)  # fmt: skip
def test_connection_naming_a_protected_header_is_refused(value: bytes) -> None:
    """A client cannot have a hop delete the headers that the gate sets or judges by."""
    refused(judged((b"Connection", value)), 400, "connection")
    refused(judged((b"Connection", b"close"), (b"Connection", value)), 400, "connection")


@pytest.mark.parametrize("value", [b"a b", b"close; x", b"\xe9", b'"close"', b"a=b"])
def test_malformed_connection_is_refused(value: bytes) -> None:
    """An option that is no token has no meaning."""
    refused(judged((b"Connection", value)), 400, "connection")


@pytest.mark.parametrize(
    "value",
    [
        b"close",
        b"Keep-Alive",
        b"Upgrade, HTTP2-Settings",
        b"TE",
        b"x-custom",
        b"",
        b", ,close",
        b"notupgrade",
        b"proxy-authorization",
    ],
)
def test_honest_connection_options_pass(value: bytes) -> None:
    """What real clients send in Connection is accepted."""
    assert isinstance(judged((b"Connection", value)), Head)


def test_connection_options_are_whole_tokens() -> None:
    """`notupgrade` is not `upgrade`; several headers are one list; empty elements are nothing."""
    headers = ((b"connection", b"NotUpgrade, ,"), (b"accept", b"x"), (b"connection", b" Close"))
    assert connection_options(headers) == {b"notupgrade", b"close"}
    assert connection_options(((b"accept", b"x"),)) == frozenset()


@pytest.mark.parametrize(
    ("headers", "version"),
    [
        ([(b"Transfer-Encoding", b"xchunked")], "1.1"),
        ([(b"Transfer-Encoding", b"chunked, identity")], "1.1"),
        ([(b"Transfer-Encoding", b"gzip, chunked")], "1.1"),
        ([(b"Transfer-Encoding", b"")], "1.1"),
        ([(b"Transfer-Encoding", b"chunked"), (b"Content-Length", b"3")], "1.1"),
        ([(b"Transfer-Encoding", b"chunked")], "1.0"),
        ([(b"Content-Length", b"+3")], "1.1"),
        ([(b"Content-Length", b"-3")], "1.1"),
        ([(b"Content-Length", b"3, 3")], "1.1"),
        ([(b"Content-Length", b"0x3")], "1.1"),
        ([(b"Content-Length", b"1_0")], "1.1"),
        ([(b"Content-Length", b"")], "1.1"),
        ([(b"Content-Length", b"9" * 20)], "1.1"),
    ],
)
def test_ambiguous_framing_is_refused(headers: list[tuple[bytes, bytes]], version: str) -> None:
    """Lengths and codings that two parsers could read differently are 400."""
    refused(judged(*headers, method=b"POST", version=version), 400, "framing")


def test_plain_framing_passes() -> None:
    """A length, or `chunked` on HTTP/1.1, is how a body is announced."""
    assert isinstance(judged((b"Content-Length", b"3"), method=b"POST"), Head)
    assert isinstance(judged((b"Transfer-Encoding", b"Chunked"), method=b"POST"), Head)


def test_only_continue_can_be_expected() -> None:
    """Any other expectation is 417."""
    assert isinstance(judged((b"Expect", b"100-Continue")), Head)
    refused(judged((b"Expect", b"200-ok")), 417, "expectation")


def test_head_beyond_the_bound_is_refused() -> None:
    """Headers over the bound are 431, whoever calls."""
    refused(judged((b"X-Big", b"a" * MAX_HEAD_BYTES)), 431, "head_too_large")


_NAMES = st.sampled_from([
    b"Host", b"Authorization", b"X-Any", b"connection", b"X_Y", b"Cookie", b"Content-Length", b"Accept", b"Upgrade", b"Expect",
])  # fmt: skip
_HEADERS = st.lists(
    st.tuples(_NAMES, st.one_of(st.binary(max_size=12), st.sampled_from([b"close", b"a.example"]))),
    max_size=6,
)


@given(_HEADERS)
def test_accepted_head_is_its_own_canonical_form(headers: list[tuple[bytes, bytes]]) -> None:
    """Judging an accepted head again gives the same head, and no judged header stands in it twice."""
    head = canonical_head(b"GET", b"/a", "1.1", [(b"Host", b"a.example"), *headers])
    if isinstance(head, Head):
        assert canonical_head(b"GET", head.target.raw, head.version, head.headers) == head
        assert len(head.all(b"host")) == 1
        assert len(head.all(b"authorization")) <= 1
        assert all(name == name.lower() and b"_" not in name for name, _ in head.headers)
