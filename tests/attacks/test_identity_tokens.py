"""Signed tokens: forged, of somebody else, of another kind, outlived; and an issuer that is slow, or asked too often."""

import hmac
import json
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization

from support.gate import Gate
from support.raw import Connection, Talk, raw, request
from support.tokens import AUDIENCE, ISSUER, claims, encoded, key_set, signer
from support.upstream import Hold, RecordingUpstream, sse_answer
from support.verdict import assert_refused

PROTECTED = "/v1/models"
CHAT = "/v1/chat/completions"
# An address that has authenticated is not held to the common budget of failures.
KNOWN = "127.0.0.3"
PATIENCE_S = 30.0
SLOW_ISSUER = "https://slow.example.com"
ES, RS, ED = signer("ES256", "es"), signer("RS256", "rs"), signer("EdDSA", "ed")
STRANGER = signer("ES256", "stranger")


class Issuer:
    """Publishes keys over HTTP on loopback, and counts how often it is asked."""

    def __init__(self) -> None:
        self.asked = 0
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                issuer.asked += 1
                body = key_set(ES, RS, ED, {"kty": "oct", "k": "ZmFrZQ", "kid": "shared", "alg": "HS256"})
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/certs"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    made = Issuer()
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture(scope="module")
def gate(
    tmp_path_factory: pytest.TempPathFactory, upstream: RecordingUpstream, issuer: Issuer
) -> Iterator[Gate]:
    """A gate that takes keys, tokens of one issuer, and tokens of one whose keys never come."""
    # It accepts, and never says a word.
    with socket.create_server(("127.0.0.1", 0)) as mute:
        entries = [
            {
                "name": "idp",
                "issuer": ISSUER,
                "audience": AUDIENCE,
                "jwks_url": issuer.url,
                "scopes": ["run", "read"],
            },
            {
                "name": "slow",
                "issuer": SLOW_ISSUER,
                "audience": AUDIENCE,
                "jwks_url": f"http://127.0.0.1:{mute.getsockname()[1]}/",
                "scopes": ["admin"],
            },
        ]
        with Gate(tmp_path_factory.mktemp("tokens"), upstream.url, {"auth": {"tokens": entries}}) as running:
            deadline = time.monotonic() + 20
            while send(running, good()) != 200:
                assert time.monotonic() < deadline, running.stderr()
            upstream.forget()
            yield running


def now(**over: Any) -> dict[str, Any]:
    at = int(time.time())
    return claims(**{"iat": at - 5, "exp": at + 600} | over)


def good() -> bytes:
    return ES.token(now())


def bearing(
    gate: Gate, token: bytes, method: str = "GET", target: str = PROTECTED, body: bytes = b""
) -> bytes:
    return request(method, target, host=gate.host, key=token.decode("latin-1"), body=body)


def ask(gate: Gate, token: bytes, *rest: Any) -> Talk:
    return raw(gate.port, bearing(gate, token, *rest), source=KNOWN)


def send(gate: Gate, token: bytes) -> int | None:
    return ask(gate, token).status


@pytest.mark.parametrize("key", [ES, RS, ED], ids=lambda key: key.algorithm)
def test_a_right_token_opens_what_its_issuer_may_open(
    gate: Gate, upstream: RecordingUpstream, key: Any
) -> None:
    """Whatever it says of itself beyond that; it stays at the gate and out of every log."""
    token = key.token(now(scope="admin"))
    assert send(gate, token) == 200
    assert upstream.only().get("authorization") == f"Bearer {gate.upstream_key}".encode()
    assert token not in upstream.only().raw
    assert ask(gate, token, "POST", "/api/jobs", b"{}").status == 403
    line = gate.audit()[-1]
    assert line["actor"] == "jwt:idp:worker-1"
    assert token.decode() not in gate.written()
    assert token.split(b".")[1].decode() not in gate.written()


def _shared(secret: bytes, **header: Any) -> bytes:
    """Sign with a shared secret."""
    signed = encoded({"alg": "HS256", "typ": "JWT"} | header) + b"." + encoded(now())
    return signed + b"." + encoded(hmac.digest(secret, signed, "sha256"))


def _unsigned(alg: str, signature: bytes = b"") -> bytes:
    return encoded({"alg": alg, "typ": "JWT", "kid": "es"}) + b"." + encoded(now()) + b"." + signature


def _pem(key: Any) -> bytes:
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return bytes(key.private.public_key().public_bytes(serialization.Encoding.PEM, form))


