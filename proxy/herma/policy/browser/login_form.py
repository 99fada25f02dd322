"""The form of the login page, read strictly: each field once, no other field."""

from dataclasses import dataclass, field

from herma.policy.browser.local_target import HOME, local_target
from herma.policy.message.form import FormError, urlencoded

__all__ = ["MAX_FORM_BYTES", "LoginForm", "back_of", "is_form", "read_form"]

# A name, a password of 1,024 characters and a path, all of it percent-encoded at its worst.
MAX_FORM_BYTES = 8 * 1024

_TYPES = frozenset({b"application/x-www-form-urlencoded", b"application/x-www-form-urlencoded;charset=utf-8"})
_REQUIRED = frozenset({"name", "password"})


@dataclass(frozen=True, slots=True)
class LoginForm:
    """What was typed, and where to go; neither name nor password is shown."""

    name: str = field(repr=False)
    password: str = field(repr=False)
    back: str = HOME


def is_form(content_type: bytes | None) -> bool:
    """Tell whether a body of this type is a form; a page elsewhere can send other types without asking."""
    return (content_type or b"").replace(b" ", b"").lower() in _TYPES


def read_form(body: bytes) -> LoginForm | None:
    """Read the form; None when it is not exactly one."""
    if not body.isascii():
        return None
    try:
        fields = urlencoded(body)
    except FormError:
        return None
    if not _REQUIRED <= set(fields) <= _REQUIRED | {"next"} or any(len(one) != 1 for one in fields.values()):
        return None
    return LoginForm(fields["name"][0], fields["password"][0], local_target(fields.get("next", [HOME])[0]))


def back_of(query: bytes) -> str:
    """Read where the query of the login page wants to go; `/` when it says nothing usable."""
    try:
        wanted = urlencoded(query).get("next", [])
    except FormError:
        return HOME
    return local_target(wanted[0]) if len(wanted) == 1 else HOME
