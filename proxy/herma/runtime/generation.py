"""Puts the generations together: what a version of the configuration makes of content, keys, checks and upstreams."""

import hmac
import secrets
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from herma.config.auth import AuthKey
from herma.config.login import LoginUser
from herma.config.settings import ClientAuth, Settings, Tls
from herma.config.upstream import Upstream
from herma.config.values import KeyHash, Unix
from herma.content.fires import opened
from herma.content.library import Library
from herma.content.profiles import load_profile
from herma.content.surfaces import switched
from herma.errors import ConfigError, Problem, Source
from herma.identity import Account, Accounts, KeyRecord, Keyring, SignIn, credentials_of, fires_of
from herma.identity.asking import asking
from herma.ingress import Generation, UpstreamKey
from herma.policy.browser.password_hash import PasswordHash
from herma.policy.checks import build_checks
from herma.policy.pipeline import Check, Pipeline
from herma.policy.redaction.redactor import Redactor
from herma.policy.routing.profile import Profile
from herma.policy.secret import Secret
from herma.runtime.doors import hosts_of
from herma.runtime.watch import content_places, files_state
from herma.wire import (
    ListenerContext,
    Pool,
    PoolLimits,
    TcpAddress,
    UnixAddress,
    client_context,
    server_context,
)

__all__ = ["Content", "Generations", "build", "new_fingerprint_key", "read_content"]

FINGERPRINT_KEY_BYTES = 32


@dataclass(frozen=True, slots=True)
class Content:
    """The data that judgements are made with, read and checked."""

    # Of each upstream, by its name.
    profiles: Mapping[str, Profile]
    # Made with the rules, for it takes a moment too: a reload must not hold up the event loop.
    checks: tuple[Check, ...]
    redactor: Redactor
    # What the operator should know about it.
    notes: tuple[str, ...] = ()
    # The serials of the signed manifests; an older state of one of them is not taken back.
    serials: Mapping[str, int] = field(default_factory=dict)
    # The state of its files just before they were read.
    state: str = ""
    # When the same files mean something else.
    due: datetime | None = None
    # What logins that are under way are sealed with.
    seal: Secret = field(default_factory=lambda: Secret(secrets.token_bytes(FINGERPRINT_KEY_BYTES)))


@dataclass(frozen=True, slots=True)
class Generations:
    """The generations of all upstreams that one version of the configuration makes, by the upstream's name.

    `contexts` has the TLS of each listener, None where it speaks none.
    """

    settings: Settings
    contexts: tuple[ListenerContext | None, ...]
    by_name: Mapping[str, Generation]

    def retire(self) -> None:
        """Open no more connections to the upstreams; those in use are left to who uses them."""
        for generation in self.by_name.values():
            generation.pool.retire()

    async def close(self) -> None:
        """Close every connection to the upstreams."""
        for generation in self.by_name.values():
            await generation.pool.close()


def read_content(
    settings: Settings,
    fingerprint_key: Secret,
    serials: Mapping[str, int] | None = None,
    now: datetime | None = None,
) -> Content:
    """Read rules, profile and indicators; this takes a moment and touches files only.

    Args:
        settings: Where the files are.
        fingerprint_key: Used where the settings name none.
        serials: The serials of manifests that were accepted before.
        now: When it is, for what begins and ends.

    Raises:
        ContentError: a file cannot be used, or the configuration names no platform of the egress gate that there is.
        ConfigError: an exemption names a rule or a route that does not exist, a surface an operation, an upstream a page or its jobs.
    """
    state = files_state(content_places(settings))
    fingerprint_key = settings.redaction.fingerprint_key or fingerprint_key
    library = Library(settings.content)
    indicators = library.collection(now or datetime.now(UTC), serials)
    profiles = switched(
        {
            name: load_profile(upstream.profile, library.base.joinpath("profiles"))
            for name, upstream in settings.all_upstreams().items()
        },
        settings.surfaces,
    )
    profiles = opened(profiles, settings)
    _pages(settings, profiles)
    if settings.egress is not None:
        # The process that judges by them reads them itself; here it is told before anything is opened or swapped.
        library.platforms({name: one.hosts for name, one in settings.egress.platforms.items()})
        library.models()
        library.services()
    return Content(
        profiles=profiles,
        checks=build_checks(
            library.rule_set(settings.exemptions, profiles.values(), indicators.indicators()), settings
        ),
        redactor=library.redactor(
            fingerprint_key,
            [kind.rule_id for kind in settings.redaction.optional],
        ),
        notes=indicators.notes,
        serials=indicators.serials,
        state=state,
        due=indicators.due,
        # All workers have the same one, so that a login may come back to another of them.
        seal=Secret(hmac.digest(fingerprint_key.reveal(), b"logins under way", "sha256")),
    )


