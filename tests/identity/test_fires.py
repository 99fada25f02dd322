"""Who may start a scheduled job."""

from datetime import UTC, datetime
from typing import Any

import pytest

from herma.config.cron_fire import CronFire, FireIssuer, JobKey
from herma.config.values import Audience, FilePath, IssuerUrl, JobName, KeyHash, KeySetUrl, Name
from herma.identity import FileKeys, FireRejected, Fires, RemoteKeys, fires_of, hash_key
from herma.identity.jwks import VerificationKey, read_key_set
from herma.policy.fire.permit import Permit
from herma.policy.secret import Secret
from support.fires import AUDIENCE, JOB, fire_claims
from support.tokens import ISSUER, key_set, signer

KEY = signer("ES256", "fire")
JOB_KEY = b"fakeQp5Zx8Lc3Vn6Mb1Kj4Hg"
FILE = FileKeys("/keys.json")


class Held:
    """The keys of the scheduler."""

    def __init__(self) -> None:
        self._keys = read_key_set(key_set(KEY))

    def lookup(self, kid: str | None, algorithm: str) -> VerificationKey | None:
        return next((one for one in self._keys if one.kid == kid and algorithm in one.algorithms), None)


HELD = {FILE: Held()}


def issuer(name: str = "scheduler", audience: str = AUDIENCE, **over: Any) -> FireIssuer:
    where = over or {"jwks_file": FilePath("/keys.json")}
    return FireIssuer(Name(name), IssuerUrl(ISSUER), Audience(audience), **where)


def fires(*issuers: FireIssuer, key: Secret | KeyHash | None = None) -> Fires:
    job = JobKey(Name("nightly"), JobName(JOB), key or Secret(JOB_KEY))
    return fires_of(CronFire(issuers=issuers, job_keys=(job,)))


def verified(made: Fires, credential: bytes) -> Permit | FireRejected:
    return made.verify(Secret(credential), "192.0.2.1", HELD.get, datetime.now(UTC))


@pytest.mark.parametrize(
    "key", [Secret(JOB_KEY), KeyHash.parse(hash_key(Secret(JOB_KEY)))], ids=["clear", "hash"]
)
def test_a_job_key_permits_its_job(key: Secret | KeyHash) -> None:
    """As often as it is used; another key permits nothing and may have been a guess."""
    assert verified(fires(key=key), JOB_KEY) == Permit("nightly", JOB)
    assert verified(fires(key=key), b"wrong") == FireRejected("unknown", charged=True)


def test_a_token_permits_what_it_says() -> None:
    """Under the rules of the entry whose audience it names."""
    both = fires(issuer("one", "other"), issuer("two"))
    found = verified(both, KEY.token(fire_claims(aud=["x", AUDIENCE])))
    assert isinstance(found, Permit)
    assert (found.name, found.job_id) == ("two", JOB)
    assert found.once is not None


@pytest.mark.parametrize(
    ("wrong", "kid", "expected"),
    [
        ({"iss": "https://x.example.com"}, "fire", FireRejected("issuer", charged=True)),
        ({"aud": "x"}, "fire", FireRejected("audience", "scheduler", charged=True)),
        ({}, "new", FireRejected("key", "scheduler")),
        ({"purpose": "x"}, "fire", FireRejected("purpose", "scheduler")),
    ],
)
def test_why_a_token_permits_nothing(wrong: dict[str, str], kid: str, expected: FireRejected) -> None:
    """Which is for the audit; only what a forger can make counts as a guess."""
    assert verified(fires(issuer()), KEY.token(fire_claims(**wrong), kid=kid)) == expected
    assert verified(fires(issuer()), b"eyJ.eyJ.") == FireRejected("form", charged=True)


def test_without_keys_no_token_is_right() -> None:
    """Whether they were not read yet or are read by nobody."""
    remote = issuer(jwks_url=KeySetUrl("https://s.example.com/certs"))
    made = fires(remote)
    assert made.sources == {RemoteKeys("https://s.example.com/certs")}
    assert verified(made, KEY.token(fire_claims())) == FireRejected("key", "scheduler")


def test_where_no_token_is_taken_it_is_a_wrong_key() -> None:
    """Nothing of it is read."""
    assert verified(fires(), KEY.token(fire_claims())) == FireRejected("unknown", charged=True)
    assert fires().sources == frozenset()
