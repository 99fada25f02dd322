"""Rules that are patterns."""

import pytest
import regex

from herma.policy.redaction.format import CommandRule, FormatRule, any_format
from herma.policy.redaction.hit import Certainty
from herma.policy.redaction.redactor import Redactor
from herma.policy.redaction.work import Work
from herma.policy.rule import Rule
from support.redactor import KEY, masked, redactor, rule, rules

FORMATS = [rule for rule in rules() if rule.options.get("grammar") == "format"]
S = "F4keP4ss_68"
COMMANDS = {
    f"curl -sS -u admin:{S} https://h/": "-u admin:[",
    f"curl -uelastic:{S} es:9200": "-uelastic:[",
    "curl -u F4keK3yF0rT3stF4keK3y: https://h/": "-u [",
    f"mysql -u root -p{S} -h db shop": "-p[",
    f"mysqladmin -uroot -p'{S}' status": "-p'[",
    f"sshpass -p {S} ssh root@h": "-p [",
    f"docker login -u acme -p {S} ghcr.io": "-p [",
    f"echo {S} | docker login -u acme --password-stdin h": "echo [",
    f"gpg --batch --passphrase-fd 0 -d f <<< '{S}'": "<<< '[",
    f"openssl passwd -6 {S}": "passwd -6 [",
    f"redis-cli -a {S} ping": "-a [",
    f"sqlplus system/{S}@//db:1521/X": "system/[",
    f"ldapsearch -x -D cn=a -w {S} -b dc=a": "-w [",
    f"ALTER USER 'root' IDENTIFIED BY '{S}';": "BY '[",
    f"machine h login ci password {S}": "password [",
    f"Server=s;User Id=sa;Password={S};Encrypt=true": "Password=[",
    f"aws ssm put-parameter --name /p --value {S} --type SecureString": "--value [",
    f"a1 LOGIN jdoe {S}": "jdoe [",
    f'expect "password:"; send "{S}\\r"': 'send "[',
}
KEPT = [
    "mkdir -p /srv/www/releases",
    "psql -p 5433 -h localhost",
    "ssh -p 2222 deploy@h",
    "curl -u : --negotiate https://h/",
    "curl -u $USER:$PASS h",
    "sshpass -e ssh h",
    "docker run -p 8080:80 x",
    "mysql -h db -u app -p shop",
    "git log -p --follow src/password.py",
    "openssl passwd -stdin",
    "echo hello | base64",
    "chown -R www:www /var",
]


@pytest.mark.parametrize(("text", "kept"), COMMANDS.items())
def test_a_credential_in_its_place_is_masked_and_the_command_stays(text: str, kept: str) -> None:
    """User, host, flag and verb are needed to judge a command."""
    out = masked(text)
    assert S not in out
    assert kept in out


@pytest.mark.parametrize("text", KEPT)
def test_the_same_flag_of_another_tool_stays(text: str) -> None:
    """`-p` is a port, a path or a password; the tool tells."""
    assert masked(text) == text


FORMATS = [one for one in rules() if one.options["grammar"] in {"format", "run"}]


@pytest.mark.parametrize("one", FORMATS, ids=lambda one: one.id)
def test_every_format_is_masked_and_its_near_misses_stay(one) -> None:
    """The shipped examples hold for the whole redactor, not only for the pattern."""
    for example in one.examples.match:
        assert redactor().text(example).findings, example
    for example in one.examples.no_match:
        assert one.id not in {finding.rule_id for finding in redactor().text(example).findings}, example


OTHERS = [one for one in rules() if one.options["grammar"] not in {"format", "run"}]


@pytest.mark.parametrize("one", OTHERS, ids=lambda one: one.id)
def test_every_rule_judged_in_code_keeps_to_its_examples(one) -> None:
    """What a rule file promises, the redactor does; of an optional class, the redactor that was asked for it."""
    asked = Redactor(rules(), KEY, [one.id]) if one.options.get("optional") else redactor()
    for example in one.examples.match:
        assert asked.text(example).findings, example
    for example in one.examples.no_match:
        assert one.id not in {finding.rule_id for finding in asked.text(example).findings}, example


def test_a_command_that_takes_too_long_is_masked() -> None:
    """When the time runs out, the line is masked, never passed."""
    slow = CommandRule(rule(pattern=r"(?:.{0,60}?,){11}P(?P<secret>x)", keywords=("a",), grammar="command"))
    text = "a" + ",a" * 900
    (hit,) = slow.at(text, 0)
    assert (hit.start, hit.end) == (0, len(text))


