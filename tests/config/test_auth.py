"""The settings of who may call."""

from herma.config.auth import Auth


def test_nobody_may_call_by_default() -> None:
    """Without a key, a login page, an issuer, a certificate and a proxy there is no caller at all."""
    auth = Auth()
    assert (auth.keys, auth.login, auth.tokens, auth.certificates, auth.proxy_headers) == (
        (),
        None,
        (),
        (),
        None,
    )
    assert auth.open
