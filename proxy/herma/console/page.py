"""The pages of the console as HTML, and the headers that hold a browser to them.

Style and script come from the console itself and from nowhere else; nothing is inline, so the policy needs no exception.
"""

from datetime import UTC, datetime
from importlib.resources import files
from typing import Final

from herma.console.markup import Markup, element, joined, link, prose, shown
from herma.console.sections import SECTIONS, fragments, moment
from herma.console.view import Explained, Found, RuleText, View

__all__ = ["ASSETS", "HEADERS", "entry_page", "explain_page", "notice_page", "overview_page"]

_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)

# `same-origin` and not `no-referrer`: with the latter a browser sends `Origin: null` with the form.
HEADERS: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": _POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}

_DIRECTORY: Final = files("herma.console").joinpath("assets")
ASSETS: Final = {
    "style.css": (_DIRECTORY.joinpath("style.css").read_bytes(), "text/css"),
    "live.js": (_DIRECTORY.joinpath("live.js").read_bytes(), "text/javascript"),
}
"""The two files of the pages: content and type."""

_SIGN_OUT: Final = Markup(
    '<form method="post" action="/console/logout"><button class="quiet">Sign out</button></form>'
)


def overview_page(view: View, who: str) -> Markup:
    """Write the page that shows everything; `who` is signed in."""
    written = fragments(view)
    contents = element(
        "nav",
        element("ul", *(element("li", link(f"#{name}", heading)) for name, heading, _ in SECTIONS)),
        aria_label="Parts of this page",
    )
    parts = joined(
        element(
            "section",
            element("h2", heading, id=f"{name}-heading"),
            element("div", written[name], id=f"{name}-body"),
            id=name,
            aria_labelledby=f"{name}-heading",
        )
        for name, heading, _ in SECTIONS
    )
    head = element(
        "header",
        element("h1", "Herma console"),
        element(
            "p",
            f"Version {view.version}, signed in as {who}. As of ",
            element("span", moment(view.at), id="as-of"),
            " UTC. ",
            element("span", "Not live: ", link("/console", "load again"), ".", id="live", role="status"),
        ),
        _SIGN_OUT,
    )
    return _document("Herma console", joined([head, contents, element("main", parts, id="main")]), live=True)


def entry_page(problem: str = "") -> Markup:
    """Write the form that takes a token or a key; `problem` says what went wrong before."""
    said = element("p", problem, id="problem", role="alert", class_="grave box") if problem else Markup()
    described = "problem how" if problem else "how"
    form = element(
        "form",
        element("label", "Token or key", for_="token"),
        Markup(
            f'<input id="token" name="token" type="password" autocomplete="off" spellcheck="false" maxlength="4200"'
            f' required aria-describedby="{described}">'
        ),
        element("button", "Open"),
        method="post",
        action="/console/login",
    )
    how = element(
        "p",
        "On the machine of the gate, ",
        element("code", "herma console"),
        " prints a token that opens this page once. A key with the scope ",
        element("code", "admin"),
        " opens it too.",
        id="how",
    )
    return _narrow("Herma console", joined([element("h1", "Herma console"), how, said, form]))


def notice_page(title: str, text: str) -> Markup:
    """Write a page that only says something."""
    back = element("p", link("/console", "Back to the console"))
    return _narrow(
        title,
        joined([element("h1", title), element("p", text, role="alert", class_="grave box"), back]),
    )


def explain_page(explained: Explained) -> Markup:
    """Write what is known of one refusal: its rules, where they are defined, and what would let it pass."""
    one = explained.refused
    facts = [
        ("When", Markup(f"{datetime.fromtimestamp(one.at, UTC):%Y-%m-%d %H:%M:%S} UTC")),
        ("Exchange", element("code", one.exchange)),
        ("Who", one.who or "nobody known"),
        ("Asked for", element("code", f"{one.method} {one.route}".strip() or "-")),
        ("Operation", one.operation or "-"),
        ("Answer", element("code", f"{one.status or '-'} {one.code}")),
        ("Reason", one.reason or "-"),
    ]
    listed = joined(element("div", element("dt", name), element("dd", value)) for name, value in facts)
    rules = [_rule(found, explained.rules.get(found.rule_id)) for found in sorted(one.found, key=_graveness)]
    what = joined(rules) if rules else element("p", "No rule: the check itself refused.", class_="quiet")
    body = [
        element("header", element("h1", "A refusal, explained"), element("p", link("/console", "Back"))),
        element(
            "main",
            element("section", element("h2", "What was refused"), element("dl", listed, class_="facts wide")),
            element("section", element("h2", "Which rules fired"), what),
            element("section", element("h2", "What would let it pass"), _way(explained)),
            id="main",
        ),
    ]
    return _document("A refusal, explained", joined(body))


def _graveness(found: Found) -> int:
    """Order what refused before what was only noted."""
    return 0 if found.level in {"critical", "high"} else 1


def _rule(found: Found, rule: RuleText | None) -> Markup:
    facts: list[object] = [
        element("h3", element("code", found.rule_id), f" {found.level}"),
        element(
            "p", f"At {found.place or 'the whole of it'}", f", ATT&CK {found.attack}" if found.attack else ""
        ),
    ]
    if rule is None:
        facts.append(element("p", "This is no rule of a file but a check of the gate itself."))
    else:
        facts += [
            element("p", element("b", rule.title)),
            element("p", rule.description),
            element("p", "Defined in ", element("code", rule.file)) if rule.file else "",
            element("ul", *(element("li", element("code", one)) for one in rule.references))
            if rule.references
            else "",
            element("details", element("summary", "The rule"), element("pre", rule.text))
            if rule.text
            else "",
        ]
    return element("article", *facts)


def _way(explained: Explained) -> Markup:
    if not explained.exemption:
        return element("p", prose(explained.obstacle))
    return joined(
        [
            element(
                "p",
                "The narrowest exemption, for ",
                element("code", "herma.yaml"),
                ". ",
                prose(explained.obstacle),
            ),
            element("pre", explained.exemption),
        ]
    )


def _narrow(title: str, content: Markup) -> Markup:
    return _document(title, element("main", content, id="main", class_="narrow"))


def _document(title: str, body: Markup, *, live: bool = False) -> Markup:
    script = Markup('<script src="/console/live.js" defer></script>\n') if live else Markup()
    return Markup(
        f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>{shown(title)}</title>
<link rel="stylesheet" href="/console/style.css">
{script}</head>
<body>
<a class="skip" href="#main">To the content</a>
{body}
</body>
</html>
"""
    )
