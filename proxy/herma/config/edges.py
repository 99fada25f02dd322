"""Judges what stands around the gate: trusted proxies, content, limits that contradict each other, checks."""

import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from herma.config.files import Files
from herma.config.networks import everybody
from herma.config.proxy_headers import judge_peers
from herma.config.reader import Reader
from herma.config.settings import Audit, Content, Limits, Settings
from herma.config.values import FilePath, Network
from herma.policy.decision import Mode
from herma.policy.pipeline import ALWAYS_ENFORCED
from herma.yamlfile import Path

__all__ = ["Edges"]

# The narrowest networks that one operator may hold as a whole.
_WIDEST = {4: 8, 6: 32}
_MAPPED = ipaddress.IPv6Network("::ffff:0:0/96")


class Edges:
    """Applies the rules that need files."""

    def __init__(self, files: Files) -> None:
        self._files = files

    def finish_content(self, reader: Reader, made: Content, path: Path, _raw: Mapping[str, Any]) -> Content:
        """Find the directories."""
        found: dict[str, FilePath] = {}
        for name, directory in (("rules_dir", made.rules_dir), ("ioc_dir", made.ioc_dir)):
            if directory is not None:
                found[name] = self._files.resolve(directory)
                self._files.directory(reader, (*path, name), found[name])
        dirs = tuple(map(self._files.resolve, made.rules_dirs))
        for index, directory in enumerate(dirs):
            self._files.directory(reader, (*path, "rules_dirs", index), directory)
        iocs = tuple(map(self._files.resolve, made.ioc_dirs))
        for index, place in enumerate(iocs):
            self._files.present(reader, (*path, "ioc_dirs", index), place)
        keys = tuple(map(self._files.resolve, made.ioc_public_keys))
        for index, key in enumerate(keys):
            self._files.guarded(reader, (*path, "ioc_public_keys", index), key)
        return replace(
            made,
            rules_dir=found.get("rules_dir"),
            rules_dirs=dirs,
            ioc_dir=found.get("ioc_dir"),
            ioc_dirs=iocs,
            ioc_public_keys=keys,
        )

    def finish_audit(self, _reader: Reader, made: Audit, _path: Path, _raw: Mapping[str, Any]) -> Audit:
        """Let the audit's path start where the configuration is."""
        return made if made.file == "-" else replace(made, file=self._files.resolve(made.file))

    def finish_limits(self, reader: Reader, made: Limits, path: Path, raw: Mapping[str, Any]) -> Limits:
        """Refuse limits that make each other void."""
        pairs = (
            ("max_body_bytes", "max_buffered_bytes"),
            ("max_inflated_bytes", "max_buffered_bytes"),
            ("max_response_bytes", "max_buffered_bytes"),
        )
        for small, large in pairs:
            if getattr(made, small) > getattr(made, large):
                at = reader.at((*path, small if small in raw else large))
                reader.problem(at, "limits.contradiction", f"found {small} larger than {large}; change one")
        return made

    def finish_root(self, reader: Reader, made: Settings, check_ids: frozenset[str] | None) -> None:
        """Judge the trusted proxies and the names of the checks."""
        self._trusted(reader, made.trusted_proxies)
        if made.auth.proxy_headers is not None:
            path = ("auth", "proxy_headers")
            judge_peers(reader, made.auth.proxy_headers, path, made.trusted_proxies)
        if not made.checks:
            return
        if check_ids is None:
            # Late: most commands read no checks, and the checks bring their parsers along.
            from herma.policy.checks import CHECKS

            check_ids = frozenset(check.id for check in CHECKS)
        for name in made.checks:
            if name not in check_ids:
                known = ", ".join(sorted(check_ids)) or "none"
                message = f"no check has this name; known: {known}"
                reader.problem(reader.key_at(("checks", name)), "checks.unknown", message)
            elif name in ALWAYS_ENFORCED and made.checks[name].mode is not Mode.ENFORCE:
                message = f"found mode {made.checks[name].mode.value}; this check is always enforced, take the key out"
                reader.problem(reader.at(("checks", name)), "checks.always_enforced", message)

    @staticmethod
    def _trusted(reader: Reader, networks: Sequence[Network]) -> None:
        at = reader.at(("trusted_proxies",))
        if everybody(networks):
            message = "found a network of all addresses, so that anybody could forge theirs; name the proxy's own address"
            reader.problem(at, "trusted_proxies.all", message)
        elif any(network.version == 6 and _MAPPED.overlaps(network) for network in networks):
            reader.problem(
                at, "trusted_proxies.mapped", "found IPv4 addresses written as IPv6; write them as IPv4"
            )
        elif wide := [network for network in networks if network.prefixlen < _WIDEST[network.version]]:
            message = f"found {wide[0]}, which is wider than one operator holds; name the proxy's own network"
            reader.warn(at, "trusted_proxies.wide", message)
