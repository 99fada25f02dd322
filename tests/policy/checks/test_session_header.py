"""Claims about `herma.policy.checks.session_header`."""

from herma.policy.checks.session_header import SessionHeader
from herma.policy.decision import Allow, Deny
from herma.policy.exchange import Phase
from support.exchanges import exchange, head


def test_a_session_header_with_a_path_is_refused() -> None:
    """A plain name passes."""
    bad = exchange(sent=head(X_Hermes_Session_Id="../../x"))
    assert isinstance(SessionHeader().decide(bad, Phase.REQUEST_HEAD), Deny)
    assert (
        SessionHeader().decide(exchange(sent=head(X_Hermes_Session_Id="abc")), Phase.REQUEST_HEAD) == Allow()
    )
