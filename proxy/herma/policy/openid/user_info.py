"""What an issuer says about a person beside the ID token (OpenID Connect Core, section 5.3).

Many issuers put addresses and groups there alone. It is asked only for what the rules need and the token lacks, and it never says
anything else than the token does: what the token says stands.
"""

from collections.abc import Mapping

from herma.policy.openid.admission import Admission

__all__ = ["completed", "lacking"]

_EMAIL = ("email", "email_verified")


def lacking(claims: Mapping[str, object], rules: Admission) -> bool:
    """Tell whether the rules ask for something that the token does not say."""
    return any(not all(name in claims for name in names) for names in _asked(rules))


def completed(claims: Mapping[str, object], said: object, rules: Admission) -> Mapping[str, object] | None:
    """Return the claims with what they lacked; None when what was said is about somebody else, or nothing of the kind.

    An address and whether it is verified belong together: they come from one and the same place.
    """
    # Section 5.3.2: otherwise the answer could be put in the place of another person's.
    if not isinstance(said, Mapping) or "sub" not in claims or said.get("sub") != claims["sub"]:
        return None
    whole = dict(claims)
    for names in _asked(rules):
        if not all(name in claims for name in names) and all(name in said for name in names):
            whole |= {name: said[name] for name in names}
    return whole


def _asked(rules: Admission) -> list[tuple[str, ...]]:
    """List the claims that the rules look at, those together that belong together."""
    asked: list[tuple[str, ...]] = []
    if rules.domains or any(entry.email is not None for entry in rules.roles):
        asked.append(_EMAIL)
    if rules.groups or any(entry.group for entry in rules.roles):
        name = rules.groups_claim
        asked.append((name[1:].split("/")[0] if name.startswith("/") else name,))
    return asked
