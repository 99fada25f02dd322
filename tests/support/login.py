"""People who log in at a gate of the suites, and a browser's part of it."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote_plus

__all__ = ["COOKIE", "PASSWORDS", "USERS", "cookie_of", "form_headers", "login_body"]

COOKIE = "__Host-herma"
PASSWORDS = {
    "alice": "purple lantern gravel otter",
    "olga": "purple lantern gravel otter",
    "victor": "wooden kettle orbit sunday",
}
# The weakest that the gate takes: the suites log in often. Made with a fixed salt from the passwords above.
_HASHES = {
    "purple lantern gravel otter": "$argon2id$v=19$m=7168,t=5,p=1$Zml4ZWQtc2FsdC0xNmJ5dA$o6WLtgm1EvKSC8QX4bPZzi5f3HOLm+2RBieI5IFO7VE",
    "wooden kettle orbit sunday": "$argon2id$v=19$m=7168,t=5,p=1$Zml4ZWQtc2FsdC0xNmJ5cw$KTFnSwJUR4RxIXPNO9jaBQ4s5o/df44xNLPCFohdIRk",
}
_ROLES = {"alice": "admin", "olga": "operator", "victor": "viewer"}
USERS: list[dict[str, Any]] = [
    {"name": name, "password_hash": _HASHES[password], "role": _ROLES[name]}
    for name, password in PASSWORDS.items()
]


def login_body(name: str, password: str | None = None, back: str | None = None) -> bytes:
    """Write the form as a browser does; the right password unless another is given."""
    fields = [("name", name), ("password", PASSWORDS[name] if password is None else password)]
    if back is not None:
        fields.insert(0, ("next", back))
    return "&".join(f"{key}={quote_plus(value)}" for key, value in fields).encode()


def form_headers(origin: str | None, cookie: str = "") -> list[tuple[str, str]]:
    """Return what a browser sends with a form of a page at that origin."""
    headers = [("Content-Type", "application/x-www-form-urlencoded")]
    if origin is not None:
        headers.append(("Origin", origin))
    if cookie:
        headers.append(("Cookie", f"{COOKIE}={cookie}"))
    return headers


def cookie_of(lines: Sequence[str]) -> str:
    """Return the value that the one `Set-Cookie` gives the session's cookie."""
    (line,) = lines
    name, _, rest = line.partition("=")
    assert name == COOKIE, line
    value, *attributes = rest.split("; ")
    assert {"Path=/", "Secure", "HttpOnly", "SameSite=Lax"} <= set(attributes)
    assert not any(one.lower().startswith("domain") for one in attributes)
    return value
