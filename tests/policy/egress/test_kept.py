"""What a file keeps that must not leave."""

import json

import pytest

from herma.policy.egress.kept import MAX_LINES, kept

SECRET = "k3y-0f-th3-t3st-0001"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (f"API_KEY={SECRET}", SECRET),
        (f"export API_KEY='{SECRET}' # a comment", SECRET),
        (f"API_KEY={SECRET} # a comment", SECRET),
        (f"api_key: {SECRET}", SECRET),
        (f"'api_key' => '{SECRET}',", SECRET),
        (f'"api_key": "{SECRET}",', SECRET),
        (f'{{"keys": [{{"api_key": "{SECRET}"}}, 1, null]}}', SECRET),
        (json.dumps([f"first line of it\n  {SECRET}\n"]), SECRET),
        (f"{{ no JSON\nAPI_KEY={SECRET}", SECRET),
        (f"HOME=/root\0API_KEY={SECRET}\0USER=agent", SECRET),
        (r'NAME="it \"is\" n0t \$5 \\ here"', 'it "is" n0t $5 \\ here'),
        (r'NAME="it \"is\" n0t \$5 \\ here"', r"it \"is\" n0t \$5 \\ here"),
        (r'NAME="first-l1ne-of-it\nsec0nd-line-of-it"', "sec0nd-line-of-it"),
        ('NAME="first-l1ne-of-it\nsec0nd-line-of-it"', "first-l1ne-of-it"),
        ('NAME="first-l1ne-of-it\nsec0nd-line-of-it"', "sec0nd-line-of-it"),
        ("URL=postgres://agent:s3cr3t-0f@db.example.com/agent", "s3cr3t-0f"),
        ("db.example.com:5432:agent:agent:s3cr3t-pg", "s3cr3t-pg"),
        (r"*:*:*:agent:s3c\:r3t-pg", "s3c:r3t-pg"),
        ("machine api.example.com login agent password s3cr3t-net", "s3cr3t-net"),
        ("  password s3cr3t-net", "s3cr3t-net"),
        ("DB_PASSWORD=horsebattery", "horsebattery"),
        ("NOTE=three spoons of plain flour", "three spoons of plain flour"),
        ("a-line-that-is-n0-assignment", "a-line-that-is-n0-assignment"),
    ],
)
def test_a_value_is_taken(text: str, value: str) -> None:
    """Whatever format it stands in."""
    assert value in set(kept(text))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# a comment with n0-value-at-all",
        "MODE=production-environment",
        "DEBUG=true",
        "PASSWORD=short1",
        "TOKEN_FILE=/etc/keys/of-the-agent",
        "API_KEY=/etc/keys/of-the-agent",
        "URL=https://agent.example.com/v1/models",
        "machine api.example.com",
        "[1, 2]",
        "x" * 5000,
    ],
)
def test_what_many_files_hold_is_left(text: str) -> None:
    """Words, paths, addresses and comments."""
    assert set(kept(text)) == set()


def test_json_that_is_too_deep_is_read_as_lines() -> None:
    """Nothing in it is lost, and nothing breaks."""
    assert SECRET in set(kept("[" * 100_000 + f"\nAPI_KEY={SECRET}"))


def test_a_file_of_too_many_lines_is_told() -> None:
    """It is no file of keys."""
    with pytest.raises(ValueError, match="lines"):
        list(kept("\n" * (MAX_LINES + 1)))


@pytest.mark.parametrize(
    "line", ["MATRIX_HOME_ROOM=!aBc123456789:matrix.org", "TWILIO_ACCOUNT_SID=AC0123456789abcdef"]
)
def test_where_people_are_is_no_secret(line: str) -> None:
    """Each message to them has it in its address."""
    assert list(kept(line)) == []
