"""What passes the gate, both ways."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.message.canonical import Head, Headers
from herma.policy.message.forwarding import (
    MAX_RESPONSE_HEADER_BYTES,
    Forwarded,
    downstream_headers,
    upstream_headers,
)
from herma.policy.message.headers import HOP_BY_HOP, is_stripped
from herma.policy.secret import Secret
from support.heads import make_head

KEY = Secret(b"fake-upstream-key-0000")
CALLER = Forwarded("203.0.113.7", "https", "agent.example")
HANDSHAKE = (
    (b"Connection", b"keep-alive, Upgrade"),
    (b"Upgrade", b"WebSocket"),
    (b"Sec-WebSocket-Key", b"AAAA"),
    (b"Sec-WebSocket-Version", b"13"),
    (b"Sec-WebSocket-Protocol", b"chat"),
    (b"Sec-WebSocket-Extensions", b"permessage-deflate"),
)


def up(head: Head, **options: bool) -> dict[bytes, bytes]:
    lines = upstream_headers(head, authority=b"127.0.0.1:8642", credential=KEY, forwarded=CALLER, **options)
    assert len({name for name, _ in lines} - {b"accept"}) == len(
        [name for name, _ in lines if name != b"accept"]
    )
    return dict(lines)


def test_upstream_gets_its_own_host_key_and_our_word_about_the_caller() -> None:
    """The caller's key and Host stay here; the upstream gets its own and one clean set of forwarded headers."""
    lines = up(make_head((b"Authorization", b"Bearer fake-caller-key"), (b"X-Forwarded-For", b"127.0.0.1")))
    assert lines == {
        b"host": b"127.0.0.1:8642",
        b"accept-encoding": b"identity",
        b"authorization": b"Bearer fake-upstream-key-0000",
        b"x-forwarded-for": b"203.0.113.7",
        b"x-forwarded-proto": b"https",
        b"x-forwarded-host": b"agent.example",
    }


def test_nothing_is_said_where_nothing_is_to_be_said() -> None:
    """Without an upstream key no Authorization is sent at all; without a word about the caller no forwarded header."""
    head = make_head((b"Authorization", b"Bearer fake-caller-key"), (b"X-Real-IP", b"127.0.0.1"))
    lines = upstream_headers(head, authority=b"u", credential=None, forwarded=None)
    assert lines == [(b"host", b"u"), (b"accept-encoding", b"identity")]


def test_caller_on_a_unix_socket_has_no_address() -> None:
    """An empty address is left out, the rest is said."""
    lines = upstream_headers(
        make_head(), authority=b"u", credential=None, forwarded=Forwarded("", "http", "localhost")
    )
    assert (b"x-forwarded-proto", b"http") in lines
    assert b"x-forwarded-for" not in dict(lines)


def test_what_clients_need_passes_in_order() -> None:
    """Session, idempotency, SDK and tracing headers pass byte for byte."""
    kept = (
        (b"x-hermes-session-id", b"s1"),
        (b"x-hermes-session-key", b"k1"),
        (b"idempotency-key", b"i1"),
        (b"last-event-id", b"7"),
        (b"x-stainless-retry-count", b"0"),
        (b"content-type", b"application/json"),
        (b"accept", b"text/event-stream"),
        (b"accept", b"*/*"),
        (b"user-agent", b"caf\xc3\xa9/1"),
        (b"x-request-id", b"r1"),
    )
    lines = upstream_headers(make_head(*kept), authority=b"u", credential=None, forwarded=None)
    assert tuple(lines[1:-1]) == kept


@pytest.mark.parametrize(
    "header",
    [
        (b"X-HTTP-Method-Override", b"DELETE"), (b"X-Original-URL", b"/admin"), (b"X-Rewrite-URL", b"/admin"),
        (b"X-Forwarded-Uri", b"/admin"), (b"X-Forwarded-Prefix", b"/x"), (b"X-Forwarded-Method", b"PUT"),
        (b"X-Envoy-Original-Path", b"/admin"), (b"X-Forwarded-User", b"root"), (b"X-User-Role", b"operator"), (b"Remote-User", b"root"),
        (b"X-Auth-Request-Email", b"a@b"), (b"Forwarded", b"for=127.0.0.1"), (b"True-Client-IP", b"127.0.0.1"),
        (b"CF-Connecting-IP", b"127.0.0.1"), (b"TE", b"trailers"), (b"Trailer", b"X-A"), (b"Keep-Alive", b"1"), (b"Upgrade", b"h2c"),
        (b"HTTP2-Settings", b"AAMA"), (b"Proxy-Authorization", b"Basic x"), (b"Proxy-Connection", b"close"), (b"X-API-Key", b"x"),
        (b"Cookie", b"a=b"), (b"Origin", b"http://127.0.0.1"), (b"Expect", b"100-continue"), (b"Content-Encoding", b"gzip"),
        (b"Content-Length", b"3"), (b"Range", b"bytes=0-1"), (b"If-Range", b"x"), (b"Accept-Encoding", b"br"),
        (b"Sec-WebSocket-Key", b"x"), (b"Access-Control-Request-Method", b"PUT"), (b"Via", b"x"),
    ],
)  # fmt: skip
def test_denied_header_is_not_forwarded(header: tuple[bytes, bytes]) -> None:
    """Identity, rewrite, override, hop-by-hop, framing and CORS headers of the caller end here."""
    plain = up(make_head())
    assert up(make_head(header)) == plain


