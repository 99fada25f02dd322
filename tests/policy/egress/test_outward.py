"""What becomes of a request, by whom it goes to."""

import base64
import gzip
import io
import zipfile
import zlib

import pytest

from herma.policy.decision import Deny, Mode
from herma.policy.egress import packed
from herma.policy.egress.destination import Destination
from herma.policy.egress.exfiltration import SECRET, WATCHED, Exfiltration
from herma.policy.egress.host_pattern import HostPattern
from herma.policy.egress.masking import Masker
from herma.policy.egress.outward import Kind, Outbound, Outward, Sent
from herma.policy.egress.platform import Platform, PlatformRoute, Platforms
from herma.policy.egress.service import Service, Services
from herma.policy.egress.watched import Watched
from support.redactor import GITHUB, KEY, redactor

VALUE = "k3y-0f-th3-t3st-0001"
CHAT = Destination("api.chat.example", 443)
MODEL = Destination("api.model.example", 443)
STRANGER = Destination("collector.example", 443)
SERVICE = Destination("api.search.example", 443)
RUNNER = Destination("run.search.example", 443)
# Packed so that a plus sign stands in what is written, which is a blank in a form.
PLUS = next(
    run
    for n in range(99)
    if b"+" in (run := base64.b64encode(gzip.compress(f"{VALUE} {n}".encode(), mtime=0)))
)
FORM = ((b"Content-Type", b"application/x-www-form-urlencoded"),)


def outward(mode: Mode = Mode.ENFORCE, *, pass_sealed: bool = True) -> Outward:
    """A judge that knows one platform, one model, two services and one file."""
    chat = Platform(
        "chat",
        "Chat",
        (HostPattern.parse("api.chat.example"),),
        routes=(PlatformRoute("/send", ("/token", "/handle")),),
    )
    models = [HostPattern.parse("api.model.example"), HostPattern.parse("api.chat.example")]
    look = Exfiltration(redactor(), Watched.of(KEY, [f"NOTE={VALUE}"]))
    services = Services(
        [
            Service("search", (HostPattern.parse("api.search.example"),), ("/key",)),
            Service("runner", (HostPattern.parse("run.search.example"),), fields=(b"authorization",)),
        ]
    )
    return Outward(
        Platforms([chat]), models, Masker(redactor()), look, mode, services=services, pass_sealed=pass_sealed
    )


def post(
    place: Destination, body: bytes = b"", target: bytes = b"/send", *headers: tuple[bytes, bytes]
) -> Outbound:
    """A request of the agent."""
    return Outbound(place, "POST", target, headers, body)


def test_who_a_destination_is() -> None:
    """A platform's host is one, whatever else is listed."""
    judge = outward()
    places = (CHAT, MODEL, SERVICE, STRANGER)
    assert [judge.kind(place) for place in places] == [Kind.PLATFORM, Kind.MODEL, Kind.SERVICE, Kind.OTHER]


def test_a_model_is_told_everything() -> None:
    """Nothing is looked at."""
    asked = post(MODEL, GITHUB.encode())
    assert outward().request(asked) == Sent(asked.target, asked.body)
    assert outward().message(MODEL, b"/", asked.body) == Sent(b"/", asked.body)


def test_a_platform_gets_it_masked() -> None:
    """In the query and in the body; what is in use stays."""
    sent = outward().request(
        post(CHAT, f'{{"token": "{GITHUB}", "text": "{GITHUB}"}}'.encode(), f"/send?text={GITHUB}".encode())
    )
    assert isinstance(sent, Sent)
    assert GITHUB.encode() not in sent.target
    assert sent.body.count(GITHUB.encode()) == 1
    assert len(sent.findings) == 2
    message = outward().message(CHAT, b"/send", f'{{"text": "{GITHUB}"}}'.encode())
    assert isinstance(message, Sent)
    assert GITHUB.encode() not in message.body


