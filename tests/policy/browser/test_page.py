"""Which paths are the gate's own."""

import pytest

from herma.policy.browser.page import Page, own_page
from herma.policy.decision import Deny
from herma.policy.message.target import Target, canonical_target


def page(raw: bytes) -> Page | Deny | None:
    target = canonical_target(raw)
    assert isinstance(target, Target), raw
    return own_page(target)


@pytest.mark.parametrize("one", Page)
def test_pages_are_found_by_their_path(one: Page) -> None:
    """With a query or without, and however it is encoded: it is the decoded path that counts."""
    path = one.path.encode()
    for raw in (path, path + b"?next=%2F", path.replace(b".", b"%2e"), path.replace(b"herma", b"%68erm%61")):
        assert page(raw) is one
    assert one.methods
    assert "/" not in one.operation


@pytest.mark.parametrize(
    "raw",
    [
        b"/.herma", b"/.herma/", b"/.herma/login/", b"/.herma/login/x", b"/.herma/Login", b"/.HERMA/login", b"/.herma%2Flogin",
        b"/.herma/%6cogin%2Fx", b"/.herma/other", b"/%EF%BC%8Eherma/login", b"/%2Eherma%2Fx", b"/.%EF%BD%88erma/session",
    ],
)  # fmt: skip
def test_what_is_below_the_prefix_and_no_page_is_404(raw: bytes) -> None:
    """It is reserved all the same, in every spelling that a lenient reader could take for it."""
    found = page(raw)
    assert isinstance(found, Deny)
    assert (found.status, found.code) == (404, "herma.route.unknown")


@pytest.mark.parametrize(
    "raw", [b"/", b"/herma/login", b"/.hermas/login", b"/v1/.herma/login", b"/x?/.herma/login", b"/.her/ma"]
)
def test_other_paths_are_not_reserved(raw: bytes) -> None:
    """Only the first part of the path decides."""
    assert page(raw) is None