def test_a_format_is_none_where_it_does_not_begin() -> None:
    """Nothing is found, and nothing counted."""
    work = Work(0)
    assert FormatRule(rule(pattern=r"tok_[a-z0-9]{8,20}")).at("tok_a", 0, work) == ()
    assert work.left == Work(0).left


def test_a_format_may_begin_in_front_of_its_literal() -> None:
    """It is tried at each place it is given, and nowhere behind them."""
    around = FormatRule(rule(pattern="x[0-9]{3}", keywords=("x",), anchor="around"))
    assert around.over("....x123", 0, 3) == ()
    (hit,) = around.over("..x123", 0, 3)
    assert hit.start == 2


@pytest.mark.parametrize(
    ("check", "written", "accepted"),
    [
        ("any", "abcdefghijklmnop", True),
        ("digit", "ABCDEF1", True),
        ("digit", "ABCDEF", False),
        ("drawn", "F4keK3yF0rT3st", True),
        ("drawn", "some-words-here", False),
        ("told", "amber-fake-horse-42", True),
        ("told", "some-words-here", False),
    ],
)
def test_a_format_may_ask_more_of_what_it_found(check: str, written: str, accepted: bool) -> None:
    """Prefixes that are words as well need a drawn body."""
    one = FormatRule(rule(pattern="[A-Za-z0-9-]{5,40}+", keywords=("a",), check=check, generic=True))
    hits = list(one.at(written, 0))
    assert bool(hits) is accepted
    assert all(hit.certainty is Certainty.CONVENTION for hit in hits)


@pytest.mark.parametrize(
    ("check", "written", "accepted"),
    [
        ("any", "word", True),
        ("drawn", "word", False),
        ("random", "F4keK3yF0rT3st", True),
        ("random", "F4ke-word", False),
        ("password", "/a/path", False),
        ("password", "12345", True),
        ("password", "$X", False),
        ("password", "", False),
    ],
)
def test_a_command_may_ask_more_of_what_it_found(check: str, written: str, accepted: bool) -> None:
    """References, paths and words in a credential's place are none."""
    one = CommandRule(rule(pattern="v (?P<secret>[^ ]{0,40}+)", keywords=("v",), check=check))
    assert bool(list(one.at(f"v {written}", 0))) is accepted


@pytest.mark.parametrize("found", FORMATS, ids=lambda found: found.id)
def test_a_bounded_format_is_never_inside_a_word(found: Rule) -> None:
    """What the finder skips there would not have been found there."""
    tried = FormatRule(found)
    for text in found.examples.match:
        for at in range(1, len(text)) if tried.bounded else ():
            if text[at - 1].isascii() and text[at - 1].isalnum():
                assert list(tried.at(text, at)) == []


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (f"mysql -e 'SELECT 1 & 2' -u root -p{S} shop", "-p["),
        (f'mysql -e "a; b | c" -u root -p{S} shop', "-p["),
        (f"{S} is the password for staging", "] is the"),
        (f'use "{S}" as the api token', '"['),
    ],
)
def test_what_stands_in_quotes_and_what_stands_behind_are_seen(text: str, kept: str) -> None:
    """The separators in an argument end no command, and a sentence may tell a secret before its name."""
    out = masked(text)
    assert S not in out
    assert kept in out


@pytest.mark.parametrize(
    "text",
    [
        "mysql -e 'a & b' -u root -p shop",
        "mysql -u root shop; mkdir -p 'F4ke dir'",
        "it is the password that expired",
        "F4keP4ss_68 is the answer",
        "key=f4ke0k3y0f0r0t3st0f4ke0k3y0f0r0t3st0",
    ],
)
def test_what_tells_nothing_stays_behind_and_in_quotes(text: str) -> None:
    """Words, placeholders, checksums and other commands."""
    assert masked(text) == text


def test_a_word_far_in_front_is_found_in_its_place() -> None:
    """What is read of the text in front has a bound."""
    text = "x " * 400 + f"{S} is the password"
    assert masked(text).startswith("x " * 400 + "[")


