"""A changed configuration is taken whole, or not at all."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from herma.content.ioc.moment import written
from herma.content.ioc.publication import pin
from herma.content.ioc.signature import SigningKey, new_signing_key, sign
from herma.runtime.generation import Generations
from herma.runtime.reload import Reloader
from support.gate import Gate, free_port
from support.inside import Lines, start_of, until
from support.ioc_files import directory, item
from support.rule_file import rule_text
from support.wire_tls import make_pair


class Reloading:
    """A reloader, what it applied, and what it said."""

    def __init__(self, gate: Gate) -> None:
        self.gate = gate
        self.log = Lines()
        self.start = start_of(gate, self.log, {"LATER": "fakeQw7Zs9PbNc2Qx5RtYv"})
        self.applied: list[Generations] = []
        # What the clock is ahead of the real one.
        self.ahead = timedelta()
        self.reloader = Reloader(self.start, self._apply, lambda: datetime.now(UTC) + self.ahead)

    async def _apply(self, generations: Generations) -> None:
        self.applied.append(generations)

    async def change(self, edit: Callable[[dict[str, Any]], object]) -> None:
        edit(self.gate.config)
        self.gate.write_config(self.gate.config)
        await self.reloader.reload()


@pytest.fixture
def reloading(gate: Gate) -> Iterator[Reloading]:
    reloading = Reloading(gate)
    with contextlib.ExitStack() as stack:
        for bound in reloading.start.sockets:
            stack.enter_context(bound.sock)
        yield reloading


@contextlib.asynccontextmanager
async def watching(reloading: Reloading) -> AsyncIterator[None]:
    """Let the reloader look as often as it can."""
    task = asyncio.get_running_loop().create_task(reloading.reloader.watch(0))
    yield
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


async def test_a_valid_file_applies(reloading: Reloading) -> None:
    """The new settings are in force, a generation was made of them, and the log says so."""
    before = reloading.reloader.settings
    await reloading.change(lambda config: config["limits"].update(max_concurrent_runs=7))
    assert reloading.reloader.settings.limits.max_concurrent_runs == 7
    assert reloading.reloader.settings.digest != before.digest
    assert [made.settings for made in reloading.applied] == [reloading.reloader.settings]
    assert reloading.reloader.failure == ""
    assert reloading.log.events() == ["config.reloaded"]


async def test_a_secret_that_changed_applies_without_a_change_of_the_file(reloading: Reloading) -> None:
    """After a key file was replaced, asking for a reload is enough."""
    reloading.gate.secret_file("upstream", "fakeW2d6Kp4Vn1Gz7MbJ8hTr")
    await reloading.reloader.reload()
    (generations,) = reloading.applied
    generation = generations.by_name["default"]
    assert generation.upstream_key is not None
    assert generation.upstream_key.reveal() == b"fakeW2d6Kp4Vn1Gz7MbJ8hTr"


def _bad_rules(config: dict[str, Any]) -> None:
    config["content"] = {"rules_dir": str(Path(config["audit"]["file"]).parent)}


def _bad_authorities(config: dict[str, Any]) -> None:
    directory = Path(config["audit"]["file"]).parent
    (directory / "ca.pem").write_text("no certificate")
    config["upstream"] |= {"url": "https://127.0.0.1:8642", "tls": {"ca_file": str(directory / "ca.pem")}}


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (lambda config: config.update(nonsense=True), "nonsense"),
        (lambda config: config["limits"].update(max_json_depth=1), "expected 4 to 200"),
        (lambda config: config["auth"]["keys"][0].update(key_file="none.key"), "No such file"),
        (lambda config: config["upstream"].update(profile="nobody-knows"), "nobody-knows"),
        (_bad_rules, "profiles"),
        (_bad_authorities, "CERTIFICATE"),
    ],
    ids=["unknown key", "limit", "missing key file", "profile", "rules", "authorities"],
)
async def test_an_invalid_file_changes_nothing(
    reloading: Reloading, edit: Callable[[dict[str, Any]], object], says: str
) -> None:
    """The old configuration stays, the log and the status tell why, and the next valid one is taken."""
    good = reloading.gate.config_path.read_text()
    before = reloading.reloader.settings
    await reloading.change(edit)
    assert reloading.reloader.settings is before
    assert reloading.applied == []
    assert says.lower() in reloading.reloader.failure.lower()
    assert says.lower() in reloading.log.text().lower()
    assert set(reloading.log.events()) == {"config.refused"}
    reloading.gate.write_config(good)
    await reloading.reloader.reload()
    assert reloading.reloader.failure == ""
    assert len(reloading.applied) == 1


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"- a\n- b\n", b"a: &x 1\nb: *x\n", b"{" * 5000])
async def test_a_file_that_is_no_configuration_changes_nothing(reloading: Reloading, content: bytes) -> None:
    """However broken the file is, the gate goes on."""
    reloading.gate.config_path.write_bytes(content)
    await reloading.reloader.reload()
    assert reloading.applied == []
    assert reloading.reloader.failure != ""


async def test_a_file_that_is_gone_changes_nothing(reloading: Reloading) -> None:
    """Asked to read a file that is not there, the gate goes on and says so."""
    reloading.gate.config_path.unlink()
    await reloading.reloader.reload()
    assert reloading.applied == []
    assert "herma.yaml" in reloading.reloader.failure


async def test_every_problem_is_a_line_of_its_own(reloading: Reloading) -> None:
    """The operator sees all mistakes at once, each with its place."""

    def edit(config: dict[str, Any]) -> None:
        config["nonsense"] = 1
        config["limits"]["max_json_depth"] = 1

    await reloading.change(edit)
    lines = [message for _, message in reloading.log.lines]
    assert len([line for line in lines if "herma.yaml:" in line]) == 2
    assert all("\n" not in line for line in lines)


@pytest.mark.parametrize(
    ("name", "edit"),
    [
        ("listen", lambda config: config["listen"][0].update(address=f"127.0.0.1:{free_port()}")),
        ("listen", lambda config: config["listen"].append({"address": f"127.0.0.1:{free_port()}"})),
        ("listen", lambda config: config["listen"].append({"address": "unix:/run/herma/gate.sock"})),
        ("admin", lambda config: config["admin"].update(address=f"127.0.0.1:{free_port()}")),
        ("workers", lambda config: config.update(workers=2)),
        ("audit", lambda config: config["audit"].update(file="other.jsonl")),
        ("egress", lambda config: config.update(egress={"mode": "observe"})),
        (
            "the names of upstreams",
            lambda config: config.update(
                upstreams={"more": {"url": "http://127.0.0.1:9", "public_names": ["x.example.com"]}}
            ),
        ),
    ],
    ids=["address", "one more", "unix socket", "admin", "workers", "audit", "egress", "upstreams"],
)
async def test_what_was_opened_at_the_start_cannot_change(
    reloading: Reloading, name: str, edit: Callable[[dict[str, Any]], object]
) -> None:
    """A change that needs a restart is refused as a whole, by name, and not half applied."""
    reloading.gate.config["limits"]["max_concurrent_runs"] = 7
    await reloading.change(edit)
    assert reloading.applied == []
    assert reloading.reloader.settings.limits.max_concurrent_runs == 100
    assert f"{name} cannot change" in reloading.reloader.failure
    assert "restart" in reloading.log.text()


async def test_a_bad_certificate_changes_nothing(gate: Gate) -> None:
    """A key that does not fit, half a renewal: refused like any other mistake, before anything is applied."""
    pair = make_pair(gate.directory)
    gate.config["listen"][0]["tls"] = {"cert_file": pair.cert, "key_file": pair.key}
    gate.write_config(gate.config)
    reloading = Reloading(gate)
    for bound in reloading.start.sockets:
        bound.sock.close()
    key = Path(pair.key).read_text()
    make_pair(gate.directory)
    renewed = Path(pair.key).read_text()
    Path(pair.key).write_text(key)
    await reloading.change(lambda config: config["limits"].update(max_concurrent_runs=7))
    assert reloading.applied == []
    assert "certificate" in reloading.reloader.failure
    assert "BEGIN" not in reloading.reloader.failure
    Path(pair.key).write_text(renewed)
    await reloading.reloader.reload()
    (generations,) = reloading.applied
    assert [context is not None for context in generations.contexts] == [True]


async def test_names_of_a_listener_may_change(reloading: Reloading) -> None:
    """Host names are judged for each request, so they need no new socket."""
    await reloading.change(lambda config: config["listen"][0].update(public_names=["agent.example.com"]))
    (generations,) = reloading.applied
    (names,) = generations.by_name["default"].hosts
    assert names is not None
    assert names.allows("agent.example.com", None)


async def test_the_environment_is_that_of_the_start(reloading: Reloading) -> None:
    """A reload finds the variables that the start had."""
    await reloading.change(
        lambda config: config["auth"]["keys"].append({"name": "later", "key": "${LATER}", "scopes": ["read"]})
    )
    assert reloading.reloader.settings.auth.keys[-1].name == "later"


async def test_two_reloads_at_once_come_one_after_the_other(reloading: Reloading) -> None:
    """A signal and a change that is noticed at the same time do not mix."""
    await asyncio.gather(reloading.reloader.reload(), reloading.reloader.reload())
    assert len(reloading.applied) == 2
    assert reloading.applied[-1].settings is reloading.reloader.settings


async def test_no_secret_is_told(reloading: Reloading) -> None:
    """A refused file's keys do not show in what is said about it."""
    await reloading.change(
        lambda config: config["auth"]["keys"].append(
            {"name": "new", "key": "fakeButShort", "scopes": ["read"]}
        )
    )
    assert reloading.applied == []
    assert "fakeButShort" not in reloading.reloader.failure + reloading.log.text()


