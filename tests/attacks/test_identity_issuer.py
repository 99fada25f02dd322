"""Tokens of a certified identity provider, while it goes over to another key."""

import asyncio
from pathlib import Path

import pytest

from herma.identity import key_set as module
from support.inprocess import Gated, gated
from support.real_issuer import RealIssuer
from support.wire_client import PATIENCE_S

AUDIENCE = "https://agent.example.com"


async def _status(gate: Gated, token: str) -> int:
    return (await gate.ask("GET", "/v1/models", key=token)).status


async def _becomes(gate: Gated, token: str, status: int) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while await _status(gate, token) != status:
            await asyncio.sleep(0.01)


@pytest.mark.bypass(75)
async def test_a_program_is_known_through_a_rotation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By tokens for the gate and for nobody else; of the old key once the new one is known, by the new ones only."""
    monkeypatch.setattr(module, "COOL_DOWN_S", 0.1)
    with RealIssuer(tmp_path, "http://127.0.0.1:1/back", "http://127.0.0.1:1/out") as issuer:
        entry = {
            "name": "idp",
            "issuer": issuer.url,
            "audience": AUDIENCE,
            "jwks_url": f"{issuer.url}/jwks",
            "scopes": ["run", "read"],
        }
        rates = {"rates": {"unauthenticated": {"per_s": 10_000, "burst": 10_000}}}
        async with gated(others={"tokens": [entry]}, limits=rates) as gate:
            gate.agent.on("GET", "/v1/models", {"data": []})

            async def token(audience: str = AUDIENCE, scope: str = "read cron") -> str:
                return await asyncio.to_thread(issuer.token, audience, scope)

            old = await token()
            await _becomes(gate, old, 200)
            assert (await gate.last()).principal == "jwt:idp:worker"
            assert (await gate.ask("POST", "/api/jobs", key=old, body={})).status == 403
            assert await _status(gate, await token("https://other.example.com")) == 401
            issuer.rotate()
            new = await token()
            assert await _status(gate, new) == 401
            await _becomes(gate, new, 200)
            assert await _status(gate, old) == 401
            assert ("auth_failures", "token_audience") in gate.meter.counts
            assert ("auth_failures", "token_key") in gate.meter.counts
            assert ("auth_failures", "token_signature") not in gate.meter.counts
