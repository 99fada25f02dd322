"""Whether a sentence does something with an indicator or only speaks of it: people hunt for them, block them and write about them.

A sentence that speaks of one has no verb that would lead there, or asks, forbids or searches. Anything else is a use; whoever
means well can say so in other words, and whoever means harm must not get through with one good word more.
"""

import re

__all__ = ["in_use"]

# What makes a mention a use: something is done with the indicator, shortly before it in the same sentence.
_VERBS = (
    r"(?:post|send|upload|connect|clone|install|download|fetch|register|bcc|cc|forward|run|running|execute|start|keep|curl|wget|nc|ncat|ssh|scp"
    r"|pip|npx|npm|uvx|add|use|open|point|proxy|mirror|push|pull|write|append|echo|ping6?|dig|nslookup|telnet|socat|sftp|rsync|git|iwr|irm|aria2c"
    r"|lynx|visit|browse|navigate|resolve|mount|route|redirect|tunnel|create_connection|urlopen|requests|fsockopen|cnpm|tnpm|pnpm|pnpx|dlx|bunx?"
    r"|yarn|pipx|uv|poetry|pdm|pipenv|pixi|rye|deno|docker|podman|cargo|gem)"
)
# A point ends a sentence only before a blank: `./run` and `x.example` do not.
_REST = r"(?:[^.;\n]|\.(?!\s)){0,120}$"
_USE = re.compile(rf"(?i)(?:\b{_VERBS}\b|\breport (?:back )?to\b|[a-z]{{2,8}}://){_REST}")
# What makes it talk about the indicator: people hunt for these. `The report` and `the blocklist` are things, and no orders.
_HUNT = re.compile(
    r"(?i)\b(?:search|look(?:s|ing)? (?:for|whether|if)|check (?:that|whether|if|for|\S{1,40} for)|grep|scan|hunt|audit|detect|whether|logs?"
    r"|alerts? (?:if|when|whenever)|malicious|compromised?|indicators?|known bad|summari[sz]e|explain|what is|is it safe|prüfe|revisa|vérifie"
    r"|(?<!the )(?<!a )(?<!an )(?<!our )(?<!your )(?:alert|block(?:list)?|report))\b(?:[^.;\n]|\.(?!\s)){0,200}$"
)
# Orders behind which no good word before counts: a program that goes there, an order of its own behind a comma.
_COMMAND = re.compile(
    r"(?i)(?<![\w'\"`])(?:curl|wget|nc|ncat|netcat|telnet|socat|ssh|scp|sftp|iwr|irm|aria2c)\s(?:-\S{1,40}\s|[^\s;|&'\"`]{1,40}@?\s?){0,8}(?:[a-z]{2,8}://)?\S{0,40}$"
    r"|(?:[,:]|\bthen|\band)\s{1,2}(?:then |please |also )?(?:run|use|fetch|open|execute|download|install|connect|clone|visit)\b[^.;\n,]{0,60}$"
    r"|\breport (?:back )?to (?:[a-z]{2,8}://)?$|(?:^|[.;\n!]\s{0,3})(?:please |now )?(?:post|send|upload|download|use|open|connect)\b[^.;\n,?]{0,60}(?:\bto|\bfrom|\bat|\bvia|\bthrough)\s(?:[a-z]{2,8}://)?$"
)
# Forbidden, and nothing but that.
_FORBIDDEN = re.compile(
    rf"(?i)\b(?:never|do not|don't|must not|should not|may not|cannot|not to)\s(?:ever )?{_VERBS}\b(?:[^.,;:\n]|\.(?!\s)){{0,60}}$"
)
# What is done to an indicator that is not followed: it is kept out, or written about.
_STUDY = re.compile(
    r"(?i)\b(?:deny|den(?:y|ied)[- ]?list|block(?:ed|s|ing)?|block[- ]?list|blacklist|ban(?:ned)?|drops?|reject|blackhole|sinkhole|quarantine|hosts\.deny"
    r"|firewall|about|campaign|incident|post[- ]?mortem|advisory|threat[- ]intel(?:ligence)?|iocs?|indicators?|signature|suricata|snort|sigma|yara|case study"
    r"|(?:as|for) an example|ticket|sperrliste|liste noire|lista (?:de bloqueo|negra))\b"
)
# … unless the text would lead there after all, or takes back what it says.
_LEADS = re.compile(
    r"(?i)\b(?:connect|send|upload|clone|install|download|fetch|visit|browse|navigate|execute|proxy|tunnel|forward|route|redirect|pull|mirror|sync|contact"
    r"|resolve|mount|register|bcc|cc|point|start|curl|wget|ncat|nc|ssh|scp|sftp|telnet|socat|rsync|git|npx|npm|pip3?|pipx|uvx?|docker|podman|ping6?|dig"
    r"|nslookup|iwr|irm|aria2c|lynx|bunx?|yarn|pnpm|deno|cargo|gem|eval|sh|bash|python3?|node)\b|(?<!a )(?<!blog )\bpost(?! ?-?mortem)\b|\bopen\b(?! an? )"
    r"|[a-z]{2,8}://|[|`]|\$\(|&&"
    r"|\b(?:allow\w*|white\w*|accept\w*|trust\w*|except\w*|exempt\w*|bypass\w*|unblock\w*|remov\w+|ignor\w+|permit\w*|disabl\w+|lift|stop|skip|instead|until"
    r"|nothing|stop|off|follow)\b"
)
# `to` and `from` lead there, but not behind what is kept out.
_TOWARDS = re.compile(r"(?i)\b(?:to|from|at|via|through|with|over)\s{1,2}(?:the\s)?$")
_KEPT_OUT = re.compile(
    r"(?i)\b(?:traffic|connections?|requests?|access|packets|outbound|egress|anything|everything|calls|related|hits|deny|block|drop|reject|in|out)"
    r"\s(?:going |made |sent )?(?:to|from|with|at|via)\s$"
)
# `Never use anything but x` is an order to use it.
_UNLESS = re.compile(r"(?i)\b(?:but|except|other|else|unless|without|until|before|instead|only|than)\b")
# How far before it the sentence of an indicator is looked at.
MAX_BEFORE_CHARS = 240


def in_use(text: str, start: int) -> bool:
    """Tell whether what stands at `start` is used by the text rather than talked about.

    A negative `start` says that it stands there in a spelling of its own: nobody who talks about it writes so.
    """
    if not re.search(r"\s", text.strip()):
        return True
    if start < 0:
        return _HUNT.search(text) is None
    before = text[max(0, start - MAX_BEFORE_CHARS) : start]
    forbidden = _FORBIDDEN.search(before)
    if _USE.search(before) is None or (forbidden is not None and _UNLESS.search(forbidden[0]) is None):
        return False
    if _COMMAND.search(before) is not None:
        return True
    return _HUNT.search(before) is None and not _is_studied(text, before)


def _is_studied(text: str, before: str) -> bool:
    towards = _TOWARDS.search(before) is not None and _KEPT_OUT.search(before) is None
    return not towards and _STUDY.search(text) is not None and _LEADS.search(text) is None
