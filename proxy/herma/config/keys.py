"""Judges the keys: strong enough, none twice, none that has expired."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from herma.config.auth import Auth, AuthKey, Failures
from herma.config.cron_fire import JobKey
from herma.config.key_floor import weakness
from herma.config.proxy_headers import judge_proxy_headers
from herma.config.reader import Reader
from herma.config.settings import Settings
from herma.config.upstream import place_of
from herma.config.values import KeyHash
from herma.errors import Source
from herma.policy.secret import Secret
from herma.policy.token.form import is_token
from herma.yamlfile import Path

__all__ = ["Keys"]

# RFC 6750 section 2.1 (b64token): what can stand in `Authorization: Bearer`.
_BEARER = re.compile(r"[A-Za-z0-9._~+/-]+=*")


@dataclass(frozen=True, slots=True)
class _Placed:
    key: AuthKey | JobKey
    name_at: Source
    key_at: Source


class Keys:
    """Collects the keys as they are read and judges them when all are known."""

    def __init__(self, now: datetime) -> None:
        self._now = now
        self._placed: list[_Placed] = []
        self._floor_bits = float(Auth().min_entropy_bits)

    def finish_key(self, reader: Reader, made: AuthKey, path: Path, raw: Mapping[str, Any]) -> AuthKey:
        """Judge what one key alone shows."""
        spelled = next(name for name in ("key", "key_file", "hash") if name in raw)
        self._placed.append(_Placed(made, reader.at((*path, "name")), reader.at((*path, spelled))))
        if made.expires is not None and made.expires <= self._now:
            reader.warn(
                reader.at((*path, "expires")),
                "auth.expired",
                "the key has expired and opens nothing; remove it",
            )
        return made

    def finish_failures(
        self, reader: Reader, made: Failures, path: Path, _raw: Mapping[str, Any]
    ) -> Failures:
        """The first delay is not longer than the longest."""
        if made.base_delay_s > made.max_delay_s:
            message = "found a first delay longer than max_delay_s; make it shorter"
            reader.problem(reader.at((*path, "base_delay_s")), "auth.failures", message)
        return made

    def finish_auth(self, reader: Reader, made: Auth, path: Path, raw: Mapping[str, Any]) -> Auth:
        """Judge the keys and the proxy's secret together, now that the floor is known."""
        self._floor_bits = float(made.min_entropy_bits)
        for index, placed in enumerate(self._placed):
            self._strength(reader, placed)
            for earlier in self._placed[:index]:
                self._twice(reader, earlier, placed)
            if made.tokens and isinstance(placed.key.key, Secret) and is_token(placed.key.key.reveal()):
                message = (
                    "found a key that would be read as a signed token; make another with `herma key new`"
                )
                reader.problem(placed.key_at, "auth.key.token", message)
        if made.proxy_headers is not None:
            below = (*path, "proxy_headers")
            judge_proxy_headers(reader, made.proxy_headers, below, raw["proxy_headers"], self._floor_bits)
        return made

    def judge_upstream(self, reader: Reader, key: Secret, at: Source) -> None:
        """Apply the floor to the upstream's own key: it guards a port that may be reachable without the gate."""
        if found := weakness(_text(key), self._floor_bits):
            reader.problem(at, f"upstream.key.{found.code}", found.message)

    def judge_job_keys(self, reader: Reader, settings: Settings) -> None:
        """Apply the floor to the keys that start jobs; each opens one thing, so none is another's, nor an upstream's own."""
        own = [upstream.key for upstream in settings.all_upstreams().values() if upstream.key is not None]
        for name, upstream in settings.all_upstreams().items():
            for index, key in enumerate(
                upstream.cron_fire.job_keys if upstream.cron_fire is not None else ()
            ):
                path = (*place_of(name), "cron_fire", "job_keys", index)
                at = next(
                    reader.at(one) for kind in ("key", "key_file", "hash") if reader.has(one := (*path, kind))
                )
                placed = _Placed(key, reader.at((*path, "name")), at)
                self._strength(reader, placed)
                if any(_equal(key.key, one) for one in own):
                    message = "found the agent server's own key; make another with `herma token job`"
                    reader.problem(at, "auth.key.twice", message)
                if isinstance(key.key, Secret) and is_token(key.key.reveal()):
                    message = "found a key that would be read as a signed token; make another with `herma token job`"
                    reader.problem(at, "auth.key.token", message)
                for earlier in self._placed:
                    self._same(reader, earlier, placed)
                self._placed.append(placed)

    def _strength(self, reader: Reader, placed: _Placed) -> None:
        key = placed.key.key
        if isinstance(key, KeyHash):
            return  # `herma key hash` judged it when it could be read
        if not _BEARER.fullmatch(_text(key)):
            message = (
                "found characters that a bearer token cannot have (RFC 6750); make one with `herma key new`"
            )
            reader.problem(placed.key_at, "auth.key.syntax", message)
        elif found := weakness(_text(key), self._floor_bits):
            reader.problem(placed.key_at, f"auth.key.{found.code}", found.message)

    @staticmethod
    def _twice(reader: Reader, earlier: _Placed, placed: _Placed) -> None:
        if earlier.key.name.lower() == placed.key.name.lower():
            message = f"the name is taken by the key at {earlier.name_at}; rename one"
            reader.problem(placed.name_at, "auth.key.name", message)
        Keys._same(reader, earlier, placed)

    @staticmethod
    def _same(reader: Reader, earlier: _Placed, placed: _Placed) -> None:
        if _equal(earlier.key.key, placed.key.key):
            message = f"found the same key as at {earlier.key_at}; give each its own (`herma key new`)"
            reader.problem(placed.key_at, "auth.key.twice", message)


def _equal(first: Secret | KeyHash, second: Secret | KeyHash) -> bool:
    match first, second:
        case Secret(), Secret():
            return first.matches(second.reveal())
        case KeyHash(), Secret():
            return first.is_of(second.reveal())
        case Secret(), KeyHash():
            return second.is_of(first.reveal())
        case _:
            return first == second


def _text(key: Secret) -> str:
    return key.reveal().decode("ascii")