def _own(reloading: Reloading, value: str, serial: int, key: SigningKey | None) -> Path:
    """Write a directory of one indicator, signed if there is a key."""
    place = directory(
        reloading.gate.directory / "own",
        item(id="own-01", value=value, match="domain", type="domain"),
        pin=False,
    )
    (place / "manifest.json").unlink(missing_ok=True)
    pin(place, datetime.now(UTC), serial=serial)
    if key is not None:
        (place / "manifest.sig").write_bytes(sign((place / "manifest.json").read_bytes(), key))
    return place


async def test_an_older_state_of_signed_indicators_is_not_taken_back(reloading: Reloading) -> None:
    """What was accepted once is remembered over reloads; the newer state stays in force, and the reason is told."""
    key = new_signing_key()
    public = reloading.gate.directory / "iocs.pub"
    public.write_bytes(key.public.pem())
    place = _own(reloading, "evil.example", 5, key)
    await reloading.change(
        lambda config: config.update(content={"ioc_dirs": [str(place)], "ioc_public_keys": [str(public)]})
    )
    assert reloading.reloader.failure == ""
    for serial, signer, says in (
        (4, key, "older state"),
        (6, None, "cannot be read"),
        (6, new_signing_key(), "not signed"),
    ):
        _own(reloading, "other.example", serial, signer)
        await reloading.reloader.reload()
        assert says in reloading.reloader.failure
        if signer is None or says == "not signed":
            (place / "manifest.sig").unlink(missing_ok=True)
    assert len(reloading.applied) == 1
    _own(reloading, "newer.example", 6, key)
    await reloading.reloader.reload()
    assert reloading.reloader.failure == ""
    assert len(reloading.applied) == 2


