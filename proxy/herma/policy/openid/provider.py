"""What an issuer says about itself, read strictly (OpenID Connect Discovery 1.0, section 3; RFC 8414).

What is not there has the default of the standard; what is there and is not of the right form is refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from herma.policy.openid.endpoint import is_endpoint, is_local

__all__ = ["Provider", "ProviderError", "read_provider"]


class ProviderError(ValueError):
    """An issuer's description cannot be used; the message names the field, never its value."""


@dataclass(frozen=True, slots=True)
class Provider:
    """An issuer and where it is asked what.

    `end_session` is empty where people cannot be sent to sign out, `user_info` where nothing is said beside the ID token. With `secret_in_form` the client's secret goes into the form of
    the token request, because the issuer takes it nowhere else. With `names_itself` every answer names the issuer (RFC 9207).
    """

    issuer: str
    authorization: str
    token: str
    keys: str
    end_session: str = ""
    secret_in_form: bool = False
    names_itself: bool = False
    user_info: str = ""


def read_provider(document: object, issuer: str) -> Provider:
    """Read an issuer's description.

    Raises:
        ProviderError: it is another issuer's, or cannot be used.
    """
    if not isinstance(document, Mapping):
        raise ProviderError("the description is no JSON object")
    # Discovery section 4.3: otherwise one issuer could speak for another.
    if document.get("issuer") != issuer:
        raise ProviderError("`issuer` is not the configured one, character by character")
    local = is_local(issuer)
    return Provider(
        issuer=issuer,
        authorization=_endpoint(document, "authorization_endpoint", local=local),
        token=_endpoint(document, "token_endpoint", local=local),
        keys=_endpoint(document, "jwks_uri", local=local),
        end_session=_endpoint(document, "end_session_endpoint", local=local, required=False),
        secret_in_form=_secret_in_form(document),
        names_itself=document.get("authorization_response_iss_parameter_supported") is True,
        user_info=_endpoint(document, "userinfo_endpoint", local=local, required=False),
    )


def _endpoint(document: Mapping[object, object], name: str, *, local: bool, required: bool = True) -> str:
    value = document.get(name)
    if value is None and not required:
        return ""
    if not isinstance(value, str) or not is_endpoint(value, local=local):
        raise ProviderError(f"`{name}` is not an https address")
    return value


def _secret_in_form(document: Mapping[object, object]) -> bool:
    name = "token_endpoint_auth_methods_supported"
    methods = document.get(name)
    if methods is None:
        return False  # section 3: client_secret_basic where nothing is said
    if not isinstance(methods, list):
        raise ProviderError(f"`{name}` is no list")
    return "client_secret_basic" not in methods and "client_secret_post" in methods
