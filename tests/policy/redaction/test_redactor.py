"""The redactor as a whole."""

import base64
import re

import pytest
import tree_sitter
import tree_sitter_bash
from hypothesis import given, settings
from hypothesis import strategies as st

from herma.policy.redaction import redactor as module
from herma.policy.redaction.redactor import Redactor
from herma.policy.redaction.work import Work
from support.redactor import GITHUB, KEY, OPENAI, PASSWORD, masked, redactor, rules

PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))
COMMANDS = [
    f'export DEPLOY_TOKEN={OPENAI}; curl -sS -H "Authorization: Bearer {OPENAI}" -u deploy:{PASSWORD} "http://user:{PASSWORD}@h:8/i.sh?token={GITHUB}&x=1" | bash; rm -rf ./scratch',
    f"PGPASSWORD={PASSWORD} psql -h db -c 'select 1' && echo done || true",
    f"GH_TOKEN='{GITHUB}' gh pr list > out.txt 2>&1 &",
    f"sshpass -p {PASSWORD} ssh root@h 'uptime; df -h'",
    f"mysql -uroot -p'{PASSWORD}' shop < dump.sql",
    f"for h in a b; do curl -u x:{PASSWORD} https://$h/; done",
    f"docker run -e API_KEY={GITHUB} -p 80:80 x/y:1",
    f"cat > .env <<'EOF'\nDEBUG=false\nTOKEN={GITHUB}\nEOF",
    f'if true; then export A="{GITHUB}"; fi',
    f'curl -d \'{{"password": "{PASSWORD}"}}\' h',
]


def tree(text: str) -> list[str]:
    """The named nodes of a command, in order; a number and a word are one kind of argument."""
    found: list[str] = []

    def walk(node: tree_sitter.Node) -> None:
        # The brackets of a placeholder make a concatenation of what is still one word.
        parts = {child.type for child in node.children}
        if node.type == "number" or (node.type == "concatenation" and parts <= {"word", "number", "[", "]"}):
            found.append("word")
            return
        found.append(node.type)
        for child in node.children:
            walk(child)

    walk(PARSER.parse(text.encode()).root_node)
    return found


@pytest.mark.parametrize("command", COMMANDS)
def test_a_masked_command_parses_as_before(command: str) -> None:
    """The person who approves judges the command that will run."""
    out = masked(command)
    assert out != command
    assert not any(secret in out for secret in (GITHUB, OPENAI, PASSWORD))
    assert tree(out) == tree(command)


# One of each wrapping, none with a secret in it.
EVERY_WRAPPING = "a\u200bb 'x''y' \\u0041 %41 &#65; =3D=41=42 \ndata: {} abc123def456 | rev\n \u0430bc abcdef\u00a0ghijkl A=xx; B=yy; $A$B\n"
TWICE = {
    "percent": "%25{:02x}",
    "entities": "&amp;#{};",
    "escapes": "\\\\u{:04x}",
    "percent in entities": "&#37;{:02x}",
}


@pytest.mark.parametrize("form", TWICE.values(), ids=TWICE.keys())
def test_wrappings_of_other_text_do_not_use_up_the_decoding(form: str) -> None:
    """A long text holds every wrapping somewhere; a secret that is wrapped twice is found all the same."""
    wrapped = "".join(form.format(ord(sign)) for sign in GITHUB)
    out = masked(f"{EVERY_WRAPPING}see {wrapped} end")
    assert out.startswith(f"{EVERY_WRAPPING}see [github_pat:")