def test_headers_named_in_connection_are_dropped() -> None:
    """A client may have its own headers end at this hop, ours never."""
    lines = up(make_head((b"Connection", b"close, X-Custom"), (b"X-Custom", b"1"), (b"X-Other", b"2")))
    assert b"x-custom" not in lines
    assert lines[b"x-other"] == b"2"
    assert lines[b"authorization"] == b"Bearer fake-upstream-key-0000"


def test_uninspected_answer_may_be_partial_and_compressed() -> None:
    """Where the answer is not read by the gate, range and encoding are the client's affair."""
    asked = ((b"Range", b"bytes=0-1"), (b"If-Range", b"x"), (b"Accept-Encoding", b"br"))
    lines = up(make_head(*asked), inspected=False)
    assert (lines[b"range"], lines[b"if-range"], lines[b"accept-encoding"]) == (b"bytes=0-1", b"x", b"br")
    assert b"accept-encoding" not in up(make_head(), inspected=False)


def test_cookies_pass_where_the_upstream_has_some() -> None:
    """A profile whose upstream uses cookies gets them."""
    assert up(make_head((b"Cookie", b"a=b")), cookies=True)[b"cookie"] == b"a=b"


@pytest.mark.parametrize(
    ("sent", "forwarded"),
    [
        (b"__Host-herma=x", None),
        (b"a=b; __Host-herma=x", b"a=b"),
        (b"__Host-herma=x; a=b;c=d", b"a=b;c=d"),
        (b" a=b;__Host-herma=x ;__host-herma=y; herma_x=1", b"a=b"),
        (b"x__Host-herma=x", b"x__Host-herma=x"),
    ],
)
def test_the_gates_own_cookies_do_not_pass(sent: bytes, forwarded: bytes | None) -> None:
    """Not even where others do: a session of the gate is nothing that the upstream should hold."""
    assert up(make_head((b"Cookie", sent)), cookies=True).get(b"cookie") == forwarded


def test_websocket_handshake_is_carried_on() -> None:
    """The handshake headers pass, and the hop's own Connection and Upgrade are set anew."""
    head = make_head(*HANDSHAKE)
    lines = up(head, websocket=True)
    assert (lines[b"connection"], lines[b"upgrade"]) == (b"Upgrade", b"websocket")
    assert (lines[b"sec-websocket-key"], lines[b"sec-websocket-protocol"]) == (b"AAAA", b"chat")
    assert b"sec-websocket-extensions" not in lines


def down(*headers: tuple[bytes, bytes], status: int = 200, stream: bool = False) -> list[tuple[bytes, bytes]]:
    return downstream_headers(status, tuple(headers), stream=stream)


def test_bare_answer_gets_the_security_headers() -> None:
    """They stand on every answer, once; HSTS is not invented."""
    assert dict(down()) == {
        b"x-content-type-options": b"nosniff",
        b"x-frame-options": b"DENY",
        b"referrer-policy": b"no-referrer",
        b"content-security-policy": b"default-src 'none'; frame-ancestors 'none'",
    }


