"""Starts the gate: everything is checked before anything is opened."""

import gc
import os
from collections.abc import Mapping
from pathlib import Path

from herma.config.load import load
from herma.config.settings import Settings
from herma.console import parser_is_strict
from herma.egress.trust import require_proxy
from herma.errors import ConfigError, Problem, Source
from herma.runtime.audit import AuditLog
from herma.runtime.fleet import Fleet
from herma.runtime.generation import new_fingerprint_key, read_content
from herma.runtime.log import Log
from herma.runtime.sockets import StartError, bind_all
from herma.runtime.solo import serve_solo
from herma.runtime.start import Start
from herma.runtime.state import try_state
from herma.wire import run

__all__ = ["serve"]


def serve(path: Path, environ: Mapping[str, str], log: Log, *, insecure: bool = False) -> int:
    """Read the configuration and serve until stopped; return the exit code.

    Raises:
        ConfigError: the configuration is not valid, or the audit or the state cannot be written; nothing was opened.
        ContentError: a rule, profile or indicator file is not valid; nothing was opened.
        StartError: a strict parser is missing, or an address cannot be listened on; nothing is left open.
    """
    if not parser_is_strict():
        raise StartError(
            "aiohttp runs without its parser in C; unset AIOHTTP_NO_EXTENSIONS or reinstall aiohttp"
        )
    settings = load(path, environ)
    require_proxy(settings)
    _warn(settings, log, insecure=insecure or bool(environ.get("HERMA_INSECURE")))
    fingerprint_key = new_fingerprint_key()
    content = read_content(settings, fingerprint_key)
    for note in content.notes:
        log("content.note", note)
    _try_audit(settings)
    try_state(settings)
    start = Start(settings, content, fingerprint_key, environ, bind_all(settings), log)
    os.umask(0o077)
    # The rules live as long as the process: the collector need not look through them again and again, and pages that it
    # does not touch stay shared between workers.
    gc.freeze()
    if settings.workers > 1:
        return Fleet(start).run()
    run(serve_solo(start))
    return 0


def _try_audit(settings: Settings) -> None:
    # A gate whose decisions cannot be recorded does not start; workers would only find out one by one.
    try:
        with AuditLog(settings.audit.file):
            pass
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else "not a file"
        message = f"audit.file cannot be written ({reason}); name a file in a directory that exists, or `-`"
        raise ConfigError([Problem(Source(settings.path), "audit.file", message)]) from None


def _warn(settings: Settings, log: Log, *, insecure: bool) -> None:
    if insecure:
        log(
            "insecure.ignored",
            "WARNING: --insecure and HERMA_INSECURE change nothing; every protection stays on",
        )
    for warning in settings.warnings:
        log(warning.code, f"warning: {warning}")