def _pages(settings: Settings, profiles: Mapping[str, Profile]) -> None:
    """Refuse to look for a key where an upstream writes none."""
    problems = [
        Problem(
            Source(settings.path),
            "upstream.key_from_page",
            f"{name}: an upstream of the profile {profiles[name].name} has no page with its key; give it a key_file",
        )
        for name, upstream in settings.all_upstreams().items()
        if upstream.key_from_page and profiles[name].page_key is None
    ]
    if problems:
        raise ConfigError(problems)


def new_fingerprint_key() -> Secret:
    """Return a key that lives as long as this start of the gate; all workers and generations share it."""
    return Secret(secrets.token_bytes(FINGERPRINT_KEY_BYTES))


def build(settings: Settings, content: Content) -> Generations:
    """Make a generation for each upstream; call it in the event loop that will use them.

    Raises:
        OSError: certificates or authorities cannot be loaded.
    """
    pipeline = Pipeline(content.checks, {name: check.mode for name, check in settings.checks.items()})
    keyring = Keyring([_record(key) for key in settings.auth.keys])
    credentials = credentials_of(settings.auth)
    accounts = _accounts(settings, content.seal)
    contexts = tuple(_context(listener.tls) for listener in settings.listen)
    authorities = frozenset[bytes]().union(*(context.authorities for context in contexts if context))
    pools = {name: _pool(upstream) for name, upstream in settings.all_upstreams().items()}
    generations = {
        name: Generation(
            name=name,
            settings=settings,
            upstream=upstream,
            profile=content.profiles[name],
            pipeline=pipeline,
            keyring=keyring,
            credentials=credentials,
            accounts=accounts,
            redactor=content.redactor,
            pool=pools[name],
            authority=upstream.url.authority.encode("ascii"),
            key=_key(upstream, content.profiles[name], pools[name]),
            hosts=hosts_of(settings, name),
            fires=fires_of(upstream.cron_fire) if upstream.cron_fire is not None else None,
            authorities=authorities,
        )
        for name, upstream in settings.all_upstreams().items()
    }
    return Generations(settings, contexts, generations)


def _key(upstream: Upstream, profile: Profile, pool: Pool) -> UpstreamKey:
    page = profile.page_key if upstream.key_from_page else None
    return UpstreamKey(upstream.key, page=page, pool=pool, authority=upstream.url.authority.encode("ascii"))


def _context(tls: Tls | None) -> ListenerContext | None:
    if tls is None:
        return None
    required = tls.client_auth is ClientAuth.REQUIRED
    return server_context(tls.cert_file, tls.key_file, client_ca=tls.client_ca_file, required=required)


def _record(key: AuthKey) -> KeyRecord:
    plain = key.key if isinstance(key.key, Secret) else None
    hashed = str(key.key) if isinstance(key.key, KeyHash) else None
    return KeyRecord(
        name=key.name,
        scopes=key.scopes,
        key=plain,
        hash=hashed,
        group=key.group,
        expires=key.expires,
        networks=key.networks,
        max_concurrent_runs=key.max_concurrent_runs,
    )


def _accounts(settings: Settings, seal: Secret) -> Accounts:
    login = settings.auth.login
    if login is None:
        return Accounts()
    sign_in = SignIn(login.oidc, seal, asking(login.oidc.ca_file)) if login.oidc else None
    return Accounts([_account(user) for user in login.users], sign_in)


def _account(user: LoginUser) -> Account:
    return Account(user.name, user.role, PasswordHash.parse(user.password_hash.reveal().decode("ascii")))


def _pool(upstream: Upstream) -> Pool:
    limits = PoolLimits(
        max_connections=upstream.max_connections,
        connect_timeout_s=upstream.connect_timeout_s,
        keepalive_s=upstream.keepalive_s,
    )
    address = upstream.url.address
    target = (
        UnixAddress(address.path) if isinstance(address, Unix) else TcpAddress(address.host, address.port)
    )
    tls: ssl.SSLContext | None = None
    if upstream.url.tls:
        tls = client_context(upstream.tls.ca_file if upstream.tls else None)
    return Pool(target, limits, ssl=tls)