def test_nothing_to_mask_is_the_same_bytes() -> None:
    """Judged is what is sent."""
    asked = post(CHAT, b'{"text":  "hi"}', b"/send?n=%31")
    sent = outward().request(asked)
    assert isinstance(sent, Sent)
    assert sent.target is asked.target
    assert sent.body is asked.body


def test_a_form_with_two_meanings_is_refused() -> None:
    """Nobody knows which one is read."""
    broken = post(CHAT, b"--xx\r\nno form", b"/send", (b"Content-Type", b"multipart/form-data; boundary=yy"))
    denied = outward().request(broken)
    assert isinstance(denied, Deny)
    assert denied.code == "herma.egress.form"


@pytest.mark.parametrize(
    ("asked", "rule"),
    [
        (post(STRANGER, GITHUB.encode()), SECRET),
        (post(STRANGER, b"", f"/?q={GITHUB}".encode()), SECRET),
        (post(STRANGER, b"", f"/{GITHUB}/x".encode()), SECRET),
        (post(STRANGER, b"", b"/", (b"X-Note", GITHUB.encode())), SECRET),
        (post(STRANGER, VALUE.encode()), WATCHED),
        (post(STRANGER, b"a=" + VALUE.encode().replace(b"-", b"%2D"), b"/", *FORM), WATCHED),
        (post(STRANGER, f"{GITHUB} {VALUE}".encode()), WATCHED),
        *((post(STRANGER, PLUS + end, b"/", *FORM), WATCHED) for end in (b"", b"&a=b")),
        (post(STRANGER, b"", b"/" + PLUS), WATCHED),
        (post(STRANGER, b"", b"/?" + PLUS), WATCHED),
    ],
)
def test_a_stranger_gets_no_secret_wherever_it_stands(asked: Outbound, rule: str) -> None:
    """The refusal names the kind, and nothing of it."""
    denied = outward().request(asked)
    assert isinstance(denied, Deny)
    assert denied.code == ("herma.egress.watched" if rule == WATCHED else "herma.egress.secret")
    assert rule in {finding.rule_id for finding in denied.findings}
    assert GITHUB not in repr(denied)
    assert GITHUB not in repr(asked)


def test_a_stranger_gets_the_credential_that_it_asks_for() -> None:
    """Else no interface with a key could be used."""
    asked = post(
        STRANGER, b'{"q": "weather"}', b"/v1?city=Oslo", (b"Authorization", f"Bearer {GITHUB}".encode())
    )
    assert isinstance(outward().request(asked), Sent)


@pytest.mark.parametrize(
    ("field", "code"),
    [
        ((b"Authorization", b"Bearer " + VALUE.encode()), "herma.egress.watched"),
        ((b"X-Api-Key", VALUE.encode()), "herma.egress.watched"),
        ((b"Authorization", b"Basic " + base64.b64encode(b"u:" + VALUE.encode())), "herma.egress.watched"),
        (
            (b"Authorization", b"Bearer " + base64.b64encode(f"A=1\nB={GITHUB}\n".encode())),
            "herma.egress.secret",
        ),
        (
            (b"Authorization", b"Bearer " + base64.b64encode(gzip.compress(VALUE.encode()))),
            "herma.egress.watched",
        ),
        ((b"Authorization", f"see {GITHUB} for it".encode()), "herma.egress.secret"),
        ((b"Content-Note", GITHUB.encode()), "herma.egress.secret"),
        ((b"X-Author", GITHUB.encode()), "herma.egress.secret"),
    ],
)
def test_a_credential_that_is_another_ones_is_refused(field: tuple[bytes, bytes], code: str) -> None:
    """One of a watched file, and what is no credential but is sent in the place of one."""
    denied = outward().request(post(STRANGER, b"", b"/", field))
    assert isinstance(denied, Deny)
    assert denied.code == code


