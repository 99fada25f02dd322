"""Puts one generation together: what a version of the configuration makes of content, keys, checks and the upstream."""

import secrets
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from herma.config.auth import AuthKey
from herma.config.login import LoginUser
from herma.config.settings import Listener, Settings
from herma.config.values import KeyHash, Tcp, Unix
from herma.content.library import Library
from herma.content.profiles import load_profile
from herma.content.surfaces import switched
from herma.identity import Account, Accounts, KeyRecord, Keyring
from herma.ingress import Generation
from herma.policy.browser.password_hash import PasswordHash
from herma.policy.checks import build_checks
from herma.policy.message.host import HostPolicy
from herma.policy.pipeline import Check, Pipeline
from herma.policy.redaction.redactor import Redactor
from herma.policy.routing.profile import Profile
from herma.policy.secret import Secret
from herma.runtime.watch import content_places, files_state
from herma.wire import Pool, PoolLimits, TcpAddress, UnixAddress, client_context, server_context

__all__ = ["Content", "build", "new_fingerprint_key", "read_content"]

FINGERPRINT_KEY_BYTES = 32


@dataclass(frozen=True, slots=True)
class Content:
    """The data that judgements are made with, read and checked."""

    profile: Profile
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
        ContentError: a file cannot be used.
        ConfigError: an exemption names a rule or a route that does not exist, or a surface an operation.
    """
    state = files_state(content_places(settings))
    library = Library(settings.content)
    indicators = library.collection(now or datetime.now(UTC), serials)
    profile = switched(
        load_profile(settings.upstream.profile, library.base.joinpath("profiles")), settings.surfaces
    )
    return Content(
        profile=profile,
        checks=build_checks(
            library.rule_set(settings.exemptions, profile, indicators.indicators()), settings
        ),
        redactor=library.redactor(
            settings.redaction.fingerprint_key or fingerprint_key,
            [kind.rule_id for kind in settings.redaction.optional],
        ),
        notes=indicators.notes,
        serials=indicators.serials,
        state=state,
        due=indicators.due,
    )


def new_fingerprint_key() -> Secret:
    """Return a key that lives as long as this start of the gate; all workers and generations share it."""
    return Secret(secrets.token_bytes(FINGERPRINT_KEY_BYTES))


def build(settings: Settings, content: Content) -> Generation:
    """Make a generation; call it in the event loop that will use it.

    Raises:
        OSError: certificates or authorities cannot be loaded.
    """
    upstream = settings.upstream
    return Generation(
        settings=settings,
        profile=content.profile,
        pipeline=Pipeline(
            content.checks,
            {name: check.mode for name, check in settings.checks.items()},
        ),
        keyring=Keyring([_record(key) for key in settings.auth.keys]),
        accounts=Accounts(
            [_account(user) for user in settings.auth.login.users] if settings.auth.login else []
        ),
        redactor=content.redactor,
        pool=_pool(settings),
        authority=upstream.url.authority.encode("ascii"),
        upstream_key=upstream.key,
        hosts=tuple(_hosts(listener) for listener in settings.listen),
        contexts=tuple(
            server_context(listener.tls.cert_file, listener.tls.key_file) if listener.tls else None
            for listener in settings.listen
        ),
    )


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


def _account(user: LoginUser) -> Account:
    return Account(user.name, user.role, PasswordHash.parse(user.password_hash.reveal().decode("ascii")))


def _pool(settings: Settings) -> Pool:
    upstream = settings.upstream
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


def _hosts(listener: Listener) -> HostPolicy:
    port = listener.address.port if isinstance(listener.address, Tcp) else None
    names: set[tuple[str, int | None]] = set()
    for name in listener.public_names:
        # A name without a port stands for the default ports and for the listener's own.
        names |= {(name.host, name.port)} if name.port else {(name.host, None), (name.host, port)}
    if isinstance(listener.address, Tcp) and listener.public and names:
        names |= {(bind, port) for bind in listener.binds}
    return HostPolicy(
        names=frozenset(names),
        loopback=not listener.public,
        port=port,
    )
