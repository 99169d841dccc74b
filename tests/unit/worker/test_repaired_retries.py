"""5 tries in 50 ms, then forgotten: the row of the table in test_repairs.py, outcome by outcome.

kubernetes/kubernetes #140639.
"""

import asyncio
from typing import NamedTuple

import pytest

from bailiff.cluster import (
    ClusterError,
    ConflictError,
    Deleted,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    RequestTimeoutError,
    ServerError,
    TooManyRequestsError,
    UidMismatchError,
    UnreachableError,
)
from tests.harness.kinds import pod_of, tolerating
from tests.harness.worlds.world import attempts, tainted

pytestmark = pytest.mark.looptime(start=0)


def not_found(resource, name):
    """As the API server says it (apimachinery pkg/api/errors, NewNotFound)."""
    details = {"kind": resource, "name": name}
    return NotFoundError("not found", status=404, reason="NotFound", details=details)


POD_NOT_FOUND = not_found("pods", "plain")


@pytest.mark.parametrize("reused", [False, True], ids=["no pod", "another pod"])
async def test_an_eviction_is_over_when_there_is_no_such_pod(reused):
    """#140639: asked once, and never again when the watch has told of it."""
    world = tainted()
    gone = world.add_pod("plain", tolerating(seconds=1))
    async with world.running():
        world.pods.pop("plain")
        if reused:
            world.pods["plain"] = pod_of("plain", "n1", tolerating(), uid="another")
        await asyncio.sleep(2)
        world.pod_watch.send(Deleted(gone))
        await asyncio.sleep(600)
    assert world.requests == ["patch"]
    assert attempts(world, "replaced" if reused else "gone") == 1
    assert len(world.worker.pending) == 0


class Lie(NamedTuple):
    """An answer to the first request, of a pod that is alive and well."""

    error: ClusterError
    outcome: str


LIES = {
    "of the very pod": Lie(POD_NOT_FOUND, "gone"),
    "another UID": Lie(UidMismatchError("not yours", status=409), "replaced"),
    "of a pod of another name": Lie(not_found("pods", "other"), "unreachable"),
    "of a node": Lie(not_found("nodes", "plain"), "unreachable"),
    "of no object": Lie(NotFoundError("404 page not found", status=404), "unreachable"),
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
async def test_a_pod_that_is_said_to_be_gone_and_is_not_goes_all_the_same(lie):
    """A proxy, or a webhook, may say anything; the watch goes on showing the pod."""
    world = tainted()
    world.add_pod("plain")
    world.failures = [lie.error]
    async with world.running():
        await asyncio.sleep(10)
        assert list(world.deletions()) == ["plain"]
    assert attempts(world, lie.outcome) == 1
    assert attempts(world, "deleted") == 1


async def test_a_delete_that_is_swallowed_is_sent_again_less_and_less_often():
    world = tainted()
    world.swallows = True
    world.add_pod("plain")
    async with world.running():
        await asyncio.sleep(600)
        assert 10 <= world.requests.count("delete") <= 16
        world.swallows = False
        await asyncio.sleep(75)
        assert list(world.deletions()) == ["plain"]
    assert len([n for n in world.notes_on("plain") if n.startswith("Marking")]) == 1


async def test_a_pod_that_is_terminating_is_left_alone_however_long_that_takes():
    world = tainted()
    world.lingering = True
    world.add_pod("plain")
    async with world.running():
        await asyncio.sleep(600)
    assert world.requests == ["patch", "delete"]


async def test_a_dry_run_evicts_on_paper_once():
    world = tainted(on_paper=True)
    world.swallows = True
    world.add_pod("plain")
    async with world.running():
        await asyncio.sleep(600)
        pending = world.registry.get_sample_value("bailiff_worker_evictions_pending")
    assert world.requests == ["patch", "delete"]
    assert pending == 0


@pytest.mark.parametrize("code", [400, 403, 404, 409, 422, 429, 500, 503])
async def test_a_denial_with_any_code_is_a_denial_and_outlived(code):
    world = tainted()
    world.add_pod("plain")
    world.deny(code, "delete", until=20)
    async with world.running():
        await asyncio.sleep(60)
    assert list(world.deletions()) == ["plain"]
    assert attempts(world, "denied") >= 2
    assert attempts(world, "deleted") == 1
    assert len([n for n in world.notes_on("plain") if n.startswith("Cannot")]) == 1


async def test_each_kind_of_failure_is_waited_for_on_its_own():
    """Five conflicts within a second, and then a first denial: the next try is 5 s later."""
    world = tainted()
    world.add_pod("plain")
    world.failures = [ConflictError("changed", status=409)] * 5
    world.failures += [ForbiddenError("no", status=403)]
    async with world.running():
        await asyncio.sleep(12)
    assert list(world.deletions()) == ["plain"]


async def test_a_relist_that_lacks_the_pod_for_a_moment_does_not_end_its_eviction():
    world = tainted()
    world.latency = 1.0
    world.add_pod("plain")
    world.failures = [ServerError("broken", status=500)]
    async with world.running():
        await asyncio.sleep(0.5)
        world.relist_pods("plain")
        await asyncio.sleep(0.1)
        world.relist_pods()
        await asyncio.sleep(10)
        assert list(world.deletions()) == ["plain"]


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
        assert 3 <= attempts(world, "denied") <= 5
        await asyncio.sleep(1000)
    notes = [note for note in world.notes_on("plain") if note.startswith("Cannot")]
    assert notes == ["Cannot evict Pod default/plain, trying again: webhook says no"]
    assert list(world.deletions()) == ["plain"]
