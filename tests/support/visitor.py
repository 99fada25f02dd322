"""A browser that logs in at a gate of the suites by way of an identity provider, without a picture and without scripts."""

from collections.abc import Sequence

__all__ = ["LOGIN_COOKIE", "SESSION_COOKIE", "cookies_of", "jar"]

LOGIN_COOKIE = "__Host-herma-login"
SESSION_COOKIE = "__Host-herma"


def cookies_of(lines: Sequence[str]) -> dict[str, str]:
    """Return what the browser keeps of `Set-Cookie` lines: a value by its name, an empty one for a cookie that is taken back."""
    found = {}
    for line in lines:
        pair, *attributes = line.split("; ")
        name, _, value = pair.partition("=")
        assert name not in found, line
        assert {"Path=/", "Secure", "HttpOnly", "SameSite=Lax"} <= set(attributes), line
        assert not any(one.lower().startswith("domain") for one in attributes), line
        assert ("Max-Age=0" in attributes) == (value == ""), line
        found[name] = value
    return found


def jar(cookies: dict[str, str]) -> list[tuple[str, str]]:
    """Return the header that sends these cookies; none where there are none."""
    kept = "; ".join(f"{name}={value}" for name, value in cookies.items() if value)
    return [("Cookie", kept)] if kept else []
