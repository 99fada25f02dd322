"""Bypass rows 1 to 24: one meaning for every request target, or none at all."""

import itertools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.gate import Gate
from support.raw import raw
from support.upstream import RecordingUpstream
from support.verdict import assert_refused, assert_same_verdict

# The gate and the recorder live as long as the session; every example begins by emptying the record.
GENERATED = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    derandomize=True,
)
DOTS = [".", "%2e", "%2E"]
DOUBLE_DOTS = ["".join(pair) for pair in itertools.product(DOTS, DOTS)]
PROTECTED = "/v1/models"


@pytest.mark.bypass(1, 2, 4)
@pytest.mark.parametrize("dots", [*DOTS, *DOUBLE_DOTS])
@pytest.mark.parametrize(
    "shape", ["/health/{}/v1/models", "/{}/v1/models", "/v1/models/{}", "/v1/{}", "/p/x/{}/models/"]
)
def test_dot_segments_have_no_meaning(gate: Gate, upstream: RecordingUpstream, dots: str, shape: str) -> None:
    """A segment that a server might resolve is refused in every spelling and place, with a key and without."""
    assert_same_verdict(gate, upstream, shape.format(dots), 400)


@pytest.mark.bypass(1, 2, 4, 5, 6, 7, 8, 10, 11)
@GENERATED
@given(
    before=st.sampled_from(["/health", "/v1", "/v1/models", "/p/work", "/api/sessions/abc", ""]),
    separator=st.sampled_from(["/", "%2f", "%2F", "\\", "%5c", "%5C", ";/", ";a=b/", "/;/"]),
    dots=st.sampled_from([*DOTS, *DOUBLE_DOTS]),
    after=st.sampled_from(
        ["/v1/models", "%2fv1%2fmodels", "/", "", "\\v1\\models", ";x/v1/models", "%00/v1/models"]
    ),
)
def test_mixed_spellings_of_a_climb_have_no_meaning(
    gate: Gate, upstream: RecordingUpstream, before: str, separator: str, dots: str, after: str
) -> None:
    """However separators, dots and parameters are combined and encoded, a climbing target is refused."""
    upstream.forget()
    assert_refused(upstream, gate.ask("GET", f"{before}/x{separator}{dots}{after}", key="admin"), 400)


@pytest.mark.bypass(3)
@pytest.mark.parametrize(
    "target",
    [
        "/health/%252e%252e/v1/models",
        "/%252e%252e/v1/models",
        "/v1/%25%32%65%25%32%65/models",
        "/v1%252fmodels",
    ],
)
def test_double_encoding_is_never_decoded_twice(gate: Gate, upstream: RecordingUpstream, target: str) -> None:
    """A doubly encoded climb is a literal name: unknown, behind the key, forwarded as it was written."""
    assert_refused(upstream, gate.ask("GET", target), 401)
    talk = gate.ask("GET", target, key="admin")
    assert talk.status == 404
    assert [seen.target for seen in upstream.forwarded] in ([], [target])


@pytest.mark.bypass(5)
@pytest.mark.parametrize("slash", ["%2f", "%2F"])
@pytest.mark.parametrize(
    "shape", ["/health{}v1/models", "/v1{}models", "/api/sessions/a{}b", "{}v1/models", "/v1/models{}"]
)
def test_encoded_slashes_are_refused(gate: Gate, upstream: RecordingUpstream, slash: str, shape: str) -> None:
    """An encoded slash is a slash to some and a name to others: it is refused."""
    target = shape.format(slash)
    assert_same_verdict(gate, upstream, target, 400)


