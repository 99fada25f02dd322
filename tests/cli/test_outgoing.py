"""What is known of a request that goes out is told, and no secret with it."""

import json
from functools import cache

import pytest

from egress.test_rehearsal import JSON, judges, request
from herma.cli.outgoing import MAX_SHOWN_CHARS, Becomes, Outgoing, Outgoings
from herma.config.egress import Egress
from herma.content.library import Library
from herma.egress.recorded import Recorded
from herma.egress.rehearsal import Rehearsal
from herma.policy.egress.destination import EgressMode
from support.redactor import GITHUB, OPENAI, redactor

BOT = "123456789:AAF4keK3yF0rT3stF4keK3yF0rT3stF4ke0"
HOOK = "F4keK3yF0rT3stF4keK3yF0rT3stF4keK3yF0rT3st-F4keK3yF0rT3stabc"
FORM = ((b"content-type", b"application/x-www-form-urlencoded"),)


@cache
def outgoings(mode: EgressMode = EgressMode.BLOCK_KNOWN_BAD) -> Outgoings:
    known = judges(mode)
    return Outgoings(known, Rehearsal(known, Egress()), redactor(), Library())


def explained(recorded: Recorded) -> Outgoing:
    found = outgoings().of(recorded)
    for secret in (GITHUB, OPENAI, BOT.partition(":")[2], HOOK):
        assert secret not in found.url + found.body
    return found


def test_a_message_is_shown_as_it_is_sent() -> None:
    """Masked, with the rules that masked it, and without the token that opens the door."""
    body = json.dumps({"chat_id": 1, "text": f"use {GITHUB}"}).encode()
    found = explained(request(f"https://api.telegram.org/bot{BOT}/sendMessage", body, headers=JSON))
    assert (found.becomes, found.kind, found.platform, found.code) == (
        Becomes.MASKED,
        "platform",
        "telegram",
        "",
    )
    assert found.url == "api.telegram.org/*/sendMessage"
    assert found.body.startswith('{"chat_id": 1, "text": "use [')
    assert [reason.rule.family for reason in found.reasons if reason.rule] == ["redaction"]
    assert (found.kept, found.held, found.hint) == (0, (), "")


def test_what_is_in_use_is_counted_and_not_shown() -> None:
    """It is sent as it is: the platform gave it out."""
    found = explained(
        request("https://slack.com/api/chat.postMessage", f"token={GITHUB}&text=hello".encode(), headers=FORM)
    )
    assert (found.becomes, found.kept) == (Becomes.PASSED, 1)
    assert "text=hello" in found.body
    for url in (
        f"https://discord.com/api/webhooks/1234/{HOOK}?wait=true",
        f"https://slack.com/a?token={GITHUB}",
    ):
        assert explained(request(url)).becomes is Becomes.PASSED


def test_a_secret_on_its_way_to_a_stranger_is_named_by_its_rules() -> None:
    """With what would let it pass."""
    found = explained(request(f"https://a.example.com/?k={GITHUB}", f"k: {OPENAI}".encode()))
    assert (found.becomes, found.code) == (Becomes.REFUSED, "herma.egress.secret")
    assert set(found.held) == {"github-pat", "openai-key"}
    assert "egress.platforms" in found.hint
    assert found.message.startswith("The request holds a secret")
    assert [reason.rule for reason in found.reasons] == [None, None]


def test_a_secret_for_people_that_no_mask_reaches_is_told_as_such() -> None:
    """It is no stranger that would have to be named."""
    found = explained(request("https://slack.com/api/x", headers=((b"x-note", GITHUB.encode()),)))
    assert (found.becomes, found.code, found.platform) == (Becomes.REFUSED, "herma.egress.secret", "slack")
    assert "in the text of the message" in found.hint


def test_a_body_that_can_be_read_in_two_ways_is_not_shown() -> None:
    """Neither its fields nor those of a query."""
    many = "&".join(["a=b"] * 100_000)
    found = explained(request("https://slack.com/api/x", many.encode(), headers=FORM))
    assert (found.code, found.body) == ("herma.egress.form", "")
    assert explained(request(f"https://slack.com/api/x?{many}")).url == "slack.com/*"


def test_a_long_body_is_shown_by_its_beginning() -> None:
    """Masked before it is cut."""
    assert len(explained(request("https://a.example.com/", b"word " * 5000)).body) == MAX_SHOWN_CHARS


def test_notes_tell_what_the_answer_rests_on() -> None:
    """What was not looked at, and what was not recorded."""
    told = {
        "a model": request("https://model.example.com/"),
        "pinned": request("https://pinned.example.com/"),
        "its body": request("https://a.example.com/", None),
        "the addresses": request("https://a.example.com/"),
    }
    for part, recorded in told.items():
        assert any(part in note for note in explained(recorded).notes), part
    assert not explained(request("https://192.0.2.1/")).notes
    assert explained(request("https://model.example.com/", b"hello")).body == ""


def test_what_is_only_reported_is_told_as_such() -> None:
    """Mode `observe` lets it pass."""
    found = outgoings(EgressMode.OBSERVE).of(request("http://169.254.169.254/"))
    assert found.becomes is Becomes.PASSED
    assert any("reported only" in note for note in found.notes)


@pytest.mark.parametrize("authority", ["[::1", "a:99999"])
def test_what_names_no_host_leads_nowhere(authority: str) -> None:
    """It has no kind."""
    found = explained(Recorded(authority, 443, "GET", b"/"))
    assert (found.becomes, found.kind) == (Becomes.REFUSED, "")