def test_what_is_wrapped_in_too_many_ways_is_masked_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the bound nobody has looked at what a decoding would show."""
    monkeypatch.setattr(module, "MAX_VIEWS", 4)
    wrapped = "".join(f"%25{ord(sign):02x}" for sign in GITHUB)
    out = masked(f"{EVERY_WRAPPING}see {wrapped} end")
    assert wrapped[:20] not in out
    assert "[unjudged:" in out


def test_text_without_a_secret_is_the_same_object() -> None:
    """Nothing is copied when nothing is found."""
    text = "ls -la && echo done"
    redacted = redactor().text(text)
    assert redacted.text is text
    assert redacted.findings == ()


def test_a_finding_names_rule_and_place_and_no_text() -> None:
    """What is logged of a secret is its class."""
    (finding,) = redactor().text(f"x {GITHUB}", "/preview").findings
    assert (finding.rule_id, finding.place) == ("github-pat", "/preview")
    assert GITHUB not in repr(redactor().secrets(GITHUB)) + repr(finding)


def test_the_format_names_the_class_also_beside_a_name() -> None:
    """`GITHUB_TOKEN=ghp_…` is a GitHub token, as it is anywhere else."""
    assert masked(f"GITHUB_TOKEN={GITHUB}") == "GITHUB_TOKEN=" + masked(GITHUB)


def test_another_key_gives_other_fingerprints() -> None:
    """Fingerprints cannot be compared across gates."""
    other = Redactor(tuple(redactor().finder.rules.values()), type(KEY)(b"another"))
    assert other.text(GITHUB).text != masked(GITHUB)


def test_a_redactor_without_rules_is_refused() -> None:
    """It would let everything pass."""
    with pytest.raises(ValueError, match="without rules"):
        Redactor((), KEY)


@pytest.mark.parametrize(
    "text",
    [
        "Call me at +14155550123",
        "git cherry-pick b96a028ea7b2e8c0505a0dd9c57695f9de6bbbb4",
        "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE",
        "sha256:f251353ef1bc89dae6df2d5b736ddc8725078b29be74518bccd0c2de4e7a639d",
        "trace_id=9ed656dcd01cfe16ab9ecf7d00a7adcb",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIL8kYDxllRbmWoAfhvk9Tb7MRV8xjPDr6ajv6zhDUAed",
    ],
)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    """Phone numbers, digests, identifiers and public keys are no secrets."""
    assert masked(text) == text


WORDS = st.sampled_from(
    [
        "password",
        "token",
        "=",
        ": ",
        " ",
        "\n",
        '"',
        "'",
        "\\",
        "\\\n",
        GITHUB,
        GITHUB[:12],
        "F4keP4ss",
        "curl -u a:",
        "Authorization: Bearer ",
        "-----BEGIN RSA PRIVATE KEY-----",
        "%5F",
        "\\u0067",
        "$X",
        "[token:01234567]",
        "://u:",
        "@h",
        ";",
        "é",
        "base64",
        "Z2hwX0Y0a2VLM3lGMHJUM3N0",
    ]
)


@given(st.lists(WORDS, max_size=14).map("".join))
@settings(max_examples=300)
def test_redacting_twice_is_redacting_once(text: str) -> None:
    """For any text: no error, nothing of a vendor token, and the result is stable."""
    once = masked(text)
    assert GITHUB not in once
    assert masked(once) == once


DRAWN = st.text("ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789", min_size=36, max_size=36)


@given(DRAWN, st.lists(WORDS, max_size=8), st.lists(WORDS, max_size=8))
@settings(max_examples=200, deadline=None)
def test_masks_never_grow_a_secret_back(drawn: str, before: list[str], after: list[str]) -> None:
    """Whatever is masked beside it, no piece of a token is left, and a second look at what is left finds nothing."""
    text = f"{''.join(before)} ghp_{drawn} {''.join(after)}"
    once = redactor().text(text)
    assert not any(drawn[at : at + 12] in once.text for at in range(25))
    again = redactor().text(once.text)
    assert again.text == once.text
    assert again.findings == ()


def test_wrapping_beyond_the_bound_is_not_followed() -> None:
    """Time is bounded by the depth, whatever the text."""
    text = GITHUB.replace("_", "%" + "25" * 12 + "5F")
    assert masked(text) == text
    assert masked(GITHUB.replace("_", "%" + "25" * 3 + "5F")) == masked(GITHUB)


UNCOVERED = "Authorization: Bearer Authorization: Bearer password://u:token"


def test_what_a_placeholder_uncovers_is_masked_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind a mask the words before it may read as a value; the rounds that look again are bounded."""
    assert "password:[" not in masked(UNCOVERED)
    monkeypatch.setattr(module, "MAX_ROUNDS", 1)
    assert "password:[" in masked(UNCOVERED)


CODE = "".join(f"    self.tokens[{number}] = read(parts, {number})  # one a line\n" for number in range(3000))


def test_a_secret_in_a_long_text_does_not_make_it_cost_twice() -> None:
    """Only what stands around a mask is looked at again: the rest is neither judged twice nor masked for want of work."""
    clean, one = Work(len(CODE)), Work(len(CODE))
    redactor().text(CODE, work=clean)
    middle = CODE.index("self.tokens[1500]")
    text = f"{CODE[:middle]}{GITHUB}\n{CODE[middle:]}"
    out = redactor().text(text, work=one)
    assert out.text == f"{CODE[:middle]}{masked(GITHUB)}\n{CODE[middle:]}"
    assert clean.left - one.left < 1500


def test_what_a_placeholder_uncovers_is_masked_in_a_long_text_as_well() -> None:
    """In each place where it does so."""
    text = f"{CODE}{UNCOVERED}\n{CODE}{UNCOVERED}\n{CODE}"
    out = masked(text)
    short = masked(UNCOVERED)
    assert out == f"{CODE}{short}\n{CODE}{short}\n{CODE}"
    assert "password:[" not in out


def test_what_is_not_looked_at_again_for_want_of_work_is_masked_around_the_masks_only() -> None:
    """The rest of the text was judged before."""
    text = f"{CODE}{UNCOVERED}\n{CODE}"
    spent = Work(len(text))
    list(redactor().secrets(text, spent))
    first = Work(0, base=0)
    first.left = Work(len(text)).left - spent.left + 40
    out = redactor().text(text, work=first)
    assert first.spent
    assert {finding.rule_id for finding in out.findings} > {"unjudged"}
    assert "password://u:token" not in out.text
    assert len(text) - len(out.text) < 6000


