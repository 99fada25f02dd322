"""What the authority says of itself that it does not sign for."""

import pytest
from cryptography import x509

from herma.egress.exclusion import excluded_hosts, subtrees
from herma.policy.egress.host_pattern import HostPattern


def _hosts(*names: str) -> tuple[HostPattern, ...]:
    return tuple(map(HostPattern.parse, names))


@pytest.mark.parametrize(
    ("unread", "read", "kept"),
    [
        (("api.model.example", "*.model.test"), (), ("api.model.example", "*.model.test")),
        (("model.example",), (), ()),
        (("api.model.example:8443", "192.0.2.7:443"), (), ()),
        (("192.0.2.7", "2001:db8::7"), (), ("192.0.2.7", "2001:db8::7")),
        (("*.cloud.example",), ("chat.cloud.example",), ()),
        (("chat.cloud.example",), ("chat.cloud.example",), ()),
        (("api.cloud.example",), ("chat.cloud.example", "cloud.example"), ("api.cloud.example",)),
    ],
    ids=["models", "whole site", "ports", "addresses", "platform below", "platform", "beside a platform"],
)
def test_what_is_excluded_shuts_nothing_out_that_is_read(
    unread: tuple[str, ...], read: tuple[str, ...], kept: tuple[str, ...]
) -> None:
    """Only hosts that can be excluded with all names below them are."""
    assert set(excluded_hosts(_hosts(*unread), _hosts(*read))) == set(_hosts(*kept))


def test_a_name_is_written_once() -> None:
    """A constraint covers all names below it, so these are not written again; addresses are networks of one."""
    found = subtrees(_hosts("api.a.example", "*.a.example", "b.a.example", "192.0.2.7", "2.7.example"))
    assert [str(name.value) for name in found] == ["192.0.2.7/32", "2.7.example", "a.example"]
    assert isinstance(found[0], x509.IPAddress)
