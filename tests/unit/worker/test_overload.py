"""2,000 pods are due and the API server takes little or nothing, on virtual time."""

from __future__ import annotations

import asyncio
import random
from collections import Counter

import pytest

from bailiff.cluster import (
    ClusterError,
    RequestTimeoutError,
    ServerError,
    TooManyRequestsError,
    UnreachableError,
)
from bailiff.cluster.pace import Pace
from bailiff.worker.execute.outcomes import RETRIES
from tests.harness.clocks import LoopClock
from tests.harness.kinds import no_execute
from tests.harness.worlds.calls import Call
from tests.harness.worlds.world import World, attempts

PODS = 2000
CONCURRENCY = 20
# Seconds that the server refuses, and that it takes for an answer.
STORM = 30
LATENCY = 0.005
# Seconds after which it is found out how little the server takes.
_SETTLED = 3

pytestmark = pytest.mark.looptime(start=0)


class BusyWorld(World):
    """A server that lets so many requests a second through while the storm lasts.

    Attributes:
        sent: how many requests came in each second.
        through: how many were let through in each second.
    """

    def __init__(
        self, error: ClusterError, allowed: int, *, pods: int = 300, takes: float = 0.0
    ) -> None:
        self.pace = Pace(LoopClock(), CONCURRENCY + 20, random.Random(1))
        super().__init__(concurrency=CONCURRENCY)
        self._error, self._allowed, self._takes = error, allowed, takes
        self.sent: Counter[int] = Counter()
        self.through: Counter[int] = Counter()
        self.taint("n1", no_execute())
        for number in range(pods):
            self.add_pod(f"pod-{number}")

    def backoff(self) -> float:
        return self.pace.backoff()

    async def _arrive(self, call: Call) -> None:
        async with self.pace.turn(call.verb):
            second = int(self.clock.monotonic())
            self.sent[second] += 1
            await asyncio.sleep(LATENCY)
            if second < STORM and self.through[second] >= self._allowed:
                await asyncio.sleep(self._takes)
                raise self._error
            self.through[second] += 1
            await super()._arrive(call)


BUSY = TooManyRequestsError("busy", status=429, retry_after=1.0)


@pytest.mark.parametrize("allowed", [5, 20, 50])
async def test_requests_stay_below_twice_what_the_server_lets_through(allowed: int) -> None:
    world = BusyWorld(BUSY, allowed, pods=PODS)
    async with world.running():
        await asyncio.sleep(STORM)
        stormy = range(_SETTLED, STORM)
        through = sum(world.through[second] for second in stormy)
        assert sum(world.sent[second] for second in stormy) < 2 * through
        # And it does not leave free what it could have.
        assert through > 0.75 * allowed * len(stormy)
        await asyncio.sleep(60)
    assert len(world.deleted) == PODS


@pytest.mark.parametrize(
    ("error", "most"),
    [
        (UnreachableError("refused"), 90),
        (ServerError("no leader", status=503), 90),
        (TooManyRequestsError("busy", status=429), 90),
        (BUSY, 60),
        (TooManyRequestsError("busy", status=429, retry_after=20.0), 30),
    ],
    ids=["refused", "503", "429", "429 with 1 s", "429 with 20 s"],
)
async def test_a_server_that_takes_nothing_is_asked_now_and_then(
    error: ClusterError, most: int
) -> None:
    world = BusyWorld(error, allowed=0)
    async with world.running():
        await asyncio.sleep(STORM)
        assert 0 < sum(world.sent.values()) <= most
        # Nor are evictions begun in vain, but for those that follow the one which goes ahead.
        tries = sum(attempts(world, outcome.value) for outcome in RETRIES)
        assert tries <= most + CONCURRENCY
        # It is found out soon that the server is back.
        await asyncio.sleep(60)
    assert world.pods == {}


async def test_a_silent_server_is_asked_less_and_less_at_a_time() -> None:
    world = BusyWorld(RequestTimeoutError("no answer"), allowed=0, takes=10.0)
    async with world.running():
        await asyncio.sleep(STORM)
        assert world.pace.limit == (CONCURRENCY + 20) // 4
        assert sum(world.sent.values()) <= 3 * CONCURRENCY
        await asyncio.sleep(60)
    assert world.pods == {}


class HeldWorld(World):
    """Its client leaves the server alone for so many seconds."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        super().__init__()

    def backoff(self) -> float:
        return self.seconds


@pytest.mark.parametrize(("held", "begun"), [(1.9, True), (2.1, False)])
async def test_only_a_long_hold_keeps_evictions_from_being_begun(held: float, begun: bool) -> None:
    """A short one may end early, and of that the requests learn, but not who sleeps through it."""
    world = HeldWorld(held)
    world.taint("n1", no_execute())
    world.add_pod("pod")
    async with world.running():
        await asyncio.sleep(1.0)
        assert bool(world.deleted) is begun
