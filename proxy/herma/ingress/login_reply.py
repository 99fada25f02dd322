"""What the pages of a login answer with: somewhere else to go, or a page that says what is wrong."""

from herma.ingress.answer import Answer
from herma.ingress.login_page import HEADERS
from herma.ingress.plane import Generation
from herma.ingress.record import Record
from herma.policy.browser.local_target import HOME
from herma.policy.decision import Deny
from herma.policy.message.target import canonical_target
from herma.policy.routing.profile import Match

__all__ = ["landing", "leave", "say"]

# RFC 9110 section 15.5.2 asks a 401 for one; on this one no browser opens a dialogue.
_CHALLENGE = ((b"www-authenticate", b'Bearer realm="herma"'),)


def landing(generation: Generation, back: str) -> str:
    """Return where a login leads: to `back`, which anybody may have put into a link, unless a GET of it does something."""
    target = canonical_target(back.encode("ascii"))
    if isinstance(target, Deny):
        return HOME
    match = generation.profile.match("GET", target)
    return HOME if isinstance(match, Match) and match.known and not match.route.shows else back


async def leave(answer: Answer, where: str, *cookies: bytes) -> None:
    """Send the browser somewhere else."""
    headers = [*HEADERS[1:], (b"location", where.encode("ascii"))]
    await answer.whole(303, [*headers, *((b"set-cookie", cookie) for cookie in cookies)], b"")


async def say(answer: Answer, record: Record, deny: Deny, page: bytes, *cookies: bytes) -> None:
    """Show a page instead of a refusal for programs; the audit has it as a refusal."""
    record.code, record.reason, record.outcome = deny.code, deny.message, "denied"
    headers = [*HEADERS, *_CHALLENGE] if deny.status == 401 else list(HEADERS)
    if deny.retry_after_s is not None:
        headers.append((b"retry-after", b"%d" % deny.retry_after_s))
    headers += [(b"set-cookie", cookie) for cookie in cookies]
    await answer.whole(deny.status, headers, page)
