"""As many addresses as places, each with one connection that does nothing."""

from __future__ import annotations

import asyncio

import pytest

from bailiff.grpc_api import GrpcSettings
from tests.harness.faces.grpc_face import SERVICE, running
from tests.harness.faces.http2 import message
from tests.unit.grpc_face.test_door import LIMIT, connected, ended, is_answered

CROWD = ["127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5"]
CROWDED = GrpcSettings(port=0, max_connections=4)


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bailiff.serving.places.QUIET_SECONDS", 0.2)


async def test_they_keep_nobody_out() -> None:
    async with running(CROWDED) as face, connected(face, *CROWD) as (first, *others):
        await asyncio.sleep(0.3)
        assert await is_answered(face)
        await asyncio.wait_for(first.closed.wait(), LIMIT)
        assert not any(one.closed.is_set() for one in others)
        assert (ended(face, "room"), ended(face, "refused")) == (1, 0)


async def test_who_has_called_since_it_was_looked_at_keeps_its_connection() -> None:
    async with running(CROWDED) as face, connected(face, *CROWD) as (asks, silent, *_):
        stream = asks.call("/grpc.health.v1.Health/Check")
        await asks.send(stream, message(b""), end=True)
        await asyncio.wait_for(asks.end_of(stream), LIMIT)
        await asyncio.sleep(0.3)
        assert await is_answered(face)
        await asyncio.wait_for(silent.closed.wait(), LIMIT)
        assert not asks.closed.is_set()


async def test_who_has_a_call_open_keeps_its_connection() -> None:
    async with running(CROWDED) as face, connected(face, *CROWD) as (streams, silent, *_):
        stream = streams.call(f"/{SERVICE}/DecideStream")
        await streams.send(stream, message(b""))
        async with asyncio.timeout(LIMIT):
            while stream not in streams.answers:
                await asyncio.sleep(0.01)
        await asyncio.sleep(0.3)
        assert await is_answered(face)
        await asyncio.wait_for(silent.closed.wait(), LIMIT)
        assert not streams.closed.is_set()