@pytest.mark.parametrize(
    ("said", "passed"),
    [
        (b"http://127.0.0.1:8642/v1/models?a=b#c", b"/v1/models?a=b#c"),
        (b"HTTPS://127.0.0.1:8642", b"/"),
        (b"http://127.0.0.1:8642?a=b", b"/?a=b"),
        (b"/v1/models", b"/v1/models"),
        (b"https://agent.example/v1/models", b"https://agent.example/v1/models"),
        # not this host, whatever it begins with
        (b"http://127.0.0.1:86420/", b"http://127.0.0.1:86420/"),
        (b"http://127.0.0.1:8642@evil.example/", b"http://127.0.0.1:8642@evil.example/"),
        (b"ftp://127.0.0.1:8642/", b"ftp://127.0.0.1:8642/"),
        # alone, these would name a host
        (b"http://127.0.0.1:8642//evil.example/", b"http://127.0.0.1:8642//evil.example/"),
        (b"http://127.0.0.1:8642/\\evil.example/", b"http://127.0.0.1:8642/\\evil.example/"),
        (b"http://127.0.0.1:8642/\t/evil.example/", b"http://127.0.0.1:8642/\t/evil.example/"),
    ],
)
@pytest.mark.parametrize("name", [b"Location", b"Content-Location"])
def test_a_redirect_to_the_upstream_leads_back_to_the_gate(name: bytes, said: bytes, passed: bytes) -> None:
    """Servers make the URL from the `Host` they were given; callers cannot or must not go there."""
    lines = downstream_headers(307, ((name, said),), stream=False, authority=b"127.0.0.1:8642")
    assert dict(lines)[name.lower()] == passed


def test_without_an_authority_a_redirect_stays_as_it_is() -> None:
    """Nothing is taken for the upstream's where it is not known what the upstream is called."""
    lines = downstream_headers(307, ((b"Location", b"http:///v1"),), stream=False)
    assert dict(lines)[b"location"] == b"http:///v1"


def test_upstream_security_headers_are_kept_and_not_doubled() -> None:
    """What the upstream says stands, once; its HSTS passes; two policies both stand, as both apply."""
    lines = down(
        (b"X-Frame-Options", b"SAMEORIGIN"),
        (b"x-frame-options", b"DENY"),
        (b"Strict-Transport-Security", b"max-age=1"),
        (b"Content-Security-Policy", b"default-src 'self'"),
        (b"Content-Security-Policy", b"frame-ancestors 'none'"),
        (b"Referrer-Policy", b"origin"),
        (b"X-Content-Type-Options", b"nosniff"),
    )
    assert lines == [
        (b"x-frame-options", b"SAMEORIGIN"),
        (b"strict-transport-security", b"max-age=1"),
        (b"content-security-policy", b"default-src 'self'"),
        (b"content-security-policy", b"frame-ancestors 'none'"),
        (b"referrer-policy", b"origin"),
        (b"x-content-type-options", b"nosniff"),
    ]


@pytest.mark.parametrize(
    "header",
    [
        (b"Server", b"Python/3.11 aiohttp/3.14.1"), (b"X-Powered-By", b"x"), (b"Via", b"x"), (b"Alt-Svc", b'h3=":443"'),
        (b"Connection", b"close"), (b"Keep-Alive", b"timeout=5"), (b"Transfer-Encoding", b"chunked"), (b"Trailer", b"x"),
        (b"Upgrade", b"h2c"), (b"Content-Length", b"9"), (b"Proxy-Authenticate", b"Basic"), (b"X-Forwarded-User", b"root"),
        (b"X-Auth-Request-User", b"root"), (b"Remote-User", b"root"), (b"X-Accel-Redirect", b"/etc"), (b"X-Accel-Buffering", b"yes"),
        (b"X-Sendfile", b"/etc/passwd"), (b"Access-Control-Allow-Origin", b"*"), (b"Access-Control-Allow-Credentials", b"true"),
        (b"Set-Cookie", b"herma_session=x"), (b"Set-Cookie", b" __Host-Herma=x; Secure"), (b"X-Herma-Exchange", b"forged"),
        (b"X-Any", b"a\r\nb"), (b"X-Any", b"a\0"), (b"X-Any", b"a\x7f"), (b"X-Any", b"a" * (MAX_RESPONSE_HEADER_BYTES + 1)),
        (b"X Any", b"a"), (b"", b"a"), (b"X\r\nAny", b"a"),
    ],
)  # fmt: skip
def test_denied_answer_header_is_dropped(header: tuple[bytes, bytes]) -> None:
    """Hop-by-hop, server names, orders to a proxy in front, CORS, identity echo, our cookies and broken bytes."""
    assert down(header) == down()


@pytest.mark.parametrize(
    "header",
    [
        (b"retry-after", b"1"), (b"retry-after-ms", b"100"), (b"x-should-retry", b"true"), (b"x-request-id", b"r"),
        (b"x-hermes-session-id", b"s"), (b"x-hermes-error", b"caf\xc3\xa9"), (b"set-cookie", b"theme=dark"), (b"content-encoding", b"gzip"),
        (b"allow", b"GET"), (b"vary", b"Accept"), (b"x-any", b"a" * MAX_RESPONSE_HEADER_BYTES), (b"www-authenticate", b"Bearer"),
    ],
)  # fmt: skip
def test_useful_answer_header_is_kept(header: tuple[bytes, bytes]) -> None:
    """What SDKs act on, and what nobody has to fear, passes."""
    assert down(header) == [header, *down()]


