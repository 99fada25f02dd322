"""Proves the platforms of the egress gate: each example is masked as the gate would mask it, and all else of it stays.

The files that ship are proved with the operator's own: a host is one platform's, and an id is taken once.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from herma.content.egress import (
    LISTS,
    MODELS,
    SERVICES,
    PlatformExample,
    PlatformFile,
    load_models,
    load_services,
    read_platforms,
)
from herma.content.library import EGRESS, Library
from herma.content.rules import read_rule_file, rule_files
from herma.errors import ContentError, Problem, Source
from herma.policy.egress.masking import Masker
from herma.policy.egress.platform import Platforms
from herma.policy.message.form import FormError, form_decoded
from herma.policy.secret import Secret
from herma.yamlfile import load

__all__ = ["egress_place", "prove_platforms", "unproved_platforms"]

_INVALID, _UNPROVED = "platform.invalid", "platform.unproved"
# What may stand where a secret was; longer than any mask is.
_MASK: Final = rb"\S{1,80}"
_FORM: Final = "application/x-www-form-urlencoded"


def egress_place(directory: Path) -> Path | None:
    """Give the directory of platforms that a directory of rules has, or is; None without."""
    if directory.resolve().name == EGRESS:
        return directory
    below = directory / EGRESS
    return below if below.is_dir() else None


def prove_platforms(place: Path, library: Library) -> tuple[list[PlatformFile], list[Problem]]:
    """Read and prove the platforms, the hosts of models and the services in a directory; give the platforms and what is wrong."""
    try:
        names = {entry.name for entry in rule_files(place)}
        own = read_platforms(place) if names - LISTS else ()
        if f"{MODELS}.yaml" in names:
            load_models(place)
        if f"{SERVICES}.yaml" in names:
            load_services(place)
        _beside(own, library)
    except ContentError as error:
        return [], [Problem(error.source, _INVALID, error.reason)]
    return list(own), list(unproved_platforms(own, library))


def _beside(own: Sequence[PlatformFile], library: Library) -> None:
    """Refuse an id or a host that another file has. The directory may be one of the library's own.

    Raises:
        ContentError: one is taken.
    """
    files = {Path(file.source.file).resolve() for file in own}
    others = [file for file in library.platform_files() if Path(file.source.file).resolve() not in files]
    ids = {file.platform.id: file for file in others}
    hosts = {host: file.platform.id for file in others for host in file.platform.hosts}
    for file in own:
        if (other := ids.get(file.platform.id)) is not None:
            raise ContentError(f"the id is taken by {other.source.file}; choose another", file.source)
        for host in file.platform.hosts:
            if (owner := hosts.get(host)) is not None:
                raise ContentError(f"the host {host.name} is one of {owner!r} already", file.source)


def unproved_platforms(files: Sequence[PlatformFile], library: Library) -> Iterator[Problem]:
    """Give the examples that are masked otherwise than their files say.

    Raises:
        ContentError: a rule of the redaction cannot be used.
    """
    if not files:
        return
    masker = Masker(library.redactor(Secret(b"not used: nothing is shown")))
    for file in files:
        for index, example in enumerate(file.examples):
            message = _wrong(file, example, masker)
            if message:
                yield Problem(_example_at(file, index), _UNPROVED, message)


def _wrong(file: PlatformFile, example: PlatformExample, masker: Masker) -> str:
    """Say what is wrong with an example; nothing when it is as it says."""
    query, body = example.path.partition("?")[2].encode(), example.body.encode()
    try:
        sent_query, sent_body = _sent(file, example, masker)
    except FormError:
        return "this example can be read in more than one way, and would be refused"
    if not example.masked:
        same = (sent_query, sent_body) == (query, body)
        return "" if same else "this example is masked; name in `in_use` what the platform gave out"
    if example.type.partition(";")[0].strip().lower() == _FORM and not example.socket:
        body, sent_body = form_decoded(body), form_decoded(sent_body)
    secret = example.secret.encode()
    for was, now in ((query, sent_query), (body, sent_body)):
        if secret in now:
            return "the secret of this example is sent"
        rest = map(re.escape, was.split(secret))
        if not re.fullmatch(_MASK.join(rest), now, re.DOTALL):
            return "more of this example is masked than its secret"
    return ""


def _sent(file: PlatformFile, example: PlatformExample, masker: Masker) -> tuple[bytes, bytes]:
    """Give the query and the body as the platform gets them."""
    path, _, query = example.path.partition("?")
    in_use = Platforms([file.platform]).in_use(file.platform, path)
    if example.socket:
        return query.encode(), masker.text(example.body.encode(), in_use)[0]
    body, _ = masker.body(example.body.encode(), example.type.encode(), in_use)
    return masker.pairs(query.encode(), in_use)[0], body


def _example_at(file: PlatformFile, index: int) -> Source:
    entry = Path(file.source.file)
    return load(read_rule_file(entry), str(entry)).at(("examples", index))