@pytest.mark.bypass(6)
@pytest.mark.parametrize(
    "target", ["//v1/models", "/v1//models", "/health//v1/models", "///v1/models", "/v1/models//"]
)
def test_doubled_slashes_are_refused_or_merged_before_the_verdict(
    gate: Gate, upstream: RecordingUpstream, target: str
) -> None:
    """An empty segment is refused, or merged first and forwarded merged."""
    talk = gate.ask("GET", target)
    assert talk.status in {400, 401}
    upstream.assert_untouched()
    if talk.status == 400:
        assert_refused(upstream, gate.ask("GET", target, key="admin"), 400)
    else:
        gate.ask("GET", target, key="admin")
        assert "//" not in upstream.only().target


@pytest.mark.bypass(7)
@pytest.mark.parametrize("back", ["\\", "%5c", "%5C"])
@pytest.mark.parametrize(
    "shape", ["/health{}..{}v1{}models", "/v1{}models", "{}v1/models", "/api/sessions/a{}b"]
)
def test_backslashes_are_refused(gate: Gate, upstream: RecordingUpstream, back: str, shape: str) -> None:
    """A backslash is a slash to some servers: it is refused raw and encoded."""
    target = shape.replace("{}", back)
    assert_same_verdict(gate, upstream, target if target.startswith("/") else f"/{target}", 400)


@pytest.mark.bypass(8)
@pytest.mark.parametrize(
    "target",
    [
        "/v1/models;x=1",
        "/health;/../v1/models",
        "/;/v1/models",
        "/v1;a/models",
        "/v1/models;",
        "/v1/models%3bx=1",
        "/v1/models%3B",
    ],
)
def test_path_parameters_are_refused(gate: Gate, upstream: RecordingUpstream, target: str) -> None:
    """A path parameter is cut off by some servers and kept by others: it is refused."""
    assert_same_verdict(gate, upstream, target, 400)


@pytest.mark.bypass(9, 10)
@pytest.mark.parametrize(
    "target",
    [
        "/health#/v1/models",
        "/v1/models#",
        "/#",
        "/v1/models?a=b#c",
        "/health%23/v1/models",
        "/v1/models%3f",
        "/v1/models%3Fx=1",
        "/%23",
    ],
)
def test_fragments_and_encoded_delimiters_are_refused(
    gate: Gate, upstream: RecordingUpstream, target: str
) -> None:
    """A fragment never belongs on the wire, and a hidden delimiter cuts the path for whoever decodes it."""
    assert_same_verdict(gate, upstream, target, 400)


@pytest.mark.bypass(11)
@pytest.mark.parametrize("code", [*range(0x20), 0x7F])
def test_encoded_controls_are_refused(gate: Gate, upstream: RecordingUpstream, code: int) -> None:
    """No control character passes in a path, whichever it is and wherever it stands."""
    for target in (f"/v1/models%{code:02x}.css", f"/%{code:02X}", f"/v1/%{code:02x}/models"):
        assert_refused(upstream, gate.ask("GET", target, key="admin"), 400)


@pytest.mark.bypass(11)
@pytest.mark.parametrize(
    "target", [b"/v1/models\x00", b"/v1/\x01models", b"/v1/models\x7f", b"/v1/models\x0b", b"/v1/models?\x00"]
)
def test_raw_controls_are_refused(gate: Gate, upstream: RecordingUpstream, target: bytes) -> None:
    """No raw control byte passes in a target."""
    assert_same_verdict(gate, upstream, target, 400)


@pytest.mark.bypass(11)
@pytest.mark.parametrize("target", ["/v1/models%0d%0aX:1", "/v1/models%0D%0A%0D%0AGET%20/", "/%0d/v1/models"])
def test_encoded_line_breaks_are_refused(gate: Gate, upstream: RecordingUpstream, target: str) -> None:
    """An encoded line break is refused before anything could write it decoded."""
    assert_same_verdict(gate, upstream, target, 400)