def _twice(payload: bytes) -> bytes:
    return ES.sign({"alg": "ES256", "kid": "es"}, payload)


def _forged() -> dict[str, bytes]:
    at = int(time.time())
    whole = json.dumps(now()).encode()
    header, payload, signature = good().split(b".")
    return {
        # No signature, or one that anybody can make.
        "none": _unsigned("none"),
        "none with a signature": _unsigned("none", signature),
        "nOnE": _unsigned("nOnE", b"AAAA"),
        "empty signature": b".".join((header, payload, b"")),
        "signature of another token": b".".join((header, encoded(now(sub="root")), signature)),
        "another key": STRANGER.token(now(), kid="es"),
        "public key as secret": _shared(_pem(RS), kid="rs"),
        "public key as secret, EC": _shared(_pem(ES), kid="es"),
        "JWK as secret": _shared(json.dumps(RS.jwk()).encode(), kid="rs"),
        "published secret": _shared(b"fake", kid="shared"),
        "HS256 called RS256": _shared(_pem(RS), alg="RS256", kid="rs"),
        "RS256 called PS256": RS.token(now(), alg="PS256"),
        # A key, or the way to one, in the token.
        "jwk": STRANGER.token(now(), kid=None, jwk=STRANGER.jwk()),
        "jku": STRANGER.token(now(), jku="http://127.0.0.1:1/jwks"),
        "x5u": STRANGER.token(now(), x5u="http://127.0.0.1:1/cert"),
        "x5c": STRANGER.token(now(), x5c=["AAAA"]),
        "kid as path": STRANGER.token(now(), kid="../../../../../../dev/null"),
        "kid as path, empty secret": _shared(b"", kid="../../../../../../dev/null"),
        "kid as query": STRANGER.token(now(), kid="es' UNION SELECT 'a"),
        "kid as list": ES.token(now(), kid=["es"]),
        "kid as number": ES.token(now(), kid=0),
        # Of another kind.
        "crit": ES.token(now(), crit=["exp"], exp=at),
        "unknown crit": ES.token(now(), crit=["x"], x=1),
        "b64": ES.token(now(), crit=["b64"], b64=False),
        "nested": ES.sign({"alg": "ES256", "kid": "es", "cty": "JWT"}, good()),
        "logout token": ES.token(now(), typ="logout+jwt"),
        "two kids": ES.sign(b'{"alg":"ES256","kid":"es","kid":"rs"}', whole),
        "two algs": ES.sign(b'{"alg":"ES256","alg":"none","kid":"es"}', whole),
        "two subjects": _twice(whole[:-1] + b', "sub": "root"}'),
        "claims as list": _twice(b"[" + whole + b"]"),
        # For somebody else, or of somebody else.
        "other issuer": ES.token(now(iss="https://evil.example.com")),
        "issuer with a slash": ES.token(now(iss=ISSUER + "/")),
        "issuer as list": ES.token(now(iss=[ISSUER])),
        "no issuer": ES.token(now(iss=None)),
        "issuer of other keys": ES.token(now(iss=SLOW_ISSUER)),
        "other audience": ES.token(now(aud="other")),
        "part of the audience": ES.token(now(aud=AUDIENCE[:-1])),
        "longer audience": ES.token(now(aud=AUDIENCE + "-2")),
        "joined audiences": ES.token(now(aud=f"other {AUDIENCE}")),
        "empty audience": ES.token(now(aud="")),
        "empty audiences": ES.token(now(aud=[])),
        "no audience": ES.token(now(aud=None)),
        "audience as object": ES.token(now(aud={AUDIENCE: 1})),
        "no subject": ES.token(now(sub=None)),
        "subject as list": ES.token(now(sub=["root"])),
        # Too late, too early, for ever.
        "expired": ES.token(now(iat=at - 900, exp=at - 60)),
        "no end": ES.token(now(exp=None)),
        "end as text": ES.token(now(exp=str(at + 600))),
        "end as fraction": ES.token(now(exp=at + 600.5)),
        "end as NaN": _twice(whole.replace(b'"exp": ', b'"exp": NaN, "x": ')),
        "end as true": ES.token(now(exp=True)),
        "far end": ES.token(now(exp=10**12)),
        "huge end": ES.token(now(exp=10**300)),
        "not yet": ES.token(now(nbf=at + 300)),
        "issued tomorrow": ES.token(now(iat=at + 86_400, exp=at + 86_500)),
        # No token.
        "large": ES.token(now(x="x" * 7000)),
        "five parts": good() + b".AAAA.AAAA",
        "broken": b"eyJ.e30.AAAA",
        "padding": good() + b"=",
    }


