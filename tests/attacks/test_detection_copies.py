"""Secrets that lose their name on the way: kept in a variable of any name, or written once more beside the place that names them."""

import json

import pytest

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