@pytest.mark.bypass(12)
@pytest.mark.parametrize(
    "target",
    [
        b"/%c0%ae%c0%ae/v1/models",
        b"/%e0%80%ae/v1/models",
        b"/%c0%af",
        b"/v1%c0%afmodels",
        b"/%zz",
        b"/v1/models%",
        b"/v1/models%2",
        b"/v1/%g0models",
        b"/%ff",
        b"/%80",
        b"/%ed%a0%80",
        b"/%f4%90%80%80",
        b"/caf\xc3\xa9",
        b"/caf\xe9",
        b"/v1/models%u0041",
    ],
)
def test_what_is_no_utf8_is_refused(gate: Gate, upstream: RecordingUpstream, target: bytes) -> None:
    """Overlong, broken and unencoded characters have no single meaning: they are refused."""
    assert_same_verdict(gate, upstream, target, 400)


@pytest.mark.bypass(13, 14, 16, 17)
@pytest.mark.parametrize(
    "target",
    [
        "/health.",
        "/health/",
        "/health%20",
        "/health%2e",
        "/HEALTH",
        "/Health",
        "/health.json",
        "/healthz",
        "/healthz-admin",
        "/health-admin",
        "/health/x",
        "/health/detailed",
        "/health/v1/models",
        "/v1/models/health",
        "/v1/models/favicon.ico",
        "/v1/models/x.css",
        "/v1/health/x",
        "/favicon.ico",
        "/static/x.js",
        "/p/x/health/detailed",
        "/%68ealth/detailed",
        "/",
    ],
)
def test_what_only_looks_exempt_needs_a_key(gate: Gate, upstream: RecordingUpstream, target: str) -> None:
    """An exemption is one exact path and method: no suffix, prefix, case or ending of it is exempt."""
    assert_refused(upstream, gate.ask("GET", target), 400, 401)


@pytest.mark.bypass(16)
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_an_exemption_holds_for_its_method_only(gate: Gate, upstream: RecordingUpstream, method: str) -> None:
    """What is public to read is not public to write."""
    talk = gate.ask(method, "/health")
    assert talk.status in {401, 405}
    upstream.assert_untouched()


@pytest.mark.bypass(13, 14)
@pytest.mark.parametrize(
    "target",
    [
        "/V1/MODELS",
        "/Api/Jobs",
        "/v1/models.",
        "/v1/models/",
        "/v1/models%20",
        "/api/jobs.json",
        "/admin",
        "/ADMIN",
    ],
)
def test_a_look_alike_of_a_route_is_not_that_route(
    gate: Gate, upstream: RecordingUpstream, target: str
) -> None:
    """A key that may read the real route gets the same verdict for its look-alike, or a refusal, never more."""
    assert_refused(upstream, gate.ask("GET", target), 400, 401, 404)
    assert_refused(upstream, gate.ask("GET", target, key="watcher"), 400, 403, 404)
    talk = gate.ask("GET", target, key="reader")
    assert talk.status in {400, 403, 404}


@pytest.mark.bypass(15, 17)
@pytest.mark.parametrize(
    "target",
    [
        "/v1/models?x=/health",
        "/v1/models?path=/health",
        "/v1/models?/health",
        "/v1/models?x=/../health",
        "/v1/models?#",
        "/api/jobs?next=/health&y",
        "/v1/models??/health",
    ],
)
def test_a_query_never_decides_about_the_path(gate: Gate, upstream: RecordingUpstream, target: str) -> None:
    """Whatever the query holds, a protected path needs its key."""
    assert_refused(upstream, gate.ask("GET", target), 400, 401)


@pytest.mark.bypass(15)
def test_an_accepted_query_is_forwarded_byte_for_byte(gate: Gate, upstream: RecordingUpstream) -> None:
    """What was judged is what is sent: the target arrives as it was written, encoding and case included."""
    target = "/api/sessions?limit=5&source=%41%2f..%2Fx&q=a+b%20c&empty=&flag"
    assert gate.ask("GET", target, key="admin").status == 200
    assert upstream.only().target == target


