"""Which check a decision belongs to: the rows of the chart, in order."""

from typing import Final

__all__ = ["PASSED", "REFUSALS", "REPORTED", "SERIES", "series_of"]

PASSED: Final = "passed"
REPORTED: Final = "reported"
_OTHER: Final = "other"

SERIES: Final[dict[str, str]] = {
    PASSED: "Passed",
    REPORTED: "Passed, but reported",
    "auth": "Who is asking",
    "route": "Routes and surfaces",
    "request": "Malformed requests",
    "body": "Bodies that cannot be judged",
    "limit": "Limits",
    "owner": "Runs of others",
    "mcp": "Server entries",
    "cron": "Scheduled prompts",
    "ioc": "Indicators of compromise",
    "approval": "Approvals",
    "socket": "WebSocket calls",
    "upstream": "The agent's answers",
    "internal": "Failures of the gate",
    _OTHER: "Other checks",
}
"""What each row is called. Its key is the second part of a refusal's code, but for those below."""

_ALIASES: Final = {
    "busy": "limit",
    "draining": "limit",
    "rpc": "socket",
    "stream": "upstream",
    "store": "internal",
}

REFUSALS: Final = tuple(name for name in SERIES if name not in {PASSED, REPORTED})


def series_of(code: str) -> str:
    """Give the row of a refusal's code: `herma.cron.exfil` belongs to `cron`."""
    family = ([*code.split("."), ""])[1]
    family = _ALIASES.get(family, family)
    return family if family in REFUSALS else _OTHER
