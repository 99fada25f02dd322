"""The parts of the page; each is written whole, so that the stream can replace one without the others."""

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from herma.console.chart import hour, row_of
from herma.console.markup import Markup, element, joined, link, prose, row, table
from herma.console.series import PASSED, SERIES
from herma.console.view import Feed, Open, Refused, Upstream, View

__all__ = ["SECTIONS", "fragments", "moment"]

_NOBODY: Final = "nobody known"
_REFUSAL: Final = ("Time (UTC)", "Who", "What", "Why", "Explained")
_NOTHING: Final = element("p", "Nothing.", class_="quiet")


def moment(at: float) -> Markup:
    """Write a time of day in UTC, with the day for machines."""
    when = datetime.fromtimestamp(at, UTC)
    return element("time", f"{when:%H:%M:%S}", datetime=f"{when:%Y-%m-%dT%H:%M:%SZ}")


def _mark(good: bool, text: str) -> Markup:  # noqa: FBT001 - a mark is good or bad
    return element("span", text, class_="good" if good else "bad")


def _concerns(view: View) -> Markup:
    if not view.concerns:
        return element("p", "No setting makes the gate weaker than it can be.", class_="quiet")
    return element(
        "ul",
        *(
            element(
                "li",
                element("strong", "Insecure: " if one.grave else "Note: "),
                element("b", one.what),
                " ",
                prose(one.advice),
                class_="grave" if one.grave else "mild",
            )
            for one in view.concerns
        ),
        class_="concerns",
    )