async def test_what_is_left_out_is_told(reloading: Reloading) -> None:
    """An indicator that is suppressed or past its time is named in the log."""
    await reloading.change(
        lambda config: config.update(
            content={"ioc_suppress": [{"id": "axios-npm-06", "reason": "our own tool"}]}
        )
    )
    assert "axios-npm-06 is suppressed: our own tool" in reloading.log.text()


async def test_rules_whose_options_mean_nothing_change_nothing(reloading: Reloading) -> None:
    """The old ones stay in force, and what is wrong is told."""
    place = reloading.gate.directory / "own/cron"
    place.mkdir(parents=True)
    options = {"combine": [{"all": ["no-such-concept"]}]}
    (place / "acme-own.yaml").write_bytes(rule_text(options=options))
    await reloading.change(lambda config: config.update(content={"rules_dirs": [str(place.parent)]}))
    assert reloading.applied == []
    assert "no-such-concept" in reloading.reloader.failure


async def test_a_change_of_content_is_noticed_like_one_of_the_file(reloading: Reloading) -> None:
    """Also one that came between the start and the first look."""
    place = _own(reloading, "evil.example", 1, None)
    await reloading.change(lambda config: config.update(content={"ioc_dirs": [str(place)]}))
    assert len(reloading.applied) == 1
    task = asyncio.get_running_loop().create_task(reloading.reloader.watch(0))
    # The file differs from the one that the start has read: taken once more, and then no more.
    await until(lambda: len(reloading.applied) == 2)
    _own(reloading, "other.example", 2, None)
    await until(lambda: len(reloading.applied) == 3)
    (place / "some.yaml").write_text("indicators: [")
    await until(lambda: reloading.reloader.failure != "")
    assert len(reloading.applied) == 3
    _own(reloading, "third.example", 3, None)
    await until(lambda: len(reloading.applied) == 4)
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


async def test_a_manifest_that_ends_is_refused_when_it_does(reloading: Reloading) -> None:
    """Nobody has to change a file for that: the indicators stay in force, and the status says why they are old."""
    place = _own(reloading, "evil.example", 1, None)
    pin(place, datetime.now(UTC), datetime.now(UTC) + timedelta(days=1))
    await reloading.change(lambda config: config.update(content={"ioc_dirs": [str(place)]}))
    async with watching(reloading):
        await until(lambda: len(reloading.applied) == 2)
        reloading.ahead = timedelta(days=2)
        await until(lambda: reloading.reloader.failure != "")
    assert "the manifest ended on" in reloading.reloader.failure
    assert len(reloading.applied) == 2
    assert len([event for event in reloading.log.events() if event == "config.refused"]) == 2


async def test_an_indicator_that_begins_or_ends_does_so_without_a_restart(reloading: Reloading) -> None:
    """Each moment that a file names is looked at once it has come."""
    begins, ends = (datetime.now(UTC) + timedelta(days=days) for days in (1, 3))
    fields = {"valid_from": written(begins), "valid_until": written(ends)}
    place = directory(
        reloading.gate.directory / "own",
        item(id="own-01", value="evil.example", match="domain", type="domain", **fields),
        pin=False,
    )
    await reloading.change(lambda config: config.update(content={"ioc_dirs": [str(place)]}))
    assert "own-01" in reloading.log.text()
    async with watching(reloading):
        await until(lambda: len(reloading.applied) == 2)
        for number, days in ((3, 2), (4, 4)):
            reloading.ahead = timedelta(days=days)
            await until(lambda number=number: len(reloading.applied) == number)
    assert [
        message.split(" on ")[0] for event, message in reloading.log.lines if event == "content.note"
    ] == [
        *[f"indicator own-01 of {place / 'some.yaml'} begins"] * 2,
        f"indicator own-01 of {place / 'some.yaml'} ended",
    ]
