"""E-mail addresses that say in which house a person is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.openid.email import Email, parse_domain, parse_email, verified_email


def test_a_plain_address_has_a_house() -> None:
    """The house in lower case, the rest as it was written."""
    assert parse_email("Alice.B+x@Example.COM") == Email("Alice.B+x", "example.com")
    assert str(parse_email("a@example.com")) == "a@example.com"


TRICKS = [
    "", "a", "@", "a@", "@example.com", "a@b@example.com", "a@evil.com@good.com", '"a@evil.com"@good.com', "a@good.com@", "a@@good.com", "a@good.com ", " a@good.com",
    "a@good.com\n", "a@good.com\0", "a@good.com.", "a@.good.com", "a@good..com", "a@-good.com", "a@good-.com", "a@good", "a@localhost", "a@127.0.0.1", "a@[127.0.0.1]",
    "a@\u0261ood.com", "a@good.\uff43om", "a@go\u00addod.com", "a\uff20evil.com@good.com", "\u0430@good.com", "a@xn--.com\u2024", "a b@good.com", "a(x)@good.com", "a@good.com(x)",
    "a@good.com>", "<a@good.com>", "A <a@good.com>", "a@good.com,b@evil.com", "a@good.com;evil", "=?utf-8?q?a=40evil.com=3e?=@good.com\r", "a..b@good.com", ".a@good.com", "a.@good.com",
    "a@\u212aey.com", "a@good.com%00.evil.com", "a@good.com\u3002", "x" * 65 + "@good.com", "a@" + "x" * 64 + ".com", "a@" + "x." * 130 + "com",
]  # fmt: skip


@pytest.mark.parametrize("text", TRICKS)
def test_what_is_not_plainly_an_address_is_none(text: str) -> None:
    """Two `@`, quotes, comments, look-alikes, blanks, machines."""
    assert parse_email(text) is None


@pytest.mark.parametrize(
    ("text", "domain"),
    [("Example.com", "example.com"), ("a.b-c.example", "a.b-c.example"), ("xn--bcher-kva.example", "xn--bcher-kva.example"), ("b\u00fccher.example", None), ("com", None), ("10.0.0.1", None), ("*.example.com", None), ("", None)],
)  # fmt: skip
def test_a_domain_is_ascii_and_has_a_dot(text: str, domain: str | None) -> None:
    """No wildcard, no address of a machine."""
    assert parse_domain(text) == domain


@pytest.mark.parametrize("verified", [None, False, "true", "false", 1, [True], {}])
def test_only_an_address_that_the_issuer_vouches_for_counts(verified: object) -> None:
    """By `true` and nothing that only looks like it."""
    address = {"email": "a@example.com"}
    assert verified_email({**address, "email_verified": True}) == Email("a", "example.com")
    assert verified_email({**address, "email_verified": verified}) is None
    assert verified_email(address) is None


@pytest.mark.parametrize("address", [None, 1, ["a@example.com"], {"a": 1}, "a@evil.com@good.com"])
def test_an_address_is_one_text(address: object) -> None:
    """Not a list of them."""
    assert verified_email({"email": address, "email_verified": True}) is None


@given(st.text(max_size=40) | st.from_regex(r"[a-z@.\"<> ]{1,30}", fullmatch=True))
def test_every_reader_of_an_address_would_agree_on_its_house(text: str) -> None:
    """There is one `@`, and all of it is ASCII."""
    found = parse_email(text)
    if found is not None:
        assert text.isascii()
        assert text.count("@") == 1
        assert text.lower().endswith(f"@{found.domain}")
        assert found.domain == found.domain.lower()
