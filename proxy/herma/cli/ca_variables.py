"""The variables by which programs find the proxy and trust its authority, written as whoever starts them reads them."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

__all__ = ["FORMS", "variables"]

# Programs that know a name in capitals, and others, the older ones, that know it in small letters.
_PROXY: Final = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
_NO_PROXY: Final = ("NO_PROXY", "no_proxy")
# The agent's own API and the tools beside it; the gate takes nothing for these.
_NEAR: Final = "localhost,127.0.0.1,::1"
# These replace what a program trusts: they get all authorities.
_REPLACING: Final = (
    "SSL_CERT_FILE",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "PIP_CERT",
    "AWS_CA_BUNDLE",
    "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
    "CARGO_HTTP_CAINFO",
    "CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE",
    "HTTPLIB2_CA_CERTS",
    "NIX_SSL_CERT_FILE",
    "HERMES_CA_BUNDLE",
)
# These add to it: they get the one.
_ADDING: Final = ("NODE_EXTRA_CA_CERTS", "DENO_CERT")


def variables(proxy: str, certificate: Path, trust: Path) -> dict[str, str]:
    """Give the variables, by name.

    Args:
        proxy: Where the gate listens, as `host:port`.
        certificate: The file with the authority's certificate alone.
        trust: The file with all authorities.
    """
    return {
        **dict.fromkeys(_PROXY, f"http://{proxy}"),
        **dict.fromkeys(_NO_PROXY, _NEAR),
        **dict.fromkeys(_REPLACING, str(trust)),
        **dict.fromkeys(_ADDING, str(certificate)),
        "NODE_USE_ENV_PROXY": "1",
    }


def _shell(found: Mapping[str, str]) -> Iterable[str]:
    for name, value in found.items():
        quoted = value.replace("'", "'\\''")
        yield f"export {name}='{quoted}'"


def _systemd(found: Mapping[str, str]) -> Iterable[str]:
    yield "[Service]"
    for name, value in found.items():
        # systemd reads specifiers and escapes in the value of a directive.
        quoted = value.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
        yield f'Environment="{name}={quoted}"'


def _compose(found: Mapping[str, str]) -> Iterable[str]:
    yield "environment:"
    for name, value in found.items():
        # Compose puts variables of its own in where it finds a dollar.
        quoted = value.replace("'", "''").replace("$", "$$")
        yield f"  {name}: '{quoted}'"


def _dotenv(found: Mapping[str, str]) -> Iterable[str]:
    for name, value in found.items():
        quoted = value.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$")
        yield f'{name}="{quoted}"'


FORMS: Final[Mapping[str, Callable[[Mapping[str, str]], Iterable[str]]]] = {
    "shell": _shell,
    "systemd": _systemd,
    "compose": _compose,
    "dotenv": _dotenv,
}
