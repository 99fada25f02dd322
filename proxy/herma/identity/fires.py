"""Who may start a scheduled job: schedulers that sign a token for each start, and keys that start one job each.

Both are verifiers behind one interface; the gate's own keys, people and certificates are none of them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from herma.config.cron_fire import CronFire, FireIssuer, JobKey
from herma.config.values import KeyHash
from herma.identity.key_sets import FileKeys, KeySource, RemoteKeys
from herma.identity.keyring import KeyRecord, Keyring, Rejected
from herma.identity.token import Keys, TokenVerifier
from herma.policy.fire.permit import TYPES, FireFlaw, Permit, permit_of
from herma.policy.secret import Secret
from herma.policy.token.claims import Expected
from herma.policy.token.form import Flaw, is_token, read_token

__all__ = ["FireRejected", "Fires", "fires_of"]


@dataclass(frozen=True, slots=True)
class FireRejected:
    """The credential starts nothing.

    `reason` is for the audit, `by` names the issuer or the key whose rules it fell under, `charged` tells whether it may have been a
    guess, `key_name` which key it was a wrong use of.
    """

    reason: str
    by: str = ""
    charged: bool = False
    key_name: str = ""


@dataclass(frozen=True, slots=True)
class _Scheduler:
    name: str
    expected: Expected
    source: KeySource
    algorithms: tuple[str, ...]


class Fires:
    """The schedulers and job keys of one upstream."""

    def __init__(self, schedulers: Sequence[_Scheduler], keyring: Keyring, jobs: dict[str, Permit]) -> None:
        self._schedulers = tuple(schedulers)
        self._keyring = keyring
        self._jobs = jobs

    @property
    def sources(self) -> frozenset[KeySource]:
        """Where the keys of the schedulers are."""
        return frozenset(one.source for one in self._schedulers)

    def verify(
        self, credential: Secret, address: str, keys: Callable[[KeySource], Keys | None], now: datetime
    ) -> Permit | FireRejected:
        """Tell what a credential lets be fired from that address at that time.

        Where tokens are taken, what looks like one is one, and never a key.
        """
        if self._schedulers and is_token(credential.reveal()):
            return self._token(credential.reveal(), keys, now.timestamp())
        found = self._keyring.verify(credential, address, now)
        if isinstance(found, Rejected):
            return FireRejected(found.reason, found.key_name, charged=True, key_name=found.key_name)
        return self._jobs[found.principal.name]

    def _token(
        self, raw: bytes, keys: Callable[[KeySource], Keys | None], now: float
    ) -> Permit | FireRejected:
        token = read_token(raw)
        if isinstance(token, Flaw):
            return FireRejected(token, charged=token.guess)
        same = [one for one in self._schedulers if token.claims.get("iss") == one.expected.issuer]
        if not same:
            return FireRejected(Flaw.ISSUER, charged=True)
        said = token.claims.get("aud")
        named = said if isinstance(said, list) else [said]
        scheduler = next((one for one in same if one.expected.audience in named), same[0])
        known = keys(scheduler.source)
        if known is None:
            return FireRejected(Flaw.KEY, scheduler.name)
        verifier = TokenVerifier(scheduler.expected, known, algorithms=scheduler.algorithms, types=TYPES)
        claims = verifier.judge(raw, token, now)
        if isinstance(claims, Flaw):
            return FireRejected(claims, scheduler.name, charged=claims.guess)
        permit = permit_of(claims, scheduler.name)
        return FireRejected(permit, scheduler.name) if isinstance(permit, FireFlaw) else permit


def fires_of(entry: CronFire) -> Fires:
    """Make them of the configuration, which was judged."""
    return Fires(
        [_scheduler(one) for one in entry.issuers],
        Keyring([_record(one) for one in entry.job_keys]),
        {one.name: Permit(one.name, one.job_id, one.profile or "") for one in entry.job_keys},
    )


def _scheduler(entry: FireIssuer) -> _Scheduler:
    source: KeySource = (
        RemoteKeys(entry.jwks_url, entry.ca_file)
        if entry.jwks_url is not None
        else FileKeys(entry.jwks_file or "")
    )
    expected = Expected(entry.issuer, entry.audience, entry.max_lifetime_s, subject=False)
    return _Scheduler(entry.name, expected, source, tuple(one.value for one in entry.algorithms))


def _record(entry: JobKey) -> KeyRecord:
    return KeyRecord(
        name=entry.name,
        scopes=frozenset(),
        key=entry.key if isinstance(entry.key, Secret) else None,
        hash=str(entry.key) if isinstance(entry.key, KeyHash) else None,
        expires=entry.expires,
        networks=entry.networks,
    )
