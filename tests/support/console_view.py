"""A console's view with everything on it, and hostile texts for each of its places."""

from dataclasses import replace

from herma.console import Concern, Explained, Feed, Found, Minute, Open, Refused, RuleText, Upstream, View

__all__ = ["AT", "EXCHANGE", "EXPLAINED", "FULL", "REFUSED", "hostile"]

AT = 1_796_230_000.0
EXCHANGE = "00000000000000aa"
REFUSED = Refused(
    exchange=EXCHANGE,
    at=AT - 5,
    who="laptop",
    method="POST",
    route="/api/mcp/servers",
    operation="mcp.write",
    status=403,
    code="herma.mcp.download",
    reason="The server entry is refused by the gate.",
    found=(Found("mcp-download-run", "critical", "/mcp_servers/notes/args", "T1105"),),
)
FULL = View(
    at=AT,
    version="0.1.0",
    stage="serving",
    ready=True,
    uptime_s=3700,
    slots_taken=3,
    slots=10,
    runs=(Open("laptop", "run.start", "", "background run", AT - 90),),
    connections=7,
    workers=2,
    workers_configured=2,
    open=(Open("alice", "chat.terminal", "/api/pty", "socket", AT - 600, "dashboard"), Open("", "", "", "request", AT)),
    open_total=5,
    minutes=(
        Minute(int(AT) // 60 * 60 - 120, {"passed": 40, "mcp": 2}),
        Minute(int(AT) // 60 * 60, {"passed": 10, "auth": 7, "reported": 1}),
    ),
    refusals=(REFUSED,),
    upstreams=(
        Upstream("default", "http://127.0.0.1:8642", "hermes-api", True, "", True),
        Upstream(
            "dashboard", "http://127.0.0.1:9119", "hermes-dashboard", False, "no answer", False,
            ("GET /api/new",), ("0.0.0.0",),
        ),
    ),
    feeds=(Feed("ioc", 700, "2026-11-01", 31),),
    concerns=(
        Concern("checks.cron_scan is in mode monitor.", "Set it to enforce."),
        Concern("0.0.0.0:443 can be reached by others.", "See that it is meant.", grave=False),
    ),
    reload_failure="herma.yaml:3:1: config.key: unknown key 'nonsense'",
    config_path="herma.yaml",
)  # fmt: skip
EXPLAINED = Explained(
    REFUSED,
    {
        "mcp-download-run": RuleText(
            "mcp-download-run",
            "A download is run",
            "What is fetched is run at once.",
            "critical",
            "rules/mcp/mcp-download-run.yaml",
            "id: mcp-download-run\n",
            ("https://attack.example/T1105",),
            "server",
        )
    },
    "exemptions:\n  - rule: mcp-download-run",
    "It is the narrowest.",
)


def hostile(text: str) -> tuple[View, Explained]:
    """Put a text wherever a text can stand."""
    found = Found(text, text, text, text)
    refused = replace(
        REFUSED, who=text, method=text, route=text, operation=text, code=text, reason=text, found=(found,)
    )
    someone = Open(text, text, text, text, AT, text)
    upstream = Upstream(text, text, text, False, text, None, (text,), (text,))
    view = replace(
        FULL,
        version=text, stage=text, ready=False, reason=text, runs=(someone,), open=(someone,), refusals=(refused,),
        upstreams=(upstream,), feeds=(Feed(text, 1, text, None),), concerns=(Concern(text, text),),
        reload_failure=text, config_path=text,
    )  # fmt: skip
    rule = RuleText(text, text, text, text, text, text, (text,))
    return view, Explained(refused, {text: rule}, text, text)
