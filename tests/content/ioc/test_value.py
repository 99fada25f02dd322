"""Claims about `herma.content.ioc.value`."""

import pytest

from herma.content.ioc.value import judge_value, normal_value
from herma.policy.indicator import Action, Indicator, Matching

SHA256 = "aec070645fe53ee3b3763059376134f058cc337247c978add178b6ccdfb0019f"

FINE = [
    (Matching.ADDRESS, "203.113.5.7", "ipv4"),
    (Matching.ADDRESS, "198.51.100.7:443", "host_port"),
    (Matching.ADDRESS, "60.165.0.0/16", "network"),
    (Matching.ADDRESS, "2a0e:bad::/32", "network"),
    (Matching.ADDRESS, "[2a0e:bad::7]:443", "host_port"),
    (Matching.DOMAIN, "evil.example", "domain"),
    (Matching.DOMAIN, "b\u00fccher.example:8080", "domain"),
    (Matching.DOMAIN, "evil.github.io", "domain"),
    (Matching.URL, "https://github.com/evil/x", "url"),
    (Matching.URL, "http://203.113.5.7/x", "url"),
    (Matching.EMAIL, "bad@evil.example", "email"),
    (Matching.WORD, SHA256, "sha256"),
    (Matching.REGEX, "evil.*shell", "pattern"),
    (Matching.PACKAGE, "evil-mcp", "npm_package"),
    (Matching.SUBSTRING, "curl -s evil", "command"),
]
REFUSED = [
    (Matching.ADDRESS, "127.0.0.1", "ipv4", "loopback"),
    (Matching.ADDRESS, "10.0.0.1", "ipv4", "private"),
    (Matching.ADDRESS, "169.254.169.254", "ipv4", "link-local"),
    (Matching.ADDRESS, "::ffff:10.0.0.1", "ipv6", "private"),
    (Matching.ADDRESS, "8.0.0.0/8", "network", "wide"),
    (Matching.ADDRESS, "0.0.0.0/0", "network", "wide"),
    (Matching.ADDRESS, "::1", "ipv6", "loopback"),
    (Matching.ADDRESS, "fe80::1", "ipv6", "link-local"),
    (Matching.ADDRESS, "fd00::1", "ipv6", "private"),
    (Matching.ADDRESS, "2a00::/16", "network", "wide"),
    (Matching.ADDRESS, "::/0", "network", "wide"),
    (Matching.ADDRESS, "evil", "ipv4", "appear"),
    (Matching.DOMAIN, "com", "domain", "two labels"),
    (Matching.DOMAIN, "co.uk", "domain", "registry"),
    (Matching.DOMAIN, "github.io", "domain", "hosting"),
    (Matching.DOMAIN, "Evil.example", "domain", "lower-case"),
    (Matching.DOMAIN, "evil example.com", "domain", "two labels"),
    (Matching.DOMAIN, "*.evil.example", "domain", "two labels"),
    (Matching.DOMAIN, "1.2.3.4", "domain", "no domain"),
    (Matching.DOMAIN, "printer.local", "domain", "local network"),
    (Matching.DOMAIN, "evil.example:0", "domain", "port"),
    (Matching.DOMAIN, "evil.example:x", "domain", "port"),
    (Matching.URL, "http://localhost/x", "url", "scheme"),
    (Matching.URL, "http://127.0.0.1/x", "url", "loopback"),
    (Matching.URL, "evil.example/x", "url", "scheme"),
    (Matching.EMAIL, "evil.example", "email", "e-mail"),
    (Matching.EMAIL, "root@printer.local", "email", "local network"),
    (Matching.WORD, SHA256[1:], "sha256", "hexadecimal"),
    (Matching.WORD, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "sha256", "empty"),
    (Matching.WORD, "0" * 32, "md5", "empty"),
    (Matching.REGEX, "(a+)+$", "pattern", "nested"),
    (Matching.REGEX, "[", "pattern", "class"),
    (Matching.PACKAGE, "evil-mcp", "npm_package", "ecosystem"),
    (Matching.SUBSTRING, "abc", "command", "short"),
    (Matching.SUBSTRING, " padded ", "command", "blanks"),
    (Matching.SUBSTRING, "with\nline", "command", "printable"),
    (Matching.SUBSTRING, "x" * 3000, "command", "2048"),
]


def _indicator(matching: Matching, value: str, ecosystem: str = "") -> Indicator:
    return Indicator("x", value, matching, Action.BLOCK, "x", ecosystem)


@pytest.mark.parametrize(("matching", "value", "kind"), FINE, ids=lambda part: str(part)[:24])
def test_values_that_mean_something_are_accepted(matching: Matching, value: str, kind: str) -> None:
    """Each kind in its usual forms."""
    judge_value(_indicator(matching, value, "npm" if matching is Matching.PACKAGE else ""), kind)


@pytest.mark.parametrize(("matching", "value", "kind", "says"), REFUSED, ids=lambda part: str(part)[:24])
def test_values_that_would_match_what_everybody_uses_are_refused(
    matching: Matching, value: str, kind: str, says: str
) -> None:
    """And those that are malformed or mean nothing."""
    with pytest.raises(ValueError, match=says):
        judge_value(_indicator(matching, value), kind)


SAME = [
    (Matching.ADDRESS, "203.113.5.7/32", "::ffff:203.113.5.7"),
    (Matching.DOMAIN, "b\u00fccher.example:80", "xn--bcher-kva.example:80"),
    (Matching.URL, "http://evil.example/x", "hxxp://EVIL.example/./x#y"),
    (Matching.WORD, "ABCDEF", "abcdef"),
    (Matching.EXACT, "abc", "abc"),
]


@pytest.mark.parametrize(("matching", "one", "other"), SAME, ids=lambda part: str(part)[:24])
def test_two_spellings_of_a_value_are_one(matching: Matching, one: str, other: str) -> None:
    """So that two lists that mean the same are seen to."""
    assert normal_value(_indicator(matching, one)) == normal_value(_indicator(matching, other))
