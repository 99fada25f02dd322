"""The login page: HTML without a script, readable on a phone, by a screen reader, in the dark.

What is shown of a request is escaped, and little is: the place to go to afterwards, and the name of somebody who is logged in.
The style is the only thing the page may use; its hash stands in the policy.
"""

import base64
import hashlib
from dataclasses import dataclass
from html import escape
from typing import Final

from herma.policy.browser.local_target import HOME, encoded
from herma.policy.browser.page import Page

__all__ = ["HEADERS", "Ways", "login_page", "notice_page", "signed_out_page"]

_STYLE: Final = """
:root{color-scheme:light dark;--ground:#f4f5f7;--card:#fff;--text:#1b1f24;--soft:#565f6b;--line:#828b96;--main:#0b5cad;--on:#fff;
--bad:#a3161b;--badground:#fdeced}
@media (prefers-color-scheme:dark){:root{--ground:#14171b;--card:#1e2329;--text:#e8ebef;--soft:#a9b2bd;--line:#77818d;--main:#8ac0ff;
--on:#0c1b2b;--bad:#ffb0b3;--badground:#43181b}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:center;padding:1rem;background:var(--ground);color:var(--text);
font:1rem/1.5 system-ui,sans-serif}
main{width:100%;max-width:24rem;padding:2rem 1.5rem;background:var(--card);border-radius:.75rem;box-shadow:0 1px 4px #0004}
h1{margin:0;font-size:1.5rem;line-height:1.25}
p{margin:.5rem 0 0;color:var(--soft)}
.bad{margin-top:1.25rem;padding:.75rem 1rem;border-left:.25rem solid var(--bad);background:var(--badground);color:var(--bad)}
form{margin-top:1.5rem}
label{display:block;margin-bottom:.25rem;font-weight:600}
input{width:100%;margin-bottom:1.25rem;padding:.625rem .75rem;border:1px solid var(--line);border-radius:.375rem;
background:var(--card);color:var(--text);font:inherit}
button,.button{display:block;width:100%;min-height:3rem;padding:.625rem 1rem;border:1px solid var(--main);border-radius:.375rem;background:var(--main);
color:var(--on);font:inherit;font-weight:600;text-align:center;text-decoration:none;overflow-wrap:anywhere;cursor:pointer}
.button{margin-top:1.5rem}
button.quiet{background:none;color:var(--main)}
:focus-visible{outline:.1875rem solid var(--main);outline-offset:.125rem}
"""

_STYLE_HASH: Final = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode("ascii")
_POLICY: Final = f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

# `same-origin` and not `no-referrer`: with the latter a browser sends `Origin: null` with the form.
HEADERS: Final[tuple[tuple[bytes, bytes], ...]] = (
    (b"content-type", b"text/html; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"content-security-policy", _POLICY.encode("ascii")),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"same-origin"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
)


@dataclass(frozen=True, slots=True)
class Ways:
    """How people log in here: with a password, and at the identity provider of that name; empty without one."""

    passwords: bool = True
    provider: str = ""


def login_page(back: str, ways: Ways, *, problem: str = "", name: str = "") -> bytes:
    """Render the page; `back` is where a login leads, `problem` what went wrong, `name` who is logged in already."""
    said = f'<p class="bad" id="problem" role="alert">{escape(problem)}</p>' if problem else ""
    described = ' aria-describedby="problem"' if problem else ""
    here = (
        f"""<p>You are signed in as {escape(name)}.</p>
<form method="post" action="{Page.LOGOUT.path}"><button class="quiet">Sign out</button></form>
"""
        if name
        else ""
    )
    entries = _provider(back, ways.provider) if ways.provider else ""
    if ways.passwords:
        entries += _passwords(back, described)
    return _page(
        f"""<h1>Sign in</h1>
<p>This page belongs to the gate in front of the agent.</p>
{here}{said}
{entries}"""
    )


def signed_out_page(provider: str, url: str) -> bytes:
    """Render what follows a logout at the gate: the browser goes on to the provider's, by itself or by hand.

    A redirect would not do: it would belong to the form, and `form-action` keeps forms here.
    """
    onward = f'<meta http-equiv="refresh" content="0; url={escape(url)}">\n'
    return _page(
        f"""<h1>Signed out</h1>
<p>You are signed out here. You may still be signed in at {escape(provider)}.</p>
<a class="button" href="{escape(url)}">Sign out at {escape(provider)}</a>""",
        onward,
    )


def _provider(back: str, provider: str) -> str:
    # A link and no form: what a form leads to has to stay here, by the page's own policy.
    query = "" if back == HOME else f"?next={encoded(back)}"
    return f'<a class="button" href="{Page.BEGIN.path}{escape(query)}">Log in with {escape(provider)}</a>\n'


def _passwords(back: str, described: str) -> str:
    return f"""<form method="post" action="{Page.LOGIN.path}">
<input type="hidden" name="next" value="{escape(back)}">
<label for="name">Name</label>
<input id="name" name="name" autocomplete="username" autocapitalize="none" autocorrect="off" spellcheck="false" maxlength="64"
 required{described}>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" maxlength="1024" required{described}>
<button>Sign in</button>
</form>"""


def notice_page(title: str, text: str) -> bytes:
    """Render a page that only says something."""
    return _page(f'<h1>{escape(title)}</h1>\n<p class="bad" role="alert">{escape(text)}</p>')


def _page(body: str, onward: str = "") -> bytes:
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
{onward}<title>Sign in</title>
<style>{_STYLE}</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
""".encode()
