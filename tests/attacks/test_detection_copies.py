"""Secrets that lose their name on the way.

Kept in a variable of any name, written once more beside the place that names them, or broken by the margin of a terminal.
"""

import json

import pytest

from herma.policy.redaction.stream import StreamRedactor
from support.redactor import masked, redactor

DRAWN = "Zk7pQ2vW9sXeTb4m"
CHOSEN = "violet-anchor-maple-42"
SIGNS = "2bkF^AAxJ84#t0m"

VARIABLES = {
    "an option of PowerShell": 'P="{}"; Connect-Tool -User jo -Password $P -Server s1',
    "a variable of PowerShell": '$cred = "{}"; New-Thing -ApiKey $cred -Name x',
    "a user's password": 'X={}; curl -u "jo:$X" https://ci.example.com/job',
    "glued to an option": 'K={} && mysql -uroot -p"$K" -e "select 1"',
    "an option in quotes": 'A="{}"; sshpass -p "$A" scp f host:/tmp',
    "set once more under a name": 'val="{}"\nexport DB_PASSWORD="$val"\n./run.sh',
    "in braces": "v='{}'\nexport DB_PASSWORD=${{v}}\n./run.sh",
    "piped": 'q="{}"; echo "$q" | sudo -S systemctl restart nginx',
}


@pytest.mark.parametrize("form", VARIABLES.values(), ids=VARIABLES)
@pytest.mark.parametrize("value", [DRAWN, CHOSEN])
def test_a_value_is_told_by_where_its_variable_is_used(form: str, value: str) -> None:
    """The value goes where it is assigned; the command and the use stay."""
    text = form.format(value)
    out = masked(text)
    assert value not in out
    before, _, after = text.partition(value)
    assert out.startswith(before)
    assert out.endswith(after)


def test_a_value_of_signs_is_told_so_between_quotes() -> None:
    """As it would be where the variable stands."""
    assert SIGNS not in masked(f'val="{SIGNS}"\nexport DB_PASSWORD="$val"\n./run.sh')


@pytest.mark.parametrize(
    "text",
    [
        "N=production; deploy --env $N -Force",
        "X=Production; Invoke-Tool -Environment $X",
        'MODE="verbose"; run --key $MODE',
        "TAG=release-2026; git tag $TAG && git push origin $TAG",
        "REGION=us-east-1; aws s3 ls --region $REGION",
        "USER=jo; mysql -u $USER -p",
        '$p = "C:/Temp/x1"; Get-Item $p',
    ],
)
def test_variables_of_scripts_stay(text: str) -> None:
    """Nothing that is used as a region, a tag, a mode or a path is a secret."""
    assert masked(text) == text


def test_a_second_copy_is_no_way_out() -> None:
    """In a command, in its error message, in a path, and in another string of the same event."""
    for text in (
        f"$ mysql -uapp -p{DRAWN}\nERROR 1045: access denied, tried {DRAWN}",
        f"API_TOKEN={DRAWN}\nGET /v1/x/{DRAWN}/y 200",
        f"echo {CHOSEN} > f; export DB_PASSWORD={CHOSEN}",
    ):
        out = masked(text)
        assert DRAWN not in out
        assert CHOSEN not in out
    raw, _ = redactor().json(json.dumps({"password": DRAWN, "say": f"it is\n{DRAWN}"}).encode())
    assert DRAWN not in raw.decode()
    assert json.loads(raw)["say"].startswith("it is\n")


KEY = f"sk-ant-api03-{'Zk7pQ2vW9sXeTb4mYd4rT8nB1cLm' * 3}AA"
PROMPT = "jo@web3:~/src/app/deploy/scripts$ "
WRAPPED = {
    "a vendor's key": f"{PROMPT}export ANTHROPIC_API_KEY={KEY}",
    "a header": f'{PROMPT}curl -H "Authorization: Bearer {KEY[13:70]}" https://example.com',
}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("line", WRAPPED.values(), ids=WRAPPED)
def test_the_margin_of_a_terminal_breaks_no_secret_in_two(line: str, end: str) -> None:
    """What stands on the next line goes as well, however the text comes; the prompt behind it stays."""
    text = f"{line[:80]}{end}{line[80:]}{end}$ ls\n"
    rest = line[80:92]
    assert rest not in masked(text)
    assert masked(text).endswith("$ ls\n")
    for cut in range(1, len(text)):
        stream = StreamRedactor(redactor())
        out = stream.feed(text[:cut], 0.0) + stream.feed(text[cut:], 0.01) + stream.finish()
        assert rest not in out, cut


@pytest.mark.parametrize(
    "text",
    [
        f"{'a long line of a log that says nothing of interest but its words, token=':<80}\nInternalServer9 restarted",
        "export DB_HOST=db1 DB_NAME=shop DB_USER=app APP_MODE=production NODE_NAME=web3\nDEBUG=1",
        f"{'9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c5b4a39281706f5e4d3c2b1a0'}\n{'1a0b2c3d4e5f60718293a4b5c6d7e8f9'}",
    ],
)
def test_the_end_of_a_long_line_is_mostly_its_end(text: str) -> None:
    """Words, names and digests on the next line are joined to nothing."""
    assert masked(text) == text


@pytest.mark.parametrize(
    "text",
    [
        f"password ::: {DRAWN}",
        f"api_key ==> {DRAWN}",
        f'{{"password_part1": "{DRAWN[:12]}", "token_part_2": "{DRAWN}"}}',
        f'[{{"op": "replace", "path": "/spec/password", "value": "{DRAWN}"}}]',
        f'mac.init(new SecretKeySpec("{DRAWN}".getBytes(), "HmacSHA256"));',
        f"<auth-user-pass>\njo\n{CHOSEN}\n</auth-user-pass>",
    ],
)
def test_a_name_is_one_whatever_joins_it_to_the_value(text: str) -> None:
    """An odd sign, a part's number, a path, a call, a block; in a text and in a document."""
    for out in (masked(text), redactor().json(text.encode())[0].decode()):
        assert DRAWN[:12] not in out
        assert CHOSEN not in out
