"""A value that cannot be printed by accident."""

import hashlib
import hmac

__all__ = ["Secret"]


class Secret:
    """Bytes that show only on request.

    `repr`, `str`, formatting and pickling never show the value; comparison takes the same time wherever two values differ.
    """

    __slots__ = ("_value",)

    def __init__(self, value: bytes) -> None:
        self._value = value

    def reveal(self) -> bytes:
        """Return the value; call it only where the value goes on the wire or into a hash."""
        return self._value

    def matches(self, other: bytes) -> bool:
        """Compare in constant time, for values of any length.

        Both sides are hashed first, so that neither the length nor a common prefix shows in the time.
        """
        return hmac.compare_digest(hashlib.sha256(self._value).digest(), hashlib.sha256(other).digest())

    def __repr__(self) -> str:
        return "Secret('***')"

    def __eq__(self, other: object) -> bool:
        return self.matches(other._value) if isinstance(other, Secret) else NotImplemented

    def __hash__(self) -> int:
        return hash(hashlib.sha256(self._value).digest())

    def __reduce__(self) -> str | tuple[object, ...]:
        raise TypeError("a Secret is not pickled: it would leave the process in clear")