@pytest.mark.bypass(44, 75, 78)
@pytest.mark.parametrize("kind", list(_forged()))
def test_a_token_that_is_not_right_opens_nothing(gate: Gate, upstream: RecordingUpstream, kind: str) -> None:
    """It gets the answer of a wrong key to the byte, and nobody but the operator hears why."""
    token = _forged()[kind]
    wrong = ask(gate, b"wrong-wrong-wrong-wrong-wrong-wrong").first
    found = assert_refused(upstream, ask(gate, token), 401)
    assert found.body == wrong.body
    assert [name for name, _ in found.headers] == [name for name, _ in wrong.headers]
    assert token.decode() not in gate.written()


@pytest.mark.bypass(75)
def test_a_token_of_a_megabyte_is_not_read(gate: Gate, upstream: RecordingUpstream) -> None:
    """The head has its own bound."""
    talk = ask(gate, ES.token(now(x="x" * 1_000_000)))
    assert talk.status in {400, 401, 431}
    upstream.assert_untouched()


@pytest.mark.bypass(30, 31, 32, 75)
def test_a_token_stands_in_one_place(gate: Gate, upstream: RecordingUpstream) -> None:
    """Not in the query, not beside a key, not twice."""
    token = good().decode()
    for target, headers in (
        (f"{PROTECTED}?access_token={token}", []),
        (f"{PROTECTED}?jwt={token}", [("Authorization", f"Bearer {token}")]),
        (PROTECTED, [("Authorization", f"Bearer {token}"), ("X-Api-Key", gate.keys["admin"])]),
        (
            PROTECTED,
            [("Authorization", f"Bearer {token}"), ("authorization", f"Bearer {gate.keys['admin']}")],
        ),
        (PROTECTED, [("Authorization", f"Bearer {token}"), ("Cookie", f"jwt={token}")]),
        (PROTECTED, [("Authorization", f"Bearer {token}, Bearer {token}")]),
    ):
        assert_refused(upstream, gate.ask("GET", target, headers=headers), 400, 401)
    for headers in (
        [("Cookie", f"jwt={token}")],
        [("X-Auth-Token", token)],
        [("X-Forwarded-Access-Token", token)],
    ):
        assert_refused(upstream, gate.ask("GET", PROTECTED, headers=headers), 401)
    assert token not in gate.written()


@pytest.mark.bypass(75)
def test_made_up_key_ids_do_not_reach_the_issuer(
    gate: Gate, issuer: Issuer, upstream: RecordingUpstream
) -> None:
    """However many: it is asked once per cool-down, and right tokens are taken meanwhile."""
    before = issuer.asked
    for number in range(40):
        assert send(gate, STRANGER.token(now(), kid=f"made-up-{number}")) == 401
        assert send(gate, STRANGER.token(now(iss=SLOW_ISSUER), kid=f"made-up-{number}")) == 401
    assert send(gate, good()) == 200
    assert issuer.asked <= before + 1


@pytest.mark.bypass(57)
def test_a_stream_does_not_outlive_its_token(gate: Gate, upstream: RecordingUpstream) -> None:
    """It is broken off with a word why, though the agent would go on."""
    hold = Hold()
    upstream.on("POST", CHAT, sse_answer(b"data: {}\n\n", hold))
    at = int(time.time())
    token = ES.token(now(iat=at, exp=at + 2))
    message = bearing(
        gate, token, "POST", CHAT, b'{"stream": true, "messages": [{"role": "user", "content": "hi"}]}'
    )
    try:
        with Connection(gate.port) as connection:
            connection.send(message)
            connection.read_until(b"herma.auth.expired", 20)
            assert int(time.time()) >= at + 2
        assert upstream.forwarded[-1].connection.gone.wait(PATIENCE_S)
    finally:
        hold.release()


def test_the_operator_hears_why_and_of_whom(gate: Gate) -> None:
    """The issuer's name and the reason, in the audit; and that an issuer's keys cannot be read, in the log."""
    send(gate, ES.token(now(aud="other")))
    rules = gate.audit()[-1]["rules"]
    assert [(one["id"], one["place"]) for one in rules] == [("auth-token-audience", "issuer:idp")]
    deadline = time.monotonic() + 30
    while "cannot be read" not in gate.stderr():
        assert time.monotonic() < deadline
        assert gate.admin("/readyz").status == 200
