"""A directory of indicators as bytes: listed, read within bounds, compared with its manifest, its signature checked.

Rule 1: what is judged is what was read; nothing is read twice.
Rule 2: with keys, nothing without a valid signature is used, however it came to be missing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.resources.abc import Traversable
from itertools import islice
from pathlib import Path
from typing import Final

from herma.config.guarded_file import FileProblem, read_guarded
from herma.content.ioc.foreign import MAX_FOREIGN_BYTES
from herma.content.ioc.manifest import (
    MANIFEST,
    MAX_FILES,
    MAX_MANIFEST_BYTES,
    Manifest,
    digest_of,
    is_content_name,
    read_manifest,
)
from herma.content.ioc.moment import written
from herma.content.ioc.signature import (
    MAX_KEY_BYTES,
    MAX_SIGNATURE_BYTES,
    SIGNATURE,
    PublicKey,
    is_signed_by,
    read_public_key,
)
from herma.errors import ContentError, Source

__all__ = ["Trust", "content_limit", "content_names", "load_public_key", "read_directory", "read_file"]

# The largest shipped file has 35 KiB; operators may mount bigger lists, not dumps.
MAX_FILE_BYTES: Final = 1024 * 1024
# More entries than this is a directory put there by mistake.
MAX_ENTRIES: Final = 1024
_LIKE_INDICATORS: Final = (".yaml", ".yml", ".json", ".jsonl", ".ndjson", ".stix", ".stix2", ".misp", ".csv")


@dataclass(frozen=True, slots=True)
class Trust:
    """What a directory must show.

    Without `keys` a signature is not asked for; `floors` are the serials already seen. What is not `guarded` came with the
    program, and belongs to whoever installed it.
    """

    now: datetime
    keys: Sequence[PublicKey] = ()
    floors: Mapping[str, int] | None = None
    minimum: int = 0
    guarded: bool = True


def content_names(directory: Traversable) -> list[str]:
    """List the files of a directory that can hold indicators.

    Raises:
        ContentError: it cannot be listed, holds too much, or something that looks like indicators and would not be read.
    """
    try:
        found = list(islice(directory.iterdir(), MAX_ENTRIES + 1))
        entries = [entry.name for entry in found]
        # Hidden ones are what a cluster turns to change a mounted directory.
        unread = [entry.name for entry in found if not entry.name.startswith(".") and _is_unread(entry)]
    except OSError as error:
        raise ContentError(f"cannot be listed: {error.strerror}", Source(str(directory))) from None
    names = sorted(name for name in entries if name.endswith((".yaml", ".json")) and name != MANIFEST)
    if len(entries) > MAX_ENTRIES or len(names) > MAX_FILES:
        raise ContentError(f"more than {MAX_FILES} files of indicators", Source(str(directory)))
    if unread:
        message = (
            f"found {len(unread)} that would not be read: files end in .yaml or .json, in lower case, and lie in no "
            "directory below"
        )
        raise ContentError(message, Source(str(directory / unread[0])))
    for name in names:
        if not is_content_name(name):
            message = "found a file whose name has other characters than letters, digits, dots, dashes and underscores"
            raise ContentError(message, Source(str(directory)))
    return names


def _is_unread(entry: Traversable) -> bool:
    """Tell whether somebody may believe that an entry is read: a directory, or a file of such a kind."""
    name = entry.name.lower()
    return entry.is_dir() or (name.endswith(_LIKE_INDICATORS) and not entry.name.endswith((".yaml", ".json")))


def read_directory(
    directory: Traversable, trust: Trust, *, pinned: bool
) -> tuple[list[tuple[str, bytes]], Manifest | None]:
    """Read all files of indicators; `pinned` asks for a manifest, keys ask for a signed one.

    Raises:
        ContentError: something is missing, differs, is out of date, or is not signed.
    """
    names = content_names(directory)
    manifest = None
    if pinned or trust.keys or (directory / MANIFEST).is_file():
        manifest = _manifest(directory, trust)
    if manifest is not None and manifest.files.keys() != set(names):
        message = "the manifest and the files beside it differ; run `herma ioc pin`"
        raise ContentError(message, Source(str(directory / MANIFEST)))
    files = []
    for name in names:
        content = read_file(directory / name, content_limit(name), guarded=trust.guarded)
        if manifest is not None and digest_of(content) != manifest.files[name]:
            raise ContentError("differs from its digest in the manifest", Source(str(directory / name)))
        files.append((name, content))
    return files, manifest


def content_limit(name: str) -> int:
    """Give the most bytes that a file of this name may have."""
    return MAX_FILE_BYTES if name.endswith(".yaml") else MAX_FOREIGN_BYTES


def _manifest(directory: Traversable, trust: Trust) -> Manifest:
    file = str(directory / MANIFEST)
    raw = read_file(directory / MANIFEST, MAX_MANIFEST_BYTES, guarded=trust.guarded)
    manifest = read_manifest(raw, file)
    if trust.keys:
        _check_signature(directory, manifest, trust.keys)
    if manifest.expires is not None and manifest.expires < trust.now:
        raise ContentError(
            f"the manifest ended on {written(manifest.expires)}; get a newer one", Source(file)
        )
    floor = max(trust.minimum if trust.keys else 0, (trust.floors or {}).get(str(directory), 0))
    if manifest.serial < floor:
        message = (
            f"found serial {manifest.serial}, but {floor} was seen already; an older state is not taken back"
        )
        raise ContentError(message, Source(file))
    return manifest


def _check_signature(directory: Traversable, manifest: Manifest, keys: Sequence[PublicKey]) -> None:
    file = str(directory / SIGNATURE)
    if not manifest.serial:
        raise ContentError(
            "a signed manifest has schema 2; run `herma ioc pin`", Source(str(directory / MANIFEST))
        )
    try:
        signer = is_signed_by(manifest.raw, read_file(directory / SIGNATURE, MAX_SIGNATURE_BYTES), keys)
    except ValueError as error:
        raise ContentError(str(error), Source(file)) from None
    if signer is None:
        raise ContentError("the manifest is not signed by one of the configured keys", Source(file))


def load_public_key(path: str) -> PublicKey:
    """Read a public key from a file that nobody else could have written.

    Raises:
        ContentError: it cannot be read, or is no Ed25519 public key.
    """
    try:
        return read_public_key(read_file(Path(path), MAX_KEY_BYTES))
    except ValueError as error:
        raise ContentError(str(error), Source(path)) from None


def read_file(entry: Traversable, limit: int, *, guarded: bool = True) -> bytes:
    """Read one file; a guarded one only if nobody else could have written it.

    Raises:
        ContentError: it cannot be read, is too large, or is under somebody else's control.
    """
    if guarded and isinstance(entry, Path):
        try:
            return read_guarded(str(entry), max_bytes=limit, secret=False).content
        except FileProblem as problem:
            raise ContentError(str(problem), Source(str(entry))) from None
    try:
        content = entry.read_bytes()
    except OSError as error:
        raise ContentError(f"cannot be read: {error.strerror}", Source(str(entry))) from None
    if len(content) > limit:
        raise ContentError(f"larger than {limit} bytes", Source(str(entry)))
    return content