@pytest.mark.bypass(18, 19)
@pytest.mark.parametrize(
    "target",
    [
        "http://evil.example/v1/models",
        "http://127.0.0.1/v1/models",
        "https://evil.example/health",
        "http://a@evil.example/",
        "http://user:pw@127.0.0.1/v1/models",
        "HTTP://evil.example/",
        "http:/v1/models",
        "http:v1/models",
        "ws://evil.example/",
        "file:///etc/passwd",
        "//evil.example/v1/models",
        "@evil.example/v1/models",
        "/@evil.example:80/../v1/models",
        "v1/models",
        "evil.example/v1/models",
    ],
)
def test_only_the_origin_form_is_a_target(gate: Gate, upstream: RecordingUpstream, target: str) -> None:
    """A target that names a host, a scheme or a user is refused."""
    assert_same_verdict(gate, upstream, target, 400)


@pytest.mark.bypass(20)
@pytest.mark.parametrize(
    ("method", "target"),
    [
        ("OPTIONS", "*"),
        ("GET", "*"),
        ("CONNECT", "evil.example:80"),
        ("CONNECT", "/v1/models"),
        ("CONNECT", "127.0.0.1:22"),
        ("GET", "evil.example:80"),
        ("POST", "*"),
    ],
)
@pytest.mark.parametrize("key", [None, "admin"])
def test_asterisk_and_authority_forms_stop_here(
    gate: Gate, upstream: RecordingUpstream, method: str, target: str, key: str | None
) -> None:
    """Forms made for proxies and servers as a whole never reach the upstream."""
    assert_refused(upstream, gate.ask(method, target, key=key), 400, 405)


@pytest.mark.bypass(21)
@pytest.mark.parametrize(
    "method",
    [
        "TRACE",
        "TRACK",
        "get",
        "Get",
        "post",
        "FOO-BAR",
        "DEBUG",
        "PROPFIND",
        "PURGE",
        "LINK",
        "SOURCE",
        "GETX",
        "QUERY",
    ],
)
@pytest.mark.parametrize("key", [None, "admin"])
def test_unknown_methods_are_405(
    gate: Gate, upstream: RecordingUpstream, method: str, key: str | None
) -> None:
    """A method that no route has is 405, whatever the caller may otherwise do."""
    assert_refused(upstream, gate.ask(method, PROTECTED, key=key), 405)


@pytest.mark.bypass(21)
def test_a_method_the_route_does_not_have_is_405_with_allow(gate: Gate, upstream: RecordingUpstream) -> None:
    """A known path with another method says which methods it has."""
    response = assert_refused(upstream, gate.ask("DELETE", PROTECTED, key="admin"), 405)
    assert "GET" in (response.get("allow") or "")


@pytest.mark.bypass(22)
@pytest.mark.parametrize(
    "name",
    [
        "X-HTTP-Method-Override",
        "X-HTTP-Method",
        "X-Method-Override",
        "x-http-method-override",
        "X-Http_Method-Override",
    ],
)
def test_a_method_override_header_is_dropped(gate: Gate, upstream: RecordingUpstream, name: str) -> None:
    """The method on the request line is the one that is judged and the only one that arrives."""
    talk = gate.ask("GET", "/api/jobs/0123456789ab", key="admin", headers=[(name, "DELETE")])
    if talk.status == 400:
        upstream.assert_untouched()
        return
    seen = upstream.only()
    assert seen.method == "GET"
    assert b"override" not in seen.raw.lower()
    assert b"DELETE" not in seen.raw


@pytest.mark.bypass(22)
def test_an_override_does_not_widen_a_key(gate: Gate, upstream: RecordingUpstream) -> None:
    """A key that may only read cannot delete by claiming that its DELETE is a GET, nor the other way round."""
    talk = gate.ask("DELETE", "/api/sessions/abc", key="reader", headers=[("X-HTTP-Method-Override", "GET")])
    assert_refused(upstream, talk, 400, 403)
    assert_refused(upstream, gate.ask("DELETE", "/api/sessions/abc?_method=GET", key="reader"), 400, 403)