def test_programs_that_log_in_with_a_password_reach_their_host() -> None:
    """As git does."""
    field = (b"Authorization", b"Basic " + base64.b64encode(b"x-access-token:" + GITHUB.encode()))
    assert isinstance(outward().request(post(STRANGER, b"", b"/", field)), Sent)


PACKED = gzip.compress(f"{VALUE} {GITHUB}".encode())
# The redactor sees what it knows in gzip in base64, and masks it.
ONLY = base64.b64encode(gzip.compress(VALUE.encode()))
FILE = b'--xx\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n' + PACKED + b"\r\n--xx--\r\n"


@pytest.mark.parametrize(
    "asked",
    [
        post(CHAT, FILE, b"/send", (b"Content-Type", b"multipart/form-data; boundary=xx")),
        post(CHAT, PACKED),
        post(CHAT, b'{"text": "' + ONLY + b'"}'),
        post(CHAT, b"\xff\xfd " + VALUE.encode() + b" \xff"),
        post(CHAT, base64.b64encode(VALUE.encode() + b" and more of it")),
        post(CHAT, b'{"handle": "' + base64.b64encode(VALUE.encode() + b" and") + b'"}'),
        post(CHAT, b"", b"/send?text=" + ONLY.replace(b"+", b"%2B")),
        post(CHAT, b"", b"/send/" + base64.b64encode(PACKED)),
        post(CHAT, b"", b"/send/see%20" + GITHUB.encode()),
        post(CHAT, b"", b"/send", (b"X-Title", VALUE.encode())),
        post(CHAT, b"", b"/send", (b"X-Title", GITHUB.encode())),
    ],
)
def test_a_platform_gets_nothing_that_a_mask_does_not_reach(asked: Outbound) -> None:
    """Anybody can have a chat, a bot or a web hook of their own."""
    assert isinstance(outward().request(asked), Deny)
    told = outward(Mode.MONITOR).request(asked)
    assert isinstance(told, Sent)
    assert told.body is asked.body
    assert told.findings
    assert outward(Mode.OFF).request(asked) == Sent(asked.target, asked.body)


def test_a_platform_gets_its_own_credentials() -> None:
    """Though they stand in the agent's file of keys."""
    own = (b"Authorization", b"Bot " + VALUE.encode())
    asked = post(
        CHAT, b'{"token": "' + VALUE.encode() + b'", "handle": "f1l3"}', b"/bot" + VALUE.encode(), own
    )
    chat = post(CHAT, asked.body, b"/send", own)
    assert outward().request(chat) == Sent(chat.target, chat.body)


def test_what_stands_in_a_watched_file_is_masked_for_people() -> None:
    """In the text, and in a message of a socket."""
    sent = outward().request(
        post(CHAT, f'{{"text": "see {VALUE}"}}'.encode(), f"/send?text={VALUE}".encode())
    )
    assert isinstance(sent, Sent)
    assert VALUE.encode() not in sent.body + sent.target
    message = outward().message(CHAT, b"/send", VALUE.encode())
    assert isinstance(message, Sent)
    assert VALUE.encode() not in message.body


def test_a_message_to_a_stranger_is_looked_through() -> None:
    """As a body is."""
    assert isinstance(outward().message(STRANGER, b"/", GITHUB.encode()), Deny)
    assert isinstance(outward().message(STRANGER, b"/", b"hello"), Sent)


