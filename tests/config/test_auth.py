"""The settings of who may call."""

from herma.config.auth import Auth


def test_nobody_may_call_by_default() -> None:
    """Without a key and without a login page there is no caller at all."""
    assert Auth().keys == ()
    assert Auth().login is None
