"""5 tries in 50 ms, then forgotten: the row of the table in test_repairs.py, outcome by outcome.

kubernetes/kubernetes #140639.
"""

import asyncio

import pytest

from bailiff.cluster import (
    ConflictError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    RequestTimeoutError,
    ServerError,
    TooManyRequestsError,
    UidMismatchError,
    UnreachableError,
)
from tests.harness.worlds.world import attempts, tainted

pytestmark = pytest.mark.looptime(start=0)


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (NotFoundError("no such pod", status=404), "gone"),
        (UidMismatchError("precondition failed", status=409), "replaced"),
    ],
    ids=["404", "UID mismatch"],
)
async def test_an_eviction_is_over_when_there_is_no_such_pod(error, outcome):
    """#140639: asked once and never again."""
    world = tainted()
    world.add_pod("plain")
    world.failures = [error]
    async with world.running():
        await asyncio.sleep(600)
    assert world.requests == ["patch"]
    assert attempts(world, outcome) == 1


@pytest.mark.parametrize(
    ("error", "outcome", "at_most"),
    [
        (ConflictError("changed", status=409), "conflict", 30),
        (TooManyRequestsError("wait", status=429, retry_after=7), "overloaded", 400),
        (ForbiddenError("no such right", status=403), "denied", 3000),
        (InvalidError("webhook says no", status=422), "denied", 3000),
        (ServerError("broken", status=500), "unreachable", 200),
        (ServerError("not now", status=503), "unreachable", 200),
        (UnreachableError("refused"), "unreachable", 200),
        (RequestTimeoutError("no answer"), "unreachable", 200),
    ],
    ids=["409", "429", "403", "webhook", "500", "503", "connection loss", "time-out"],
)
async def test_an_eviction_is_retried_until_resolved(error, outcome, at_most):
    """#140639: ten failures on end, and the pod goes all the same."""
    world = tainted()
    world.add_pod("plain")
    world.failures = [error] * 10
    async with world.running():
        await asyncio.sleep(at_most)
    assert list(world.deletions()) == ["plain"]
    assert attempts(world, outcome) == 10
    assert attempts(world, "deleted") == 1


async def test_retry_after_is_waited_for():
    """#140639: 429 says for how long."""
    world = tainted()
    world.add_pod("plain")
    world.failures = [TooManyRequestsError("wait", status=429, retry_after=500)]
    async with world.running():
        await asyncio.sleep(499)
        assert world.deleted == []
        await asyncio.sleep(2)
    assert list(world.deletions()) == ["plain"]


async def test_a_denied_eviction_is_retried_slowly_and_told_once():
    """#140639: a denying webhook makes upstream forget the pod for ever."""
    world = tainted()
    world.add_pod("plain")
    world.failures = [ForbiddenError("webhook says no", status=403)] * 5
    async with world.running():
        await asyncio.sleep(60)
        # 5 s, doubled with every try: few in a minute, though nothing else is to be done.
        assert 3 <= len(world.requests) <= 5
        await asyncio.sleep(1000)
    notes = [note for note in world.notes_on("plain") if note.startswith("Cannot")]
    assert notes == ["Cannot evict Pod default/plain, trying again: webhook says no"]
    assert list(world.deletions()) == ["plain"]
