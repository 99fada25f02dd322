"""Redaction of text in pieces."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from herma.policy.redaction.channel import (
    CREDIT_PER_CHAR,
    CREDIT_UNITS,
    DEADLINE_S,
    MAX_HELD_CHARS,
    Channel,
)
from herma.policy.redaction.fingerprint import PLACEHOLDER
from herma.policy.redaction.hold import MAX_HELD_LINE_CHARS
from herma.policy.redaction.stream import StreamRedactor
from herma.policy.redaction.work import STREAM_UNITS
from support.redactor import GITHUB, OPENAI, PASSWORD, masked, redactor

LINE = ("F4keK3yF0rT3st" * 5)[:64]
KEY = f"-----BEGIN RSA PRIVATE KEY-----\n{LINE}\n{LINE}\n{LINE[:20]}=\n-----END RSA PRIVATE KEY-----"
TEXTS = {
    "export": (f"Then run\nexport API_TOKEN={OPENAI} && make\nand look.", [OPENAI]),
    "prose": (f"Your new key is {GITHUB}, keep it.", [GITHUB]),
    "flag": (f"tool --user bob --password {PASSWORD} --json", [PASSWORD]),
    "curl": (f"curl -sS -u deploy:{PASSWORD} 'https://h/x?token={GITHUB}&n=1' | sh", [PASSWORD, GITHUB]),
    "header": (f'-H "Authorization: Bearer {OPENAI}" -d @x', [OPENAI]),
    "quoted words": ('set password = "tulip anchor marble" here', ["tulip anchor marble"]),
    "url": (f"postgres://app:{PASSWORD}@db:5432/x is down", [PASSWORD]),
    "key": (f"cat > k <<'EOF'\n{KEY}\nEOF\nchmod 600 k", [LINE]),
    "piped": (f"echo {PASSWORD} | docker login -u acme --password-stdin h", [PASSWORD]),
    "continued": (f'-H "X: {GITHUB[:20]}\\\n{GITHUB[20:]}" -d x', [GITHUB[:20], GITHUB[20:]]),
    "escaped": (f'{{\\"token\\": \\"{GITHUB}\\"}} done', [GITHUB]),
    "two": (f"A={GITHUB}\nB={OPENAI}\n", [GITHUB, OPENAI]),
    "seed": ("seed phrase: " + "tulip anchor " * 6 + "\nnext", ["tulip anchor tulip anchor"]),
    "glued to CJK": (f"请把{GITHUB}填进去", [GITHUB]),
}


def run(text: str, cuts: list[int]) -> str:
    stream, places = (
        StreamRedactor(redactor()),
        sorted({0, len(text), *(min(cut, len(text)) for cut in cuts)}),
    )
    return "".join(stream.feed(text[a:b], 0.0) for a, b in pairwise(places)) + stream.finish()


def leak(secret: str, out: str) -> str:
    """The longest piece of a secret that is left, of six characters or more."""
    rest = PLACEHOLDER.sub("\0", out)
    pieces = [secret[at : at + 6] for at in range(max(1, len(secret) - 5))]
    return next((piece for piece in pieces if piece in rest), "")


@pytest.mark.parametrize(("text", "secrets"), TEXTS.values(), ids=TEXTS.keys())
def test_no_cut_in_two_lets_a_secret_through(text: str, secrets: list[str]) -> None:
    """For every place of one cut, as in the whole text; at most two letters of a public prefix leave before their key."""
    for cut in range(len(text) + 1):
        out = run(text, [cut])
        assert not any(leak(secret, out) for secret in secrets), cut
        assert len(out) - len(masked(text)) in {0, 1, 2}, cut
    assert not any(leak(secret, masked(text)) for secret in secrets)


@pytest.mark.parametrize(("text", "secrets"), TEXTS.values(), ids=TEXTS.keys())
@pytest.mark.parametrize("size", [1, 3, 4, 16])
def test_small_pieces_let_no_secret_through(text: str, secrets: list[str], size: int) -> None:
    """Models write four characters at a time."""
    out = run(text, list(range(0, len(text), size)))
    assert not any(leak(secret, out) for secret in secrets)


@given(st.sampled_from(sorted(TEXTS)), st.lists(st.integers(0, 400), max_size=12))
@settings(max_examples=150, deadline=None)
def test_no_cutting_lets_a_secret_through(name: str, cuts: list[int]) -> None:
    """However a text is cut."""
    text, secrets = TEXTS[name]
    out = run(text, cuts)
    assert not any(leak(secret, out) for secret in secrets)


@given(st.lists(st.tuples(st.sampled_from(sorted(TEXTS)), st.integers(1, 30), st.booleans()), max_size=4))
@settings(max_examples=60, deadline=None)
def test_pauses_let_no_secret_through(parts: list[tuple[str, int, bool]]) -> None:
    """What the deadline releases in the middle of a secret is masked, and so is the rest of it."""
    stream, now, out = StreamRedactor(redactor()), 0.0, ""
    for name, size, pause in parts:
        text, _ = TEXTS[name]
        for at in range(0, len(text), size):
            out += stream.feed(text[at : at + size], now)
            now += DEADLINE_S if pause and at % 2 else 0.01
            out += stream.tick(now)
        out += stream.feed("\n", now)
    out += stream.finish()
    for name, _, _ in parts:
        if name in {"export", "flag", "header", "url", "key"}:
            assert not any(leak(secret, out) for secret in TEXTS[name][1]), out


@given(
    st.lists(
        st.sampled_from(
            ["the", "quick", "brown", "fox", "jumps", "over", "lazy", "dogs", "and", "then", "walks", "home"]
        ),
        min_size=1,
        max_size=30,
    )
)
def test_text_without_a_trigger_is_not_delayed(words: list[str]) -> None:
    """Each piece leaves as it came, at once."""
    stream = StreamRedactor(redactor())
    for word in words:
        assert stream.feed(f" {word}", 0.0) == f" {word}"
        assert stream.deadline() is None
    assert stream.tick(99.0) == ""


def test_what_is_held_leaves_masked_after_the_deadline() -> None:
    """A value that may go on is masked, and what follows of it as well."""
    stream = StreamRedactor(redactor())
    assert stream.feed("password: hun", 5.0) == "password: "
    assert stream.deadline() == 5.0 + DEADLINE_S
    assert stream.tick(5.1) == ""
    assert PLACEHOLDER.fullmatch(stream.tick(5.0 + DEADLINE_S))
    assert stream.feed("ter2", 6.0) == ""
    assert stream.feed(" next", 6.1) + stream.tick(7.0) == " next"
    assert [finding.rule_id for finding in stream.take_findings()] == ["password"]
    assert stream.take_findings() == ()


@pytest.mark.parametrize(
    ("first", "rest", "after"),
    [
        ("x = sk-proj-ab", "cdEF12", " y"),
        ('password = "tulip an', "chor", '" y'),
        (f"-----BEGIN RSA PRIVATE KEY-----\n{LINE}\n", LINE, "\n-----END"),
        ("see F4keK3yF0rT3stF4ke", "K3yF", " y"),
    ],
    ids=["token", "quote", "key", "drawn run"],
)
def test_masking_goes_on_until_the_value_ends(first: str, rest: str, after: str) -> None:
    """A token ends at a blank, a quoted value at its quote, a key at its footer."""
    stream = StreamRedactor(redactor())
    out = stream.feed(first, 0.0) + stream.tick(1.0)
    assert PLACEHOLDER.search(out)
    assert stream.feed(rest, 1.0) == ""
    assert (stream.feed(after, 1.1) + stream.finish()).strip().endswith(after.strip())


def test_a_bare_prefix_is_released_and_its_body_is_not() -> None:
    """`ghp_` by itself is public."""
    stream = StreamRedactor(redactor())
    assert stream.feed("use ghp_", 0.0) + stream.tick(1.0) == "use ghp_"
    out = stream.feed(GITHUB[4:] + " now", 1.1) + stream.finish()
    assert PLACEHOLDER.search(out)
    assert not leak(GITHUB, out)


def test_a_value_that_never_ends_is_masked_at_the_bound() -> None:
    """Memory is bounded, and the bound does not open the gate."""
    stream = StreamRedactor(redactor())
    out = stream.feed("token=", 0.0)
    for _ in range(MAX_HELD_CHARS // 1000 + 2):
        out += stream.feed("F4keK3yF0r" * 100, 0.0)
    assert PLACEHOLDER.search(out)
    assert "F4keK3y" not in out + stream.finish()


def test_memory_does_not_grow_with_the_text() -> None:
    """Only context and what is held are kept."""
    stream = StreamRedactor(redactor())
    for _ in range(500):
        stream.feed("some words without anything in them. ", 0.0)
    assert len(stream._channel._text) < 3000
    assert stream.feed("", 0.0) == ""


def test_a_password_in_a_url_is_masked_after_the_deadline_and_its_host_stays() -> None:
    """Whether it is a password shows only at the `@`; until then it is taken for one."""
    stream = StreamRedactor(redactor())
    out = stream.feed("see postgres://app:F4ke-hor", 0.0) + stream.tick(1.0)
    out += stream.feed("se_68", 1.0) + stream.feed("@db:5432/x now", 1.1) + stream.finish()
    assert out.startswith("see postgres://app:[")
    assert "se_68" not in out
    assert out.endswith("@db:5432/x now")


def test_a_vendor_token_that_no_continuation_completes_is_masked_after_the_deadline() -> None:
    """A format of digits only, or of capitals, is known by its beginning."""
    stream = StreamRedactor(redactor())
    out = stream.feed("id AKIAF4KE0K3YN0", 0.0) + stream.tick(1.0)
    assert PLACEHOLDER.fullmatch(out.removeprefix("id "))


def test_a_released_secret_is_not_looked_at_again() -> None:
    """What lies in the context was decided; a secret behind it is found all the same."""
    stream = StreamRedactor(redactor())
    out = stream.feed(f"a {GITHUB} b\n", 0.0) + stream.feed(f"c {GITHUB} d\n", 0.0) + stream.finish()
    assert out == f"a {masked(GITHUB)} b\nc {masked(GITHUB)} d\n"


def test_the_second_half_of_a_split_secret_is_masked_after_a_pause() -> None:
    """Quotes between the halves end the first mask, not the secret."""
    stream = StreamRedactor(redactor())
    out = stream.feed(f"export K='{GITHUB[:20]}", 0.0) + stream.tick(1.0)
    out += stream.feed(f"''{GITHUB[20:]}' && x", 1.1) + stream.finish()
    assert not leak(GITHUB, out)
    assert out.endswith("' && x")


def test_what_looks_like_a_password_does_not_wait_for_its_pipe() -> None:
    """After the deadline an argument of `echo` is masked, before anything explains it; plain words are not."""
    stream = StreamRedactor(redactor())
    out = stream.feed("echo F4ke-horse", 0.0) + stream.tick(1.0)
    assert PLACEHOLDER.fullmatch(out.removeprefix("echo "))
    out += stream.feed("_68", 1.0) + stream.feed(" | docker login --password-stdin h", 1.1) + stream.finish()
    assert not leak(PASSWORD, out)
    plain = StreamRedactor(redactor())
    assert plain.feed("echo hello", 0.0) + plain.tick(1.0) == "echo hello"
    whole = StreamRedactor(redactor())
    assert not leak(PASSWORD, whole.feed(f"echo {PASSWORD} |", 0.0) + whole.tick(1.0))


def test_a_second_command_on_a_long_line_is_held_as_the_first_was() -> None:
    """The first lies behind the context; what the second prints is a password all the same."""
    stream = StreamRedactor(redactor())
    out = stream.feed("echo hi ", 0.0)
    for _ in range(MAX_HELD_LINE_CHARS // 6 + 200):
        out += stream.feed("words ", 0.0)
    held = stream.feed(f"; echo {PASSWORD} ", 0.0)
    assert PASSWORD not in held
    out = stream.feed("| docker login --password-stdin h\n", 0.0) + stream.finish()
    assert not leak(PASSWORD, held + out)
    quiet = StreamRedactor(redactor())
    for piece in ["echo hi ", *["words "] * (MAX_HELD_LINE_CHARS // 6 + 200)]:
        quiet.feed(piece, 0.0)
    assert quiet.deadline() is None


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        ("Z2hwX0Y0a2", "VLM3lGMHJUM3N0RjRrZUszeUYwclQzc3RGNGtlSzN5Rg=="),
        (
            "6768705f46346b654b337946307254337374",
            "46346b654b33794630725433737446346b654b33794630725433737446346b654b",
        ),
        ("%67%68%70%5f%46%34%6b%65%4b%33%79%46%", "30%72%54%33%73%74"),
        ("\\u0067\\u0068\\u0070\\u005f\\u0046\\u0034\\u006b\\u00", "65\\u004b"),
        ("&#103;&#104;&#112;&#95;&#70;&#52;&#107;&#1", "01;&#75;"),
        ("CREATE USER bob IDENTIFIED BY 'Zk7pQ2vW", "9sXe';"),
        ('ConvertTo-SecureString "Zk7pQ2vW', '9sXe" -AsPlainText -Force'),
        ("echo Zk7pQ2vW9sXe ", "| sudo -S apt update"),
    ],
)
def test_what_is_wrapped_or_quoted_does_not_leave_in_a_pause(before: str, behind: str) -> None:
    """The beginning of a token says enough, whatever it is wrapped in; so does a verb before an open quote."""
    stream = StreamRedactor(redactor())
    out = stream.feed(before, 0.0) + stream.tick(DEADLINE_S)
    out += stream.feed(behind, 1.0) + stream.tick(1.0 + DEADLINE_S) + stream.finish()
    assert before.split()[-1].split("'")[-1].split('"')[-1] not in out
    assert PLACEHOLDER.search(out)


@pytest.mark.parametrize(
    "text", ["internationalization", "he said 'task-oriented", "100%25 of", 'run "the first', "a=\\n"]
)
def test_what_begins_no_token_leaves_in_a_pause(text: str) -> None:
    """Words, and quotes that hold words."""
    stream = StreamRedactor(redactor())
    assert stream.feed(text, 0.0) + stream.tick(DEADLINE_S) + stream.finish() == text


@pytest.mark.parametrize("unit", ['token "', "password=tulip-anchor-8 ", "curl -u ", "a|"])
def test_a_flood_costs_what_its_characters_are_worth(unit: str) -> None:
    """All looks at one text together, the forced ones among them, keep to its credit."""

    class Counted(Channel):
        units = 0.0

        def _spend(self, units: float) -> None:
            self.units += units
            super()._spend(units)

    channel, chars = Counted(redactor()), 4 * MAX_HELD_CHARS
    flood = (unit * chars)[:chars]
    for start in range(0, chars, 4096):
        channel.append(flood[start : start + 4096], 0.0)
    channel.finish()
    # A look may cost its least when the credit is spent.
    assert channel.units <= CREDIT_UNITS + CREDIT_PER_CHAR * chars + 2 * STREAM_UNITS
