"""Reads `herma.yaml`, whole, before anything else happens; tells every problem at once.

The environment gives secrets and nothing else: no variable overrides the file.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from herma.config.auth import Auth, AuthKey, Failures
from herma.config.certificates import ClientCertificate, ClientCertificates
from herma.config.cron_fire import CronFire, CronFires, FireIssuer, JobKey
from herma.config.doors import Doors
from herma.config.edges import Edges
from herma.config.egress import Egress, Egresses
from herma.config.exemption import Exemption, Exemptions
from herma.config.files import Files
from herma.config.fire_audiences import judge_audiences
from herma.config.guarded_file import FileProblem, read_guarded
from herma.config.keys import Keys
from herma.config.listen import Resolver, resolve
from herma.config.listeners import Listeners
from herma.config.login import Login, Logins, LoginUser
from herma.config.openid import OpenId, OpenIds
from herma.config.reader import MISSING, Finish, Reader
from herma.config.secrets import SecretSource
from herma.config.settings import (
    Admin,
    Audit,
    Content,
    Limits,
    Listener,
    Settings,
    Tls,
)
from herma.config.state import Redis, State, States
from herma.config.surface import Surface
from herma.config.surface import finish as finish_surface
from herma.config.tokens import TokenIssuer, TokenIssuers
from herma.config.upstream import Upstream, Upstreams, UpstreamTls, place_of
from herma.errors import ConfigError, Problem, Source
from herma.yamlfile import MAX_BYTES, Loaded
from herma.yamlfile import load as load_yaml

__all__ = ["INSECURE_VARIABLE", "insecure_warning", "load", "parse"]

# Other programs have a switch like this, so people try it.
INSECURE_VARIABLE = "HERMA_INSECURE"


def load(path: str | Path, environ: Mapping[str, str], *, resolver: Resolver = resolve) -> Settings:
    """Read and judge a configuration file.

    Raises:
        ConfigError: It cannot be used; carries every problem.
    """
    file = str(path)
    try:
        found = read_guarded(file, max_bytes=MAX_BYTES, secret=False)
    except FileProblem as problem:
        fix = "; `herma init` writes one" if problem.code == "file" else ""
        raise ConfigError([Problem(Source(file), f"config.{problem.code}", f"{problem}{fix}")]) from None
    return parse(found.content, file, environ, resolver=resolver, exposed=found.readable_by_others)


def parse(
    text: bytes,
    file: str,
    environ: Mapping[str, str],
    *,
    check_files: bool = True,
    resolver: Resolver = resolve,
    now: datetime | None = None,
    exposed: bool = False,
    check_ids: frozenset[str] | None = None,
) -> Settings:
    """Judge the text of a configuration file.

    Args:
        text: The file's content.
        file: Its name; relative paths in it start at its directory.
        environ: Where `${NAME}` is looked up.
        check_files: Look whether certificates and directories are there. Files with secrets are read in any case.
        resolver: Resolves the names of listeners and of the upstream.
        now: When it is, for keys and exemptions that expire.
        exposed: Whether other users may read the file, so that it must not hold a secret.
        check_ids: The names that `checks` may have; the checks of the policy if None.

    Raises:
        ConfigError: It cannot be used; carries every problem.
    """
    loaded = load_yaml(text, file)
    directory = Path(file).parent
    files = Files(directory, check=check_files)
    listeners, upstreams, edges = Listeners(resolver, files), Upstreams(resolver, files), Edges(files)
    now = now or datetime.now(UTC)
    keys, logins, fires = Keys(now), Logins(), CronFires(files, now)
    states = States(files, resolver)
    finish: dict[type, Finish] = {
        Listener: listeners.finish_listener,
        Tls: listeners.finish_tls,
        Admin: listeners.finish_admin,
        AuthKey: keys.finish_key,
        Failures: keys.finish_failures,
        LoginUser: logins.finish_user,
        Login: logins.finish_login,
        OpenId: OpenIds(files).finish,
        TokenIssuer: TokenIssuers(files).finish,
        ClientCertificate: ClientCertificates().finish,
        Auth: keys.finish_auth,
        Upstream: upstreams.finish_upstream,
        UpstreamTls: upstreams.finish_tls,
        FireIssuer: fires.finish_issuer,
        JobKey: fires.finish_job_key,
        CronFire: fires.finish,
        Redis: states.finish_redis,
        State: states.finish_state,
        Content: edges.finish_content,
        Audit: edges.finish_audit,
        Limits: edges.finish_limits,
        Exemption: Exemptions(now.date()).finish,
        Surface: finish_surface,
        Egress: Egresses(listeners.private, files).finish,
    }
    reader = Reader(loaded, SecretSource(environ, directory, exposed=exposed), finish)
    settings = reader.read(Settings)
    built = None if settings is MISSING else settings
    callers = bool(_raw_callers(loaded))
    listeners.finish_all(reader, built, keys_given=callers)
    if built is not None:
        edges.finish_root(reader, built, check_ids)
        Doors(reader, built).judge()
        _upstream_keys(reader, keys, built)
        keys.judge_job_keys(reader, built)
        judge_audiences(reader, built)
    if not callers:
        message = "no key: everybody who can connect may call; add one to auth.keys (`herma key new`)"
        reader.warn(reader.at(("auth",)), "auth.none", message)
    if insecure := insecure_warning(environ):
        reader.warnings.append(insecure)
    if reader.problems:
        raise ConfigError(sorted(reader.problems, key=_by_place))
    warnings = tuple(sorted(reader.warnings, key=_by_place))
    result: Settings = replace(
        settings, path=file, digest=hashlib.sha256(text).hexdigest(), warnings=warnings
    )
    return result


def insecure_warning(environ: Mapping[str, str]) -> Problem | None:
    """Return the warning for the variable that changes nothing, if it is set."""
    if not environ.get(INSECURE_VARIABLE):
        return None
    message = "is set and changes nothing: a public listener always needs a key; unset it"
    return Problem(Source("environment"), "config.insecure", f"{INSECURE_VARIABLE} {message}")


def _raw_callers(loaded: Loaded) -> Any:
    """Return the keys or users as written, right or wrong: a wrong key is told as such, not as a missing one."""
    auth = loaded.value.get("auth") if isinstance(loaded.value, dict) else None
    if not isinstance(auth, dict):
        return None
    login = auth.get("login")
    others = auth.get("tokens") or auth.get("certificates") or auth.get("proxy_headers")
    people = (login.get("users") or login.get("oidc")) if isinstance(login, dict) else None
    return auth.get("keys") or people or others


def _upstream_keys(reader: Reader, keys: Keys, settings: Settings) -> None:
    for name, upstream in settings.all_upstreams().items():
        if upstream.key is not None:
            path = next(path for key in ("key", "key_file") if reader.has(path := (*place_of(name), key)))
            keys.judge_upstream(reader, upstream.key, reader.at(path))


def _by_place(problem: Problem) -> tuple[str, int, int]:
    return problem.source.file, problem.source.line, problem.source.column
