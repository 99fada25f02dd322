"""What one text may cost, and what happens to the rest: masked, never passed."""

import hashlib
import json
import re

import pytest

from herma.policy.redaction.document import redact_json_text
from herma.policy.redaction.hit import UNJUDGED_ID, Certainty, Hit
from herma.policy.redaction.stream import StreamRedactor
from herma.policy.redaction.work import BASE_UNITS, UNITS_PER_CHAR, Work, passing, unjudged
from support.redactor import GITHUB, PASSWORD, redactor

MARK = f"[{UNJUDGED_ID}:"
CHARS = 120_000
# What made one text slow: keywords and their quotes, escapes in each other, runs, blocks, URLs, verbs, secrets, placeholders.
UNITS = {
    "name and quote": 'token "',
    "names": "password=",
    "prose": "the secret is ",
    "yaml": "password:\n  value: ",
    "query": "a=1&token=x&",
    "long names": "a" * 200 + '_token="',
    "one letter": "a",
    "escaped quotes": '\\"',
    "percent of percent": "%%25",
    "percent": "%41",
    "entities": "&#65;",
    "escapes": "\\u0041",
    "colours": "\x1b[0m",
    "zero width": "\u200b",
    "full width": "\uff41",
    "joined quotes": '"+"',
    "field separators": "$IFS",
    "continued lines": "\\\n",
    "base64": "aGVsbG8gd29ybGQgaGVsbG8gd29ybGQK ",
    "base64 of a name": "dG9rZW4gdG9rZW4gdG9rZW4g",
    "token heads": "eyJhbGciOiJIUzI1NiJ9.",
    "key headers": "-----BEGIN RSA PRIVATE KEY-----\n",
    "schemes": "x://",
    "user info": "a://b:c@d ",
    "headers": "Authorization: Bearer aB3dE5fG7hI9jK1l\n",
    "verbs": "mysql -p ",
    "flags behind a pipe": '| htpasswda:b -p "xa:b -p "x ',
    "secrets": f"API_TOKEN={GITHUB}\n",
    "placeholders": "[token:01234567] password=",
    "long words": "a" * 40 + " ",
    "surrogates": "\ud800",
    "words of hexadecimal digits": "acca ",
    "words without an end": "auth=(",
    "unknown placeholders": "[",
    "variables": "A=bc $A$B ",
    "cookies": "Cookie: sid=F4keX7pq; sid=F4keX7pr; ",
    "events": '"}\n\ndata: {"content": "a',
}


def filled(unit: str, chars: int = CHARS) -> str:
    return (unit * (chars // len(unit) + 1))[:chars]


@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS.keys())
def test_a_secret_behind_any_flood_is_masked_within_the_budget(unit: str) -> None:
    """However a text is filled, what stands at its end does not pass, and the work ends soon after it is spent."""
    text = f"{filled(unit)}\nexport DEPLOY_TOKEN={GITHUB} \n"
    work = Work(len(text))
    out = redactor().text(text, work=work).text
    assert GITHUB not in out
    assert work.left > -BASE_UNITS


@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS.keys())
def test_a_short_flood_is_judged_to_its_end(unit: str) -> None:
    """Two thousand characters of anything are within the budget."""
    assert MARK not in redactor().text(filled(unit, 2000)).text