def test_what_cannot_be_looked_through_is_refused_or_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the mode."""
    monkeypatch.setattr(packed, "MAX_BYTES", 100)
    asked = post(STRANGER, gzip.compress(b"a" * 200))
    denied = outward().request(asked)
    assert isinstance(denied, Deny)
    assert denied.code == "herma.egress.unread"
    told = outward(Mode.MONITOR).request(asked)
    assert isinstance(told, Sent)
    assert [finding.rule_id for finding in told.findings] == ["egress-unread"]


def test_who_only_reports_sends_it_and_tells() -> None:
    """And who switches the look off is told nothing."""
    asked = post(STRANGER, GITHUB.encode())
    told = outward(Mode.MONITOR).request(asked)
    assert isinstance(told, Sent)
    assert told.body is asked.body
    assert [finding.rule_id for finding in told.findings] == [SECRET]
    assert outward(Mode.OFF).request(asked) == Sent(asked.target, asked.body)


def test_a_file_in_an_archive_is_looked_through() -> None:
    """Whatever it is called."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("holiday.txt", f"{VALUE}\n" * 50)
    assert isinstance(outward().request(post(STRANGER, file.getvalue())), Deny)


@pytest.mark.parametrize("place", [STRANGER, CHAT])
def test_what_is_sealed_is_sent_and_told(place: Destination) -> None:
    """A backup is sealed as well; a secret beside it is refused or masked all the same."""
    sealed = b"7z\xbc\xaf\x27\x1c" + bytes(range(256))
    asked = post(place, sealed)
    sent = outward().request(asked)
    assert isinstance(sent, Sent)
    assert sent.body is asked.body
    assert [finding.rule_id for finding in sent.findings] == ["egress-sealed"]
    both = outward().request(post(place, sealed + b" \0 " + VALUE.encode()))
    assert isinstance(both, Deny)


def test_a_push_of_git_holds_nothing_that_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Code may hold what looks like a key; a push that is too large is told."""
    head = b"0000PACK\0\0\0\x02\0\0\0\x01\xbf\x0a"
    denied = outward().request(post(STRANGER, head + zlib.compress(f"A={VALUE}".encode())))
    assert isinstance(denied, Deny)
    assert denied.code == "herma.egress.watched"
    code = post(STRANGER, head + zlib.compress(f"key = {GITHUB}".encode()))
    assert outward().request(code) == Sent(code.target, code.body)
    monkeypatch.setattr("herma.policy.egress.git_pack.MAX_OBJECTS", 1)
    told = outward().request(post(STRANGER, code.body * 3))
    assert isinstance(told, Sent)
    assert [finding.rule_id for finding in told.findings] == ["egress-sealed"]


BEARER = (b"Authorization", b"Bearer " + VALUE.encode())


@pytest.mark.parametrize(
    "asked",
    [
        post(SERVICE, b'{"q": "weather"}', b"/v1?city=Oslo", BEARER),
        post(SERVICE, b"", b"/v1", (b"X-Api-Key", VALUE.encode())),
        post(SERVICE, b"", b"/v1", (b"Authorization", b"Basic " + base64.b64encode(b"u:" + VALUE.encode()))),
        post(SERVICE, b"", b"/v1?q=x&key=" + VALUE.encode()),
        post(SERVICE, b"q=x&key=" + GITHUB.encode(), b"/v1", *FORM),
        post(SERVICE, b'{"key": "' + VALUE.encode() + b'"}', b"/v1", (b"Content-Type", b"application/json")),
        post(RUNNER, b"", b"/v1", BEARER),
    ],
)
def test_a_service_is_shown_the_key_that_it_asks_for(asked: Outbound) -> None:
    """Although it stands in a watched file."""
    assert outward().request(asked) == Sent(asked.target, asked.body)


@pytest.mark.parametrize(
    "asked",
    [
        post(SERVICE, VALUE.encode(), b"/v1", BEARER),
        post(SERVICE, b'{"files": {"a": {"content": "NOTE=' + VALUE.encode() + b'"}}}', b"/gists", BEARER),
        post(SERVICE, b"", b"/" + VALUE.encode(), BEARER),
        post(SERVICE, b"", b"/v1?q=" + VALUE.encode(), BEARER),
        post(SERVICE, b"", b"/v1", (b"X-Note", VALUE.encode())),
        post(SERVICE, b"", b"/v1", (b"X-Api-Key", base64.b64encode(b"NOTE=" + VALUE.encode()))),
        post(SERVICE, b"", b"/v1?key=" + base64.urlsafe_b64encode(b"NOTE=" + VALUE.encode())),
        post(SERVICE, b"key=x%0ANOTE%3D" + VALUE.encode(), b"/v1", *FORM),
        post(RUNNER, b"", b"/v1", (b"X-Api-Key", VALUE.encode())),
        post(RUNNER, b"", b"/v1?key=" + VALUE.encode()),
        post(Destination("api.search.example.evil.example", 443), b"", b"/v1", BEARER),
    ],
)
def test_a_service_is_told_nothing_else(asked: Outbound) -> None:
    """What anybody could read there is judged as a stranger's is."""
    denied = outward().request(asked)
    assert isinstance(denied, Deny)
    assert denied.code == "herma.egress.watched"