def _state(view: View) -> Markup:
    ready = "ready" if view.ready else f"not ready: {view.reason}"
    slots = f"{view.slots_taken} of {view.slots}" if view.slots else f"{view.slots_taken}, without a cap"
    facts: list[tuple[str, object]] = [
        ("State", _mark(view.ready, f"{view.stage}, {ready}")),
        ("Slots in use", slots),
        ("Connections", view.connections),
        ("Workers", f"{view.workers} of {view.workers_configured}"),
        ("Up since", moment(view.at - view.uptime_s)),
        ("Last reload", _mark(not view.reload_failure, "refused" if view.reload_failure else "fine")),
    ]
    meter = (
        element(
            "meter",
            slots,
            value=view.slots_taken,
            max=view.slots,
            aria_label="Slots in use",
            high=max(1, view.slots * 3 // 4),
            optimum=0,
        )
        if view.slots
        else Markup()
    )
    listed = joined(
        element(
            "div", element("dt", name), element("dd", value, meter if name == "Slots in use" else Markup())
        )
        for name, value in facts
    )
    return joined([element("dl", listed, class_="facts"), _reload(view)])


def _reload(view: View) -> Markup:
    if not view.reload_failure:
        return Markup()
    said = f"{view.config_path} was changed, but cannot be used; the gate goes on with the old one:"
    return element("div", element("p", said), element("pre", view.reload_failure), class_="grave box")


def _decisions(view: View) -> Markup:
    rows = []
    for name, label in SERIES.items():
        drawing, now, total = row_of(view.minutes, view.at, name)
        if total or name == PASSED:
            rows.append((label, drawing, now, total))
    legend = element(
        "p",
        *(
            element("span", what, class_=f"key {kind}")
            for what, kind in (("passed", "passed"), ("reported", "reported"), ("refused", "refused"))
        ),
        class_="legend",
    )
    headings = ("Check", "Last hour", "This minute", "In the hour")
    return joined(
        [hour(view.minutes, view.at), legend, table("Decisions by check", headings, rows, "decisions")]
    )


def _refusals(view: View) -> Markup:
    if not view.refusals:
        return _NOTHING
    caption = "Newest first; what the audit has of each, without what was sent"
    return table(caption, _REFUSAL, map(_refusal, view.refusals), "refusals")


# There are many of them, and none changes: a page that is written every two seconds must not hold up the gate.
@lru_cache(maxsize=256)
def _refusal(one: Refused) -> Markup:
    return row(_REFUSAL, (moment(one.at), one.who or _NOBODY, _what(one), _why(one), _explain(one)))


def _what(one: Refused) -> Markup:
    asked = f"{one.method} {one.route}".strip() + (f" at {one.upstream}" if one.upstream else "")
    parts = [element("b", one.operation) if one.operation else "", element("code", asked) if asked else ""]
    return joined(filter(None, parts), " ") or Markup("not known")


def _why(one: Refused) -> Markup:
    said = element("span", f"{one.status} {one.code}" if one.status else one.code, class_="code")
    rules = ", ".join(dict.fromkeys(found.rule_id for found in one.found))
    parts = [said, one.reason, element("code", rules) if rules else ""]
    return joined(filter(None, parts), " ")


def _explain(one: Refused) -> Markup:
    name = f"Explain the refusal at {datetime.fromtimestamp(one.at, UTC):%H:%M:%S}"
    return link(f"/console/refusals/{one.exchange}", "explain", id=f"x-{one.exchange}", aria_label=name)


def _connected(view: View) -> Markup:
    parts: list[Markup] = []
    if view.open:
        more = view.open_total - len(view.open)
        caption = "Open now, the longest first" + (f"; {more} more are not listed" if more > 0 else "")
        parts.append(_open(caption, view.open))
    if view.runs:
        parts.append(_open("Background runs that hold a slot", view.runs))
    return joined(parts) if parts else element("p", "Nobody.", class_="quiet")


def _open(caption: str, listed: Sequence[Open]) -> Markup:
    rows = [(one.who or _NOBODY, _doing(one), one.kind, moment(one.since)) for one in listed]
    return table(caption, ("Who", "Operation", "Kind", "Since (UTC)"), rows, "connected")


def _doing(one: Open) -> str:
    return (one.operation or "not known yet") + (f" at {one.upstream}" if one.upstream else "")


def _upstreams(view: View) -> Markup:
    headings = ("Name", "Where", "State", "Key", "Route drift")
    rows = [_upstream(one) for one in view.upstreams]
    return table("What the gate stands in front of", headings, rows, "upstreams")


def _upstream(one: Upstream) -> tuple[object, ...]:
    key = {
        None: Markup("not asked"),
        True: _mark(True, "accepted"),
        False: _mark(False, "refused: mend upstream.key"),
    }[one.key_accepted]
    state = _mark(one.up, "up" if one.up else f"down: {one.reason}")
    if one.exposed:
        state = joined([state, _mark(False, f"reachable beside the gate on {', '.join(one.exposed)}")], " ")
    return one.name, element("code", f"{one.url} ({one.profile})"), state, key, _drift(one.drift)


def _drift(drift: Sequence[str]) -> Markup:
    if not drift:
        return _mark(True, "none")
    count = f"{len(drift)} routes that the profile does not know"
    listed = joined(element("li", element("code", route)) for route in drift)
    return element("details", element("summary", element("span", count, class_="bad")), element("ul", listed))


def _feeds(view: View) -> Markup:
    if view.feeds_problem:
        return element("p", view.feeds_problem, class_="grave box")
    rows = [(one.place, one.indicators, one.newest or "no date", _age(one)) for one in view.feeds]
    headings = ("Source", "In force", "Newest from", "Age")
    return table("Indicators of compromise, by source", headings, rows, "feeds") if rows else _NOTHING


def _age(feed: Feed) -> str:
    return "unknown" if feed.age_days is None else f"{max(0, feed.age_days)} days"


SECTIONS: Final = (
    ("concerns", "Insecure settings", _concerns),
    ("state", "State", _state),
    ("decisions", "Decisions a minute", _decisions),
    ("refusals", "Last refusals", _refusals),
    ("connected", "Who is connected", _connected),
    ("upstreams", "Agent servers", _upstreams),
    ("feeds", "Indicator feeds", _feeds),
)
"""Name, heading and content of each part, in the order of the page."""


def fragments(view: View) -> dict[str, Markup]:
    """Write the content of every part."""
    return {name: content(view) for name, _, content in SECTIONS}
