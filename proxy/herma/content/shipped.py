"""Where the rules and indicators that ship with Herma are.

Looked for in the installed package, then in the checkout it runs from; never in the working directory, the home directory
or an environment variable. Operators name another directory in the configuration.
"""

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from herma.errors import ContentError, Source

__all__ = ["data_dir"]


def data_dir(kind: str) -> Traversable:
    """Find the shipped directory `kind`, such as `rules/redaction` or `ioc`.

    Raises:
        ContentError: the data is not there; missing data stops the start, it is not "no findings".
    """
    return _find(kind, files("herma") / "_data", Path(__file__).parents[3])


def _find(kind: str, packaged: Traversable, checkout: Path) -> Traversable:
    parts = kind.split("/")
    installed = packaged.joinpath(*parts)
    if installed.is_dir():
        return installed
    # An installed package's parents are site-packages: only a checkout has pyproject.toml at this place.
    in_checkout = checkout.joinpath(*parts)
    if (checkout / "pyproject.toml").is_file() and in_checkout.is_dir():
        return in_checkout
    raise ContentError(
        "the data that ships with herma is missing; reinstall it", Source(f"herma/_data/{kind}")
    )
