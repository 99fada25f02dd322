"""Who is asking: credentials, and what failed attempts cost."""

import time

import pytest

from herma.ingress.authentication import MAX_KNOWN, TELL_EVERY_S
from support.inprocess import KEYS, UPSTREAM_KEY, Gated, code, gated
from support.raw import Response

MODELS = {"object": "list", "data": []}
WRONG = "fake-wrong-key-0000000000000000000000000000"
# What the gate of the suite gives away before the first delay.
FREE = 3


async def _ask(gate: Gated, key: str | None = "runner", source: str | None = None) -> Response:
    return await gate.ask("GET", "/v1/models", key=key, source=source)


async def _fail(gate: Gated, times: int, *, key: str = WRONG, source: str | None = None) -> None:
    for _ in range(times):
        response = await _ask(gate, key, source)
        assert response.status == 401


async def test_the_upstream_gets_its_own_key() -> None:
    """The caller's credential ends at the gate, and the upstream's begins there."""
    async with gated() as gate:
        gate.agent.on("GET", "/v1/models", MODELS)
        assert (await _ask(gate)).status == 200
        call = await gate.agent.only()
        assert call.get("authorization") == f"Bearer {UPSTREAM_KEY}"
        assert not any(KEYS["runner"] in value for _, value in call.headers)


async def test_without_a_key_the_challenge_says_so() -> None:
    """No credential: a bare challenge; a wrong one: `invalid_token`."""
    async with gated() as gate:
        bare = await _ask(gate, None)
        wrong = await _ask(gate, WRONG)
        assert (bare.status, code(bare)) == (401, "herma.auth.required")
        assert "error" not in (bare.get("www-authenticate") or "")
        assert wrong.status == 401
        assert 'error="invalid_token"' in (wrong.get("www-authenticate") or "")
        assert gate.agent.calls == []


@pytest.mark.parametrize("key", ["expired", "elsewhere"])
async def test_a_key_beyond_its_time_or_place_is_wrong(key: str) -> None:
    """An expired key and one from a wrong network are told nothing more than a wrong one."""
    async with gated() as gate:
        response, wrong = await _ask(gate, key), await _ask(gate, WRONG)
        assert (response.status, response.body) == (wrong.status, wrong.body)
        assert gate.agent.calls == []


async def test_an_address_that_guesses_is_slowed_down() -> None:
    """After the free attempts not even the right key gets in, until the delay is over."""
    async with gated() as gate:
        gate.agent.on("GET", "/v1/models", MODELS)
        await _fail(gate, FREE + 1)
        right = await _ask(gate)
        assert (right.status, code(right)) == (429, "herma.auth.throttled")
        assert right.get("retry-after") == "1"
        assert right.get("x-should-retry") == "false"
        assert gate.agent.calls == []
        gate.clock.now += 1.01
        assert (await _ask(gate)).status == 200


async def test_an_attempt_while_blocked_is_not_judged() -> None:
    """Right and wrong guesses get the same answer, and a wrong one is not even counted."""
    async with gated() as gate:
        await _fail(gate, FREE + 1)
        before = dict(gate.meter.counts)
        right, wrong = await _ask(gate), await _ask(gate, WRONG)
        assert (right.status, right.body) == (wrong.status, wrong.body)
        assert gate.meter.counts == before


async def test_other_addresses_are_not_slowed_down() -> None:
    """Who guesses from one address locks nobody else out."""
    async with gated() as gate:
        gate.agent.on("GET", "/v1/models", MODELS)
        await _fail(gate, FREE + 1)
        assert (await _ask(gate, source="127.0.0.2")).status == 200


async def test_each_failure_doubles_the_delay() -> None:
    """The second failure after the free ones costs twice the first."""
    async with gated() as gate:
        await _fail(gate, FREE + 1)
        gate.clock.now += 1.01
        await _fail(gate, 1)
        assert (await _ask(gate)).get("retry-after") == "2"


