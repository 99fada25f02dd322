"""Where a secret comes from: a file of its own, an environment variable, or (warned about) the configuration itself.

`key_file: path` names a file; `key: ${NAME}` an environment variable. A variable that is set and empty is not set: an unset
variable in a container template must not become the empty key. Nothing here repeats what it read.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from herma.config.guarded_file import FileProblem, read_guarded
from herma.policy.secret import Secret

__all__ = ["MAX_SECRET_BYTES", "SecretProblem", "SecretSource"]

# A key has tens of bytes, the longest tokens in use a few KiB.
MAX_SECRET_BYTES = 64 * 1024

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_VISIBLE = re.compile(rb"[\x21-\x7e]+")


class SecretProblem(Exception):  # noqa: N818 - it becomes a Problem once the place in the configuration is known
    """A secret cannot be had; `code` says why."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class SecretSource:
    """Gets the secrets of one configuration file; relative paths start where that file is."""

    def __init__(self, environ: Mapping[str, str], directory: Path, *, exposed: bool = False) -> None:
        self._environ = environ
        self._directory = directory
        # Whether other users may read the configuration file itself.
        self._exposed = exposed

    def from_file(self, name: str) -> Secret:
        """Read a secret from its own file; one line end behind it is not part of it."""
        try:
            content = read_guarded(
                str(self._directory / name), max_bytes=MAX_SECRET_BYTES, secret=True
            ).content
        except FileProblem as problem:
            raise SecretProblem(problem.code, str(problem)) from None
        return _secret(content.removesuffix(b"\n").removesuffix(b"\r"), "the file")

    def from_value(self, value: str, warn: Callable[[str, str], None]) -> Secret:
        """Take a secret from the variable that `value` names, or from `value` itself, which is warned about."""
        if variable := _VARIABLE.fullmatch(value):
            name = variable[1]
            found = self._environ.get(name, "")
            if not found:
                raise SecretProblem("unset", f"the environment variable {name} is not set, or empty; set it")
            return _secret(found.encode("utf-8", "surrogateescape"), f"the environment variable {name}")
        if "${" in value:
            raise SecretProblem("variable", "expected ${NAME} alone, without text around it")
        secret = _secret(value.encode(), "the value")
        if self._exposed:
            message = (
                "found a secret in a file that every user may read; move it to a file of its own (`key_file`)"
            )
            raise SecretProblem("exposed", f"{message}, or run chmod 0600")
        warn("literal", "found a secret in the configuration itself; use a file (`…_file`) or ${NAME}")
        return secret


def _secret(content: bytes, what: str) -> Secret:
    if not content:
        raise SecretProblem("empty", f"{what} is empty, expected a secret")
    if not _VISIBLE.fullmatch(content):
        raise SecretProblem(
            "content", f"{what} holds blanks, line ends or bytes outside ASCII, expected one word"
        )
    return Secret(content)