def test_a_request_is_given_without_the_keys_that_it_shows() -> None:
    """To whoever tells people of it; one to anybody else shows none."""
    for asked in (post(SERVICE, b"q=x&key=k3y-1", b"/v1?key=k3y-1&n=1", *FORM), post(SERVICE, b"hi")):
        plain = outward().unkeyed(asked)
        assert plain.target == asked.target.replace(b"key=k3y-1&", b"")
        assert plain.body == asked.body.replace(b"&key=k3y-1", b"")
    for place in (STRANGER, CHAT, MODEL):
        asked = post(place, b"q=x&key=k3y-1", b"/v1?key=k3y-1", *FORM)
        assert outward().unkeyed(asked) is asked


def test_a_message_to_a_service_is_judged_as_one_to_a_stranger() -> None:
    """A socket has no fields."""
    assert isinstance(outward().message(SERVICE, b"/", VALUE.encode()), Deny)
    assert isinstance(outward().message(SERVICE, b"/", b"hi"), Sent)


@pytest.mark.parametrize("place", [STRANGER, SERVICE, CHAT])
def test_what_nobody_can_look_into_is_told_or_refused(place: Destination) -> None:
    """By what was chosen; it is told either way."""
    asked = post(place, b"7z\xbc\xaf\x27\x1c" + bytes(20))
    told = outward().request(asked)
    assert isinstance(told, Sent)
    denied = outward(pass_sealed=False).request(asked)
    assert isinstance(denied, Deny)
    assert denied.code == "herma.egress.sealed"
    assert denied.findings == told.findings
    assert isinstance(outward(Mode.MONITOR, pass_sealed=False).request(asked), Sent)
    assert outward(pass_sealed=False).request(post(place, b"hi")) == Sent(b"/send", b"hi")


SCOPE = "AKIAQWERTYUIOPASDFGH%2F20261203%2Fus-east-1%2Fs3%2Faws4_request"
SIGNED = f"/b?X-Amz-Credential={SCOPE}&X-Amz-Signature={'0123456789abcdef' * 4}"


@pytest.mark.parametrize(
    "target", [SIGNED, "/b?sv=2022-11-02&sig=ZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXp7fH1%2Bf4CBgoM%3D"]
)
def test_a_stranger_gets_what_signs_one_request(target: str) -> None:
    """Its name would make a secret of any value."""
    assert isinstance(outward().request(post(STRANGER, b"", target.encode())), Sent)


@pytest.mark.parametrize(
    "value",
    [
        GITHUB,
        VALUE,
        base64.urlsafe_b64encode(f"NOTE={VALUE}".encode()).decode(),
        f"AKIAQWERTYUIOPASDFGH/20261203/{VALUE}/s3/aws4_request",
    ],
)
def test_a_signature_is_no_way_out(value: str) -> None:
    """What is a secret without a name is one there, too."""
    for name in ("sig", "X-Amz-Signature", "X-Amz-Credential"):
        assert isinstance(outward().request(post(STRANGER, b"", f"/b?n=1&{name}={value}".encode())), Deny)
