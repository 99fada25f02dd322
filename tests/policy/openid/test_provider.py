"""What an issuer says about itself."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herma.policy.openid.provider import Provider, ProviderError, read_provider

ISSUER = "https://id.example.com/realms/agents"
DOCUMENT: dict[str, Any] = {
    "issuer": ISSUER,
    "authorization_endpoint": f"{ISSUER}/auth",
    "token_endpoint": f"{ISSUER}/token",
    "jwks_uri": f"{ISSUER}/certs",
}


def test_the_smallest_description_has_the_defaults_of_the_standard() -> None:
    """The secret goes into a header, nobody can be sent to sign out, answers need not name the issuer."""
    assert read_provider(DOCUMENT, ISSUER) == Provider(
        ISSUER, f"{ISSUER}/auth", f"{ISSUER}/token", f"{ISSUER}/certs"
    )


@pytest.mark.parametrize(
    ("methods", "in_form"),
    [
        (["client_secret_basic", "client_secret_post"], False),
        (["client_secret_post"], True),
        (["private_key_jwt"], False),
        ([], False),
    ],
)
def test_the_secret_goes_where_the_issuer_takes_it(methods: list[str], in_form: bool) -> None:
    """Into the form only where the header is not taken."""
    found = read_provider({**DOCUMENT, "token_endpoint_auth_methods_supported": methods}, ISSUER)
    assert found.secret_in_form is in_form


def test_an_issuer_may_say_more() -> None:
    """Where people sign out, and that its answers name it."""
    more = {
        "end_session_endpoint": f"{ISSUER}/logout?x=y",
        "authorization_response_iss_parameter_supported": True,
        "userinfo_endpoint": f"{ISSUER}/me",
        "other": [1],
    }
    found = read_provider({**DOCUMENT, **more}, ISSUER)
    assert (found.end_session, found.names_itself) == (f"{ISSUER}/logout?x=y", True)
    assert found.user_info == f"{ISSUER}/me"


@pytest.mark.parametrize(
    "issuer", [ISSUER + "/", ISSUER.upper(), "https://evil.example", None, [ISSUER], 1, ""]
)
def test_a_description_of_another_issuer_is_refused(issuer: object) -> None:
    """Character by character."""
    with pytest.raises(ProviderError, match="`issuer`"):
        read_provider({**DOCUMENT, "issuer": issuer}, ISSUER)


@pytest.mark.parametrize(
    "name", ["authorization_endpoint", "token_endpoint", "jwks_uri", "end_session_endpoint"]
)
@pytest.mark.parametrize(
    "url",
    [
        "http://id.example.com/x",
        "http://127.0.0.1:8644/",
        "https://localhost/x",
        "",
        1,
        [],
        "javascript:alert(1)",
        {"a": "b"},
    ],
)
def test_endpoints_are_reached_over_tls_and_elsewhere(name: str, url: object) -> None:
    """The message names the field and does not repeat what stands in it."""
    with pytest.raises(ProviderError) as caught:
        read_provider({**DOCUMENT, name: url}, ISSUER)
    assert str(caught.value) == f"`{name}` is not an https address"


@pytest.mark.parametrize("name", ["authorization_endpoint", "token_endpoint", "jwks_uri"])
def test_what_the_login_needs_has_to_be_there(name: str) -> None:
    """Only signing out is optional."""
    with pytest.raises(ProviderError, match=name):
        read_provider({key: value for key, value in DOCUMENT.items() if key != name}, ISSUER)


def test_an_issuer_on_this_machine_has_its_endpoints_here() -> None:
    """Without TLS: nothing is on a wire."""
    local = "http://127.0.0.1:9000"
    document = {
        "issuer": local,
        "authorization_endpoint": f"{local}/a",
        "token_endpoint": f"{local}/t",
        "jwks_uri": f"{local}/k",
    }
    assert read_provider(document, local).token == f"{local}/t"


def test_methods_that_are_no_list_are_refused() -> None:
    """The text "client_secret_post" holds other texts."""
    with pytest.raises(ProviderError, match="is no list"):
        read_provider({**DOCUMENT, "token_endpoint_auth_methods_supported": "client_secret_post"}, ISSUER)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*DOCUMENT, "x"]), inner, max_size=5)
    ),
    max_leaves=8,
)


@given(JSON)
def test_any_document_is_read_or_refused(document: object) -> None:
    """Never anything else."""
    with pytest.raises(ProviderError):
        read_provider(document, ISSUER)


@given(
    st.dictionaries(st.sampled_from(["issuer", "token_endpoint", "end_session_endpoint"]), JSON, max_size=3)
)
def test_a_field_of_any_kind_is_read_or_refused(fields: dict[str, object]) -> None:
    """And what is read is the configured issuer's."""
    try:
        found = read_provider({**DOCUMENT, **fields}, ISSUER)
    except ProviderError:
        return
    assert found.issuer == ISSUER
