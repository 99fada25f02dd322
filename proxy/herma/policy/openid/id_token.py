"""What an ID token has to say beside what every token has to (OpenID Connect Core, section 3.1.3.7)."""

import hmac
from collections.abc import Mapping

__all__ = ["is_for_this_login"]


def is_for_this_login(claims: Mapping[str, object], client: str, nonce: str) -> bool:
    """Tell whether a verified ID token was made for this client and for the login with this nonce.

    A token for several parties has to name the one that it was made for, and one that names a party has to name this one: else
    it would do that another client got it from the same person.
    """
    party, audience, issued, said = (claims.get(name) for name in ("azp", "aud", "iat", "nonce"))
    if party is None and isinstance(audience, list) and len(audience) != 1:
        return False
    if party is not None and party != client:
        return False
    if not isinstance(issued, int):
        return False
    return isinstance(said, str) and hmac.compare_digest(
        said.encode("utf-8", "surrogatepass"), nonce.encode()
    )
