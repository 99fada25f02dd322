"""Callers that are known by a certificate."""

import pytest

from herma.identity.certificates import CertificateRecord, Certificates, names_of
from herma.policy.grant import Principal, Scope

RUN = frozenset({Scope.RUN})
BOT = CertificateRecord(
    "bot", frozenset({"dns:bot.example.com", "uri:spiffe://example.com/bot"}), RUN, "team", 2
)
OPS = CertificateRecord("ops", frozenset({"email:ops@example.com"}), RUN)
KNOWN = Certificates([BOT, OPS])


def of(*alternatives: tuple[str, str]) -> Principal | None:
    return KNOWN.caller(names_of(alternatives))


def test_a_caller_is_known_by_a_name_of_the_certificate() -> None:
    """Any of those that are configured, whatever else the certificate has."""
    bot = Principal("cert:bot", RUN, "team", 2)
    assert of(("DNS", "bot.example.com")) == bot
    assert of(("DNS", "Bot.Example.COM"), ("IP Address", "192.0.2.1")) == bot
    assert of(("URI", "spiffe://example.com/bot"), ("DNS", "bot.example.com")) == bot
    assert of(("email", "ops@EXAMPLE.com")) == Principal("cert:ops", RUN)


@pytest.mark.parametrize(
    "alternative",
    [
        ("DNS", "example.com"),
        ("DNS", "a.bot.example.com"),
        ("DNS", "*.example.com"),
        ("DNS", "bot.example.com."),
        ("DNS", "bot.example.com\0.evil.example.com"),
        ("DNS", "ops@example.com"),
        ("URI", "spiffe://example.com/bot/"),
        ("URI", "spiffe://example.com/Bot"),
        ("URI", "dns:bot.example.com"),
        ("URI", "bot.example.com"),
        ("email", "Ops@example.com"),
        ("email", "bot.example.com"),
        ("IP Address", "192.0.2.1"),
        ("DirName", "bot.example.com"),
        ("Registered ID", "dns:bot.example.com"),
    ],
)
def test_names_are_compared_whole_and_by_kind(alternative: tuple[str, str]) -> None:
    """No part, no pattern, no name of another kind."""
    assert of(alternative) is None


def test_the_names_of_two_callers_are_nobodys() -> None:
    """It is open which of them is asking."""
    assert of(("DNS", "bot.example.com"), ("email", "ops@example.com")) is None


def test_without_names_nobody_is_known() -> None:
    """Nor without callers."""
    assert of() is None
    assert Certificates().caller(frozenset({"dns:bot.example.com"})) is None


def test_two_callers_have_no_name_in_common() -> None:
    """The configuration says so first."""
    with pytest.raises(ValueError, match="same name"):
        Certificates([BOT, CertificateRecord("other", BOT.names, RUN)])