def test_answer_headers_named_in_connection_are_dropped() -> None:
    """The upstream's Connection list ends at this hop too."""
    assert down((b"Connection", b"X-Hop"), (b"X-Hop", b"1")) == down()


def test_date_stands_once() -> None:
    """A doubled Date, Location or Content-Type is cut to the first."""
    assert down((b"Date", b"a"), (b"date", b"b"))[0] == (b"date", b"a")
    assert (b"date", b"b") not in down((b"Date", b"a"), (b"date", b"b"))


def test_json_is_not_stored_unless_the_upstream_says_so() -> None:
    """JSON without a caching rule gets no-store; a rule of the upstream stands; other types are left alone."""
    kind = (b"Content-Type", b"application/json")
    assert dict(down(kind))[b"cache-control"] == b"no-store"
    assert dict(down(kind, (b"Cache-Control", b"max-age=5")))[b"cache-control"] == b"max-age=5"
    assert b"cache-control" not in dict(down((b"Content-Type", b"image/png")))


def test_stream_tells_every_proxy_not_to_buffer() -> None:
    """An event stream carries both headers, once, whatever the upstream said."""
    lines = down(
        (b"Content-Type", b"text/event-stream"),
        (b"Cache-Control", b"max-age=60"),
        (b"X-Accel-Buffering", b"yes"),
        stream=True,
    )
    assert [value for name, value in lines if name == b"cache-control"] == [b"no-cache"]
    assert [value for name, value in lines if name == b"x-accel-buffering"] == [b"no"]


def test_interim_answer_gets_nothing_added() -> None:
    """A 1xx carries what the upstream put on it, minus what is dropped."""
    assert down((b"Link", b"</a>"), (b"Server", b"x"), status=103) == [(b"link", b"</a>")]


_FAMILIES = [
    b"X-Forwarded-", b"X-Real-", b"X-Original-", b"X-Rewrite-", b"X-Envoy-", b"X-User", b"X-Auth-Request-", b"Proxy-",
    b"X-Remote-User", b"X-Herma-",
]  # fmt: skip
_SUFFIX = st.text(alphabet="abcdefghijklmnopqrstuvwxyz-", max_size=10).map(str.encode)
_HOSTILE = st.one_of(
    st.builds(lambda family, suffix: family + suffix, st.sampled_from(_FAMILIES), _SUFFIX),
    st.sampled_from(sorted(HOP_BY_HOP - {b"transfer-encoding", b"connection"})),
    st.sampled_from(
        [b"Authorization", b"X-Api-Key", b"Forwarded", b"Cookie", b"Remote-User", b"X-HTTP-Method-Override"]
    ),
)


@given(names=st.lists(_HOSTILE, max_size=6, unique_by=bytes.lower), upper=st.booleans())
def test_no_denied_name_is_ever_forwarded(names: list[bytes], upper: bool) -> None:
    """Whatever the spelling, the upstream sees only what the gate says of the caller."""
    head = make_head(*((name.upper() if upper else name, b"evil") for name in names))
    lines = upstream_headers(head, authority=b"u", credential=KEY, forwarded=CALLER)
    assert all(value != b"evil" for _, value in lines)
    ours = {b"x-forwarded-for", b"x-forwarded-proto", b"x-forwarded-host"}
    assert not any(is_stripped(name) or name in HOP_BY_HOP for name, _ in lines if name not in ours)


_ANSWERS = st.lists(st.tuples(st.one_of(_HOSTILE, st.binary(max_size=8)), st.binary(max_size=12)), max_size=6)


@given(headers=_ANSWERS, stream=st.booleans())
def test_answer_headers_are_always_well_formed(headers: list[tuple[bytes, bytes]], stream: bool) -> None:
    """Nothing the upstream sends puts a control character, a denied name or a second framing on the wire."""
    lines: Headers = tuple(downstream_headers(200, tuple(headers), stream=stream))
    for name, value in lines:
        assert name
        assert name == name.lower()
        assert not any(char < 32 and char != 9 for char in name + value)
        assert name not in HOP_BY_HOP
        assert name == b"x-accel-buffering" or not is_stripped(name)
    assert b"content-length" not in dict(lines)