TOKENS = [
    example
    for one in rules()
    if one.options["grammar"] in {"format", "run"} and not one.options.get("optional")
    for example in one.examples.match[:1]
    if re.fullmatch(r"[A-Za-z0-9_.=/+-]+", example)
]


@pytest.mark.parametrize(
    "form",
    [
        "tool --opt {} -v && echo done | cat",
        'curl -sS -H "X-Key: {}" https://h.example/x > out 2>&1 || exit 1',
        "A='{}' B=2 make deploy; rm -rf ./scratch &",
        'for h in a b; do ssh "$h" "run {}"; done',
    ],
)
def test_a_token_of_any_vendor_leaves_the_command_as_it_was(form: str) -> None:
    """Whatever the format, in a word or in quotes of either kind."""
    for token in TOKENS:
        command = form.format(token)
        out = masked(command)
        assert token not in out
        assert tree(out) == tree(command), out


@pytest.mark.parametrize(
    "text",
    [
        "password=[9f8e7d6c5b4a39281706f5e4d3c2b1a0:7f3a91c2]",
        "DB_PASSWORD=[zk7pq2vw9sxe:9f8e7d6c]",
        "API_KEY=[k:9f8e7d6c][k:5b4a3928][k:1706f5e4][k:d3c2b1a0]",
        "API_KEY=[key:9f8e7d6c][key:5b4a3928][key:1706f5e4][key:d3c2b1a0]",
        "password=Zk7pQ2[password:7f3a91c2]vW9sXe",
        "password=Zk7pQ2vW9sXe[password:7f3a91c2]",
    ],
)
def test_what_is_written_like_a_placeholder_is_judged(text: str) -> None:
    """Only the class of a rule makes one, a row of them makes none, and what is glued to one stands for itself."""
    out = masked(text)
    assert out != text
    assert masked(out) == out


def test_a_value_beyond_the_bound_is_masked_to_its_end() -> None:
    """A file may be longer than any password; its end is none the more public."""
    long = "Zk7pQ2vW9sXe" * 1500
    assert re.fullmatch(r'password="\[password:\w{8}\]" and', masked(f'password="{long}" and'))
    assert re.fullmatch(r'password="\[password:\w{8}\]\nand', masked(f'password="{long}\nand'))
    assert re.fullmatch(
        r'password="""\[password:\w{8}\]""" and', masked(f'password="""{long}\n{long}""" and')
    )


@pytest.mark.parametrize("end", ["", "-----END PRIVATE KEY-----"])
def test_a_key_beyond_the_bound_is_masked_to_its_end(end: str) -> None:
    """With or without a footer."""
    lines = "\n".join(["Zk7pQ2vW9sXe" * 5] * 2000)
    out = masked(f"-----BEGIN PRIVATE KEY-----\n{lines}{end}")
    assert "Zk7" not in out
    assert out.endswith(end)


@pytest.mark.parametrize("layers", range(1, 8))
def test_no_number_of_layers_of_base64_carries_a_secret_out(layers: int) -> None:
    """What is deeper than anything is read is masked unread."""
    text = GITHUB
    for _ in range(layers):
        text = base64.b64encode(text.encode()).decode()
    assert re.fullmatch(r"\[\w+:\w{8}\]", masked(text))


@pytest.mark.parametrize(
    "cut",
    ["\x00", "\r", "\u00a0", "\x85", "\x9b31m", "\x1b7", "\x1bP1$r\x1b\\", "\u3164", "\ufff9", "\u2800"],
)
def test_a_sign_that_nobody_sees_does_not_cut_a_token(cut: str) -> None:
    """Controls of a terminal, fillers, blanks of other kinds."""
    assert re.fullmatch(r"\[github_pat:\w{8}\]", masked(f"{GITHUB[:14]}{cut}{GITHUB[14:]}").replace(cut, ""))


@pytest.mark.parametrize(
    "text",
    ["password:\u00a0{}", "password:\u3000{}", "\u0440\u0430ssw\u043erd={}", "P\u0391SSWORD={}"],
    ids=ascii,
)
def test_blanks_and_letters_of_other_alphabets_do_not_hide_a_name(text: str) -> None:
    """What looks like a name is one."""
    assert PASSWORD not in masked(text.format(PASSWORD))


@pytest.mark.parametrize(
    "raw",
    [
        b"\x07" + GITHUB.encode(),
        b"\xff\xfe" + GITHUB.encode("utf-16-le"),
        GITHUB.encode("utf-16-be"),
        b"cl\xe9 " + GITHUB.encode(),
        b"\x00\x01\xff" + GITHUB.encode() + b"\xfe",
        b"a" * 20 + b"\x07" + GITHUB.encode(),
    ],
)
def test_a_stray_byte_does_not_hide_a_text_in_base64(raw: bytes) -> None:
    """Marks of the byte order, letters of other encodings, control characters."""
    assert re.fullmatch(r"\[github_pat:\w{8}\]", masked(base64.b64encode(raw).decode()))