@pytest.mark.parametrize("key", ["expired", "elsewhere"])
async def test_a_known_key_that_is_refused_slows_itself_down(key: str) -> None:
    """A stolen key tried from many addresses is throttled by its name, and the address of another key is not."""
    async with gated() as gate:
        gate.agent.on("GET", "/v1/models", MODELS)
        for number in range(FREE + 1):
            await _fail(gate, 1, key=key, source=f"127.0.1.{number + 1}")
        refused = await _ask(gate, key, source="127.0.2.1")
        assert (refused.status, code(refused)) == (429, "herma.auth.throttled")
        assert (await _ask(gate, source="127.0.2.1")).status == 200


async def test_why_a_key_failed_is_counted() -> None:
    """The operator sees the reasons, the caller does not."""
    async with gated() as gate:
        await _fail(gate, 1)
        await _fail(gate, 1, key="expired")
        reasons = {label for name, label in gate.meter.counts if name == "auth_failures"}
        assert len(reasons) == 2


async def test_a_malformed_credential_is_no_guess() -> None:
    """Another scheme is a 401 like no credential at all, and is not held against the address."""
    async with gated() as gate:
        gate.agent.on("GET", "/v1/models", MODELS)
        for _ in range(FREE + 2):
            response = await gate.ask(
                "GET", "/v1/models", key=None, headers=[("Authorization", "Basic ZmFrZTpmYWtl")]
            )
            assert response.status == 401
        assert (await _ask(gate)).status == 200


@pytest.mark.parametrize(
    ("target", "headers", "expected"),
    [
        ("/v1/models?api_key=fake", [], "herma.auth.credential_in_query"),
        ("/v1/models", [("X-Api-Key", "fake")], "herma.auth.credential_twice"),
    ],
    ids=["query", "second header"],
)
async def test_a_credential_in_a_second_place_is_refused(
    target: str, headers: list[tuple[str, str]], expected: str
) -> None:
    """Two answers to who is asking are none, even if one of them is right."""
    async with gated() as gate:
        response = await gate.ask("GET", target, headers=headers)
        assert (response.status, code(response)) == (400, expected)
        assert gate.agent.calls == []


async def test_a_gate_without_keys_serves_the_local_caller() -> None:
    """On loopback without any key the caller is local and may do everything; no credential goes upstream but its own."""
    async with gated(keys=False) as gate:
        gate.agent.on("GET", "/v1/models", MODELS)
        assert (await _ask(gate, None)).status == 200
        assert (await gate.last()).principal == "local"
        assert (await gate.agent.only()).get("authorization") == f"Bearer {UPSTREAM_KEY}"


async def test_a_gate_without_keys_still_refuses_a_credential_in_the_url() -> None:
    """The form of a request is judged whoever may call."""
    async with gated(keys=False) as gate:
        assert (await gate.ask("GET", "/v1/models?token=fake", key=None)).status == 400


async def test_the_store_is_told_of_a_success_once_an_hour() -> None:
    """A hundred requests of one address are one note, and after an hour there is another."""
    async with gated() as gate:
        gate.agent.on("GET", "/v1/models", MODELS)
        for _ in range(3):
            await _ask(gate)
        assert gate.store.asked["succeeded"] == 1
        await _ask(gate, source="127.0.0.2")
        assert gate.store.asked["succeeded"] == 2
        gate.plane.known["127.0.0.1"] = time.monotonic() - TELL_EVERY_S
        await _ask(gate)
        assert gate.store.asked["succeeded"] == 3


async def test_the_notes_of_successes_are_bounded() -> None:
    """A table that is full begins anew; it only saves questions."""
    async with gated() as gate:
        gate.agent.on("GET", "/v1/models", MODELS)
        gate.plane.known.update((f"192.0.2.{number}", 0.0) for number in range(MAX_KNOWN))
        assert (await _ask(gate)).status == 200
        assert list(gate.plane.known) == ["127.0.0.1"]


async def test_an_address_that_authenticated_is_spared_the_common_budget() -> None:
    """When the whole world guesses, who was here before still gets in, and a newcomer waits."""
    async with gated() as gate:
        gate.agent.on("GET", "/v1/models", MODELS)
        assert (await _ask(gate)).status == 200
        for _ in range(60):
            await gate.store.failed(("all",))
        assert (await _ask(gate)).status == 200
        assert (await _ask(gate, source="127.0.0.2")).status == 429