def test_a_look_through_quotes_is_counted() -> None:
    """A long line of quotes is looked through for each verb on it."""
    one = CommandRule(
        rule(pattern="v [^\n;]{0,40}? -p (?P<secret>[^ ]{1,40}+)", keywords=("v",), grammar="command")
    )
    work = Work(0)
    before = work.left
    assert [hit.value for hit in one.at("v -e 'a; b' -p F4keP4ss_68", 0, work)] == ["F4keP4ss_68"]
    assert work.left < before
    counted = work.left
    assert one.at("v -e 'a' | b", 0) == one.at("v -e 'a b' c", 0, work) == []
    assert work.left == counted


@pytest.mark.parametrize(
    ("pattern", "asked"),
    [
        (r"(?<![^\n])v (?P<secret>\w{1,9})", True),
        (r"(?<![A-Za-z])(?<!-)v (?P<secret>\w{1,9})", True),
        (r"(?<=;)v (?P<secret>\w{1,9})", True),
        (r"(?<!-)v (?P<secret>\w{1,9})|v (?P<secret>\d{1,9})", False),
        (r"v(?<=v) (?P<secret>\w{1,9})", False),
    ],
)
def test_what_stands_before_a_verb_is_asked_first(pattern: str, asked: bool) -> None:
    """Only what every branch of a pattern asks of it."""
    one = CommandRule(rule(pattern=pattern))
    assert (one.begins is not None) == asked
    for text in ("v x", "-v x", "av x", "\nv x", ";v x"):
        at = text.index("v")
        assert not one.at(text, at) or one.begins is None or one.begins(text, at) is not None


def _begins(pattern: str, word: str) -> bool:
    # Some patterns look at the character in front.
    compiled = regex.compile(pattern, regex.IGNORECASE)
    return any(compiled.match(f"{before}{word}", 1, partial=True) is not None for before in '\n a-"A0[')


def test_every_keyword_of_a_shipped_rule_can_begin_its_pattern() -> None:
    """One that cannot costs a look at each place and finds nothing; whoever reads it believes that it does."""
    idle = {
        (rule.id, word)
        for rule in rules()
        if rule.options.get("grammar") in {"format", "command"}
        and not rule.options.get("whole_line")
        and not rule.options.get("anchor")
        for word in rule.keywords
        if not _begins(rule.pattern, word)
    }
    assert idle == set()


def test_no_keyword_of_a_shipped_rule_is_written_twice() -> None:
    """The second says nothing, and was meant to be another."""
    assert [rule.id for rule in rules() if len(set(rule.keywords)) != len(rule.keywords)] == []


def test_a_mixed_value_has_capitals_small_letters_and_digits() -> None:
    """A tag of an image and a serial number are neither."""
    mixed = FormatRule(rule(pattern=r"-t (?P<secret>[A-Za-z0-9]{15,64})", keywords=("-t ",), check="mixed"))
    assert mixed.at("-t F4keK3yF0rT3stN0", 0)
    assert mixed.at("-t f4kek3yf0rt3stn0", 0) == ()
    assert mixed.at("-t F4KEK3YF0RT3STN0", 0) == ()


def test_the_name_of_a_method_is_no_password() -> None:
    """Mail servers and clients tell how they log in."""
    assert masked("AUTH CRAM-MD5") == "AUTH CRAM-MD5"
    assert masked("AUTH F4keP4ss-x7").startswith("AUTH [")


@pytest.mark.parametrize(
    "patterns",
    [
        [
            "(?<![A-Za-z0-9])S[0-9]{4}",
            "(?<![A-Za-z0-9])(?P<secret>T[0-9]{4})",
            "(?<![A-Za-z0-9])(?P<secret>U)9",
        ],
        ["(?<![A-Za-z0-9])S[0-9]{4}|U9", "(?<![A-Za-z0-9])T[0-9]{4}"],
        ["S[0-9]{4}", "(?<![A-Za-z0-9])(?:T[0-9]{4}|U9)"],
        ["(?i)s[0-9]{4}", "(?x) T [0-9]{4} # a number", "U9"],
    ],
    ids=["all begin alike", "a branch begins otherwise", "one begins otherwise", "some have flags"],
)
def test_one_search_tells_whether_any_of_some_formats_may_begin(patterns: list[str]) -> None:
    """It finds whatever one of the patterns finds, each with its own beginning."""
    search = any_format([FormatRule(rule(pattern=pattern)) for pattern in patterns])
    for text in ("S1234", "s1234", "T1234", "t1234", "aS1234", "aT1234", "aU9", "U9", "-T1234", "S123", ""):
        alone = any(regex.search(pattern, text) for pattern in patterns)
        assert (search(text, 0, len(text)) is not None) == alone, text
