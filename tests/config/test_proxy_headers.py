"""A proxy that says who is asking, in the configuration."""

import pytest

from herma.config.load import parse
from support.config_text import ENVIRON, NOW, UPSTREAM, codes, parsed, problems

SECRET = "fakeQ4mZt8Lw2Vr6Yc1Hs9Kd"
WITH_SECRET = {**ENVIRON, "PROXY_SECRET": SECRET, "WEAK": "aaaaaaaaaaaaaaaaaaaa"}


def headers(**over: str | None) -> str:
    said = {
        "peers": "[192.0.2.10]",
        "secret": "'${PROXY_SECRET}'",
        "user_header": "X-Forwarded-User",
        "roles": "[{user: alice, role: admin}]",
    } | over
    listed = ", ".join(f"{name}: {value}" for name, value in said.items() if value is not None)
    return f"auth: {{proxy_headers: {{{listed}}}}}\n"


def refused(text: str) -> list[str]:
    return codes(text, keys=False, environ=WITH_SECRET)


def test_a_proxy_has_an_address_a_secret_and_headers() -> None:
    """And roles for those whom it names."""
    text = headers(
        groups_header="X-Forwarded-Groups", roles="[{group: ops, role: operator}]", default_role="viewer"
    )
    found = parsed(text, keys=False, environ=WITH_SECRET).auth
    proxy = found.proxy_headers
    assert proxy is not None
    assert (str(proxy.peers[0]), proxy.secret.reveal()) == ("192.0.2.10/32", SECRET.encode())
    assert (proxy.secret_header, proxy.user_header) == ("x-herma-proxy-secret", "x-forwarded-user")
    assert proxy.groups_header == "x-forwarded-groups"
    assert [(one.user, one.group, one.role) for one in proxy.roles] == [(None, "ops", "operator")]
    assert proxy.default_role == "viewer"
    assert not found.open
    assert SECRET not in repr(found)


@pytest.mark.parametrize(
    ("over", "code"),
    [
        ({"peers": "[]"}, "config.items"),
        ({"peers": "[0.0.0.0/0]"}, "auth.proxy_headers.peers"),
        ({"peers": "['::/0']"}, "auth.proxy_headers.peers"),
        ({"peers": "[0.0.0.0/1, 128.0.0.0/1]"}, "auth.proxy_headers.peers"),
        ({"secret": None}, "config.missing"),
        ({"secret": "'${WEAK}'"}, "auth.proxy_headers.weak"),
        ({"user_header": None}, "config.missing"),
        ({"user_header": "X-Forwarded-For"}, "config.value"),
        ({"user_header": "Authorization"}, "config.value"),
        ({"groups_header": "X-FORWARDED-USER"}, "auth.proxy_headers.header"),
        ({"secret_header": "X-Forwarded-User"}, "auth.proxy_headers.header"),
        ({"roles": None}, "auth.proxy_headers.nobody"),
        ({"roles": "[]"}, "auth.proxy_headers.nobody"),
        ({"roles": "[{role: admin}]"}, "auth.proxy_headers.role"),
        (
            {"roles": "[{user: a, group: b, role: admin}]", "groups_header": "X-Groups"},
            "auth.proxy_headers.role",
        ),
        ({"roles": "[{group: ops, role: admin}]"}, "auth.proxy_headers.role"),
        ({"roles": "[{user: a, role: root}]"}, "config.value"),
    ],
)
def test_what_anybody_could_say_is_refused(over: dict[str, str | None], code: str) -> None:
    """And what would be said about nobody."""
    assert refused(headers(**over)) == [code]


def test_a_secret_that_can_be_guessed_is_not_repeated() -> None:
    """Only how strong it is."""
    (problem,) = problems(headers(secret="'${WEAK}'"), keys=False, environ=WITH_SECRET)
    assert "bits" in problem
    assert "aaaa" not in problem


@pytest.mark.parametrize(
    ("trusted", "warned"),
    [
        ("[]", True),
        ("[192.0.2.11]", True),
        ("['2001:db8::/32']", True),
        ("[192.0.2.0/24]", False),
        ("[192.0.2.10]", False),
    ],
)
def test_a_proxy_whose_forwarded_headers_are_not_believed_is_told(trusted: str, warned: bool) -> None:
    """Everybody behind it would have its address."""
    text = headers() + f"trusted_proxies: {trusted}\n" + UPSTREAM
    found = parse(text.encode(), "herma.yaml", WITH_SECRET, now=NOW, check_ids=frozenset())
    assert ("auth.proxy_headers.untrusted" in [one.code for one in found.warnings]) is warned