@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS.keys())
def test_a_flood_in_a_document_leaves_a_document(unit: str) -> None:
    """In one string, in many strings and as names: what comes back is JSON without the secret."""
    many = CHARS // (len(unit) + 4)
    for value in (
        {"a": filled(unit), "b": GITHUB},
        [*[unit] * many, GITHUB],
        {**{f"{unit}{number}": unit for number in range(many // 2)}, "b": GITHUB},
        [*[{"name": "token", "value": unit}] * (many // 6), {"password": PASSWORD, "b": GITHUB}],
    ):
        out, findings = redactor().json(json.dumps(value).encode())
        json.loads(out)
        assert GITHUB.encode() not in out
        assert findings


@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS.keys())
@pytest.mark.parametrize("size", [4, CHARS])
def test_no_flood_opens_a_stream(unit: str, size: int) -> None:
    """A stream that is flooded, in one piece or in small ones, still masks what comes behind."""
    flood = filled(unit, CHARS if size == CHARS else 6000)
    text = f"{flood}\nexport DEPLOY_TOKEN={GITHUB} \nend"
    stream = StreamRedactor(redactor())
    out = (
        "".join(stream.feed(text[at : at + size], 0.0) for at in range(0, len(text), size)) + stream.finish()
    )
    assert GITHUB[8:] not in out


DOCUMENTS = {
    "a million empty strings": json.dumps([""] * 100_000),
    "short strings": json.dumps([f"s{number}" for number in range(40_000)]),
    "small documents in strings": json.dumps(['{"a":"b"}'] * 20_000),
    "no documents in strings": json.dumps(["{a}"] * 40_000),
    "arguments": json.dumps([["--token", "F4keX7pq"]] * 15_000),
    "equal names": "{" + ",".join(['"password":"b4dF4keX"'] * 15_000) + "}",
    "deep": "[" * 100_000 + "]" * 100_000,
    "never closed": '{"a": "' + 'x\\"' * 100_000,
    "documents in documents": json.dumps([json.dumps({"a": json.dumps({"password": "x" * 20})})] * 4000),
}


@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS.keys())
def test_a_document_of_many_small_parts_costs_what_its_size_allows(document: str) -> None:
    """The budget of a document is one, however many strings it has."""
    work = Work(len(document))
    try:
        redactor().glance.look(document, 0, work)
    except (ValueError, RecursionError):
        redactor().text(document, work=work)
    assert work.left > -BASE_UNITS


def transcript(messages: int) -> bytes:
    """Write a conversation whose every message is a command of three kinds of secrets, three times each."""
    command = " && ".join(
        f"curl -u deploy:{PASSWORD}{{0}} -H 'Authorization: Bearer {GITHUB}' https://h.example/{call} && export DB_PASSWORD=F4keX{{0}}"
        for call in range(3)
    )
    return json.dumps(
        {"messages": [{"role": "assistant", "content": command.format(number)} for number in range(messages)]}
    ).encode()


def test_a_transcript_full_of_secrets_is_masked_message_by_message() -> None:
    """Each keeps its role and its commands, and only the secrets go; a text of its size alone could not cost as much."""
    raw = transcript(200)
    out, findings = redactor().json(raw)
    messages = json.loads(out)["messages"]
    assert MARK.encode() not in out
    assert [message["role"] for message in messages] == ["assistant"] * 200
    for message in messages:
        assert GITHUB not in message["content"]
        assert PASSWORD not in message["content"]
        assert "F4keX" not in message["content"]
        assert message["content"].count("https://h.example/") == 3
    assert {finding.place for finding in findings} == {f"/messages/{number}/content" for number in range(200)}
    assert MARK in redact_json_text(redactor(), raw.decode(), work=Work(len(raw)))[0]


def test_a_document_beyond_its_budget_keeps_what_was_judged() -> None:
    """What has not been judged does not leave, a finding says so, and every message has its role or a mark."""
    out, findings = redactor().json(transcript(2000))
    messages = json.loads(out)["messages"]
    assert len(messages) == 2000
    assert all(list(message) == ["role", "content"] for message in messages)
    first = next(n for n, message in enumerate(messages) if message["content"].startswith(MARK))
    assert 200 <= first < 2000
    for message in messages[:first]:
        assert message["role"] == "assistant"
        assert message["content"].count("https://h.example/") == 3
    for message in messages[first + 1 :]:
        assert all(re.fullmatch(r"\[unjudged:[0-9a-f]{8}\]", value) for value in message.values())
    assert PASSWORD.encode() not in out
    assert GITHUB.encode() not in out
    assert findings[-1].rule_id == UNJUDGED_ID


def test_innocent_text_in_bulk_is_not_masked() -> None:
    """Lines that all hold a keyword, as code and logs do, stay far below the budget, however many there are."""
    line = "token_count = len(parts)  # one a line, as the parser of the shell reads them 0x%02x\n"
    text = filled(line, 1_000_000)
    assert redactor().text(text).text is text


def test_the_same_text_gives_the_same_answer() -> None:
    """Work is counted, not timed."""
    text = filled(UNITS["name and quote"])
    assert redactor().text(text) == redactor().text(text)
    assert MARK in redactor().text(text).text


def test_a_longer_text_may_cost_more() -> None:
    """There is a floor for short ones."""
    assert Work(10).left == BASE_UNITS
    assert Work(10**6).left == pytest.approx(UNITS_PER_CHAR * 10**6)
    assert not Work(10).spent
    assert passing(10) == 0


def test_what_a_text_costs_does_not_depend_on_texts_before_it() -> None:
    """Names are remembered by the process, and cost what they would if they were not."""
    text = "GET /path HTTP/1.1 path=/v1/items tokens=3 pat: 4 compass=north\n" * 50
    spent = []
    for _ in range(3):
        work = Work(len(text))
        redactor().text(text, work=work)
        spent.append(work.left)
    assert spent[0] == spent[1] == spent[2]


def test_a_name_costs_more_when_it_is_new() -> None:
    """A text of many names takes longer than one that says the same name as often."""
    work = Work(0, base=100)
    work.name("path")
    new = 100 - work.left
    work.name("path")
    assert 0 < 100 - new - work.left < new


def test_pieces_that_touch_are_one() -> None:
    """A flood has one placeholder, not one a piece."""
    text, hits = "abcdef", [Hit(0, 1, "token", "a")]
    unjudged(hits, text, 1, 3)
    unjudged(hits, text, 3, 4)
    unjudged(hits, text, 5, 6)
    assert [(hit.start, hit.end, hit.value) for hit in hits[1:]] == [(1, 4, "bcd"), (5, 6, "f")]
    assert hits[-1].certainty is Certainty.UNJUDGED


def test_a_megabyte_of_hashes_is_judged_to_its_end() -> None:
    """A lock file, whose lines go on behind backslashes and are read in two views, loses nothing."""
    lines = []
    for number in range(11_000):
        if number % 12 == 0:
            lines.append(f"    # via package-{number}\npackage-{number}==1.0.{number} \\\n")
        lines.append(f"    --hash=sha256:{hashlib.sha256(str(number).encode()).hexdigest()} \\\n")
    lock = "".join(lines)
    assert redactor().text(lock).text is lock