@pytest.mark.bypass(22)
@pytest.mark.parametrize(
    "query", ["_method=DELETE", "a=1&_method=DELETE", "_METHOD=DELETE", "%5Fmethod=DELETE"]
)
def test_a_method_override_in_the_query_does_not_arrive(
    gate: Gate, upstream: RecordingUpstream, query: str
) -> None:
    """The query cannot carry another method to the upstream."""
    talk = gate.ask("GET", f"/api/jobs?{query}", key="admin")
    if talk.status == 400:
        upstream.assert_untouched()
    else:
        assert b"method=" not in upstream.only().raw.lower()


@pytest.mark.bypass(23)
@pytest.mark.parametrize(
    "target",
    [
        "/p/x/../v1/models",
        "/p/x%2f..%2fv1/models",
        "/p/../v1/models",
        "/p/%2e%2e/v1/models",
        "/p/x/..%2fv1/models",
        "/p/x/./v1/models",
        "/p//v1/models",
        "/p/x//v1/models",
        "/p/x%2fv1/models",
        "/p/x/p/y%2f../v1/models",
    ],
)
def test_a_stripped_prefix_cannot_be_climbed(gate: Gate, upstream: RecordingUpstream, target: str) -> None:
    """The profile prefix is taken off only from a path that had one meaning before."""
    assert_same_verdict(gate, upstream, target, 400)


@pytest.mark.bypass(17, 23)
@pytest.mark.parametrize(
    "target", ["/p/default/v1/models", "/p/zzz/api/jobs", "/p/default/health/detailed", "/p/a/p/b/v1/models"]
)
def test_the_prefixed_twin_of_a_route_has_its_rules(
    gate: Gate, upstream: RecordingUpstream, target: str
) -> None:
    """`/p/<profile>/` in front of a route takes nothing off its protection."""
    assert_refused(upstream, gate.ask("GET", target), 401)
    assert_refused(upstream, gate.ask("POST", "/p/default/v1/runs", key="reader", body=b'{"input":"x"}'), 403)


@pytest.mark.bypass(24)
@pytest.mark.parametrize(
    "name",
    [
        "X-Original-URL",
        "X-Rewrite-URL",
        "X-Original-URI",
        "X-Forwarded-Uri",
        "X-Forwarded-Prefix",
        "X-Forwarded-Path",
        "X-Forwarded-Method",
        "X-Envoy-Original-Path",
        "X-Original-Method",
        "X-Script-Name",
        "X-Forwarded-Script-Name",
        "x-rewrite-url",
        "X-Original-Host",
        "X-Forwarded-Server",
    ],
)
def test_rewrite_headers_decide_nothing_and_do_not_arrive(
    gate: Gate, upstream: RecordingUpstream, name: str
) -> None:
    """A header that names another target neither opens a path nor reaches the upstream."""
    assert_refused(upstream, gate.ask("GET", PROTECTED, headers=[(name, "/health")]), 400, 401)
    talk = gate.ask("GET", PROTECTED, key="admin", headers=[(name, "/smuggled")])
    if talk.status == 400:
        upstream.assert_untouched()
        return
    seen = upstream.only()
    assert seen.target == PROTECTED
    assert b"smuggled" not in seen.raw


@pytest.mark.bypass(11, 12)
def test_a_target_beyond_the_cap_is_refused(gate: Gate, upstream: RecordingUpstream) -> None:
    """A target of any length is read only up to its cap."""
    for size in (9000, 40000):
        talk = raw(gate.port, gate.message("GET", "/v1/models?" + "a" * size, key="admin"))
        assert_refused(upstream, talk, 414, 431, 400)


def test_the_recorder_sees_what_passes(gate: Gate, upstream: RecordingUpstream) -> None:
    """The suite can fail: an honest request is recorded, so an empty record means that nothing passed."""
    assert gate.ask("GET", PROTECTED, key="reader").status == 200
    assert upstream.only().target == PROTECTED
