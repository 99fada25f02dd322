"""The settings classes."""

from dataclasses import FrozenInstanceError, fields, is_dataclass

import pytest

from herma.config import auth, certificates, proxy_headers, settings, tokens, upstream
from herma.config.option import describe
from herma.config.settings import Settings
from herma.config.upstream import Upstream
from herma.config.values import Tcp, UpstreamUrl

CLASSES = [
    kind
    for module in (settings, auth, certificates, proxy_headers, tokens, upstream)
    for name in module.__all__
    if is_dataclass(kind := getattr(module, name))
]


def smallest() -> Settings:
    return Settings(upstream=Upstream(url=UpstreamUrl(Tcp("127.0.0.1", 8642))))


def test_settings_cannot_be_changed() -> None:
    """What was judged stays what is used."""
    with pytest.raises(FrozenInstanceError):
        smallest().strict = True  # type: ignore[misc] - that is the point


def test_settings_without_checks_have_no_modes() -> None:
    """A check that is not named enforces; that is the pipeline's default."""
    assert smallest().modes() == {}


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_number_has_bounds_its_default_is_within(kind: type) -> None:
    """A limit that cannot be set to nonsense, and a default that can be written down."""
    for item in fields(kind):
        option = describe(item)
        if (
            option
            and isinstance(item.default, int | float)
            and not isinstance(item.default, bool)
            and item.name != "mode"
        ):
            assert option.minimum is not None, item.name
            assert option.maximum is not None, item.name
            assert option.minimum <= item.default <= option.maximum, item.name


def test_units_stand_in_names() -> None:
    """A time is in seconds and a size in bytes, and says so."""
    for kind in CLASSES:
        for item in fields(kind):
            if "timeout" in item.name or "delay" in item.name:
                assert item.name.endswith("_s"), item.name
