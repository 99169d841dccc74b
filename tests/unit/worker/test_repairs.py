"""What kube-controller-manager gets wrong, row by row: the worker on virtual time.

The row of the retries: test_repaired_retries.py. The same rows on API servers:
tests/contract/test_repairs.py. For users: docs/differences-from-upstream.md. Numbers are issues of
kubernetes/kubernetes.
"""

import asyncio
from datetime import timedelta

import msgspec
import pytest

from bailiff.cluster import UnreachableError
from bailiff.decisions import Options
from tests.harness.clocks import START
from tests.harness.kinds import no_execute, tolerating
from tests.harness.worlds.world import World, attempts, tainted

pytestmark = pytest.mark.looptime(start=0)


# A scheduled eviction is never moved.


@pytest.mark.parametrize(
    ("change_at", "seconds", "gone_at"),
    [
        pytest.param(5, 60, 60.0, id="lengthened"),
        pytest.param(5, None, None, id="for ever"),
        pytest.param(5, 8, 8.0, id="shortened"),
        pytest.param(5, 3, 5.0, id="shortened into the past"),
        pytest.param(5, 0, 5.0, id="to nothing"),
    ],
)
async def test_deadline_is_recomputed_in_both_directions(change_at, seconds, gone_at):
    """#102993, #108982: changed tolerationSeconds."""
    world = tainted()
    pod = world.add_pod("patient", tolerating(seconds=10))
    async with world.running():
        await asyncio.sleep(change_at)
        spec = msgspec.structs.replace(pod.spec, tolerations=(tolerating(seconds=seconds),))
        world.put(msgspec.structs.replace(pod, spec=spec))
        await asyncio.sleep(600)
    assert world.deletions() == ({} if gone_at is None else {"patient": gone_at})


@pytest.mark.parametrize(
    ("seconds", "other", "then", "gone_at"),
    [
        pytest.param(100, 10, ("maintenance", "other"), 15.0, id="a second taint, shorter"),
        pytest.param(10, 100, ("maintenance", "other"), 10.0, id="a second taint, longer"),
        pytest.param(100, 10, ("other",), 15.0, id="swapped for a shorter one"),
        pytest.param(10, 100, ("other",), 105.0, id="swapped for a longer one"),
    ],
)
async def test_deadline_is_recomputed_when_taints_change(seconds, other, then, gone_at):
    """#102993, #108982: a second taint, a swapped taint."""
    world = tainted()
    world.add_pod("patient", tolerating(seconds=seconds), tolerating("other", seconds=other))
    async with world.running():
        await asyncio.sleep(5)
        world.taint("n1", *map(no_execute, then))
        await asyncio.sleep(600)
    assert world.deletions() == {"patient": gone_at}


# The timer starts when the controller sees the taint.


async def test_time_counts_from_when_the_taint_was_added():
    """#108268: timeAdded is never read."""
    world = World()
    world.taint("n1", no_execute(time_added=START - timedelta(seconds=60)))
    world.add_pod("patient", tolerating(seconds=100))
    async with world.running():
        await asyncio.sleep(600)
    assert world.deletions() == {"patient": 40.0}


async def test_time_counts_from_when_the_pod_was_bound_if_that_was_later():
    """#108268: a taint older than the pod must not take its time away."""
    world = World()
    world.taint("n1", no_execute(time_added=START - timedelta(seconds=60)))
    pod = world.add_pod("newcomer", tolerating(seconds=100))
    metadata = msgspec.structs.replace(pod.metadata, creation_timestamp=START)
    world.put(msgspec.structs.replace(pod, metadata=metadata))
    async with world.running():
        await asyncio.sleep(600)
    assert world.deletions() == {"newcomer": 100.0}


async def test_restart_does_not_start_the_time_over():
    """#108268: without timeAdded the first observation counts, whoever made it."""
    world = tainted()
    world.add_pod("patient", tolerating(seconds=100))
    async with world.running():
        await asyncio.sleep(40)
    heir = world.successor()
    async with heir.running():
        await asyncio.sleep(200)
    assert heir.deletions() == {"patient": 100.0}


# There is no UID guard.


async def test_a_pod_recreated_under_the_same_name_is_not_killed():
    """By the old one's timer, when the watch has told of both."""
    world = tainted()
    world.add_pod("db-0", tolerating(seconds=10), uid="old")
    async with world.running():
        await asyncio.sleep(5)
        world.remove_pod("db-0")
        world.add_pod("db-0", tolerating(), uid="new")
        await asyncio.sleep(600)
    assert world.deleted == []
    assert world.pods["db-0"].metadata.uid == "new"


async def test_a_pod_recreated_before_the_watch_tells_is_not_killed():
    """By a request already decided on: the API server refuses it by the UID."""
    world = tainted()
    world.add_pod("db-0", tolerating(seconds=10), uid="old")
    async with world.running():
        world.pods["db-0"] = msgspec.structs.replace(
            world.pods["db-0"],
            metadata=msgspec.structs.replace(world.pods["db-0"].metadata, uid="new"),
        )
        await asyncio.sleep(60)
    assert world.deleted == []
    assert attempts(world, "replaced") >= 1


# Pods that have ended are deleted too.


@pytest.mark.parametrize("restored", [False, True], ids=["by default", "setting"])
async def test_ended_pods_are_left_alone_unless_a_setting_says_otherwise(restored):
    """#96363: Succeeded, Failed and terminating pods."""
    world = tainted(options=Options(evict_ended_pods=restored))
    world.add_pod("succeeded", phase="Succeeded")
    world.add_pod("failed", phase="Failed")
    going = world.add_pod("going", tolerating(seconds=10))
    async with world.running():
        await asyncio.sleep(5)
        metadata = msgspec.structs.replace(going.metadata, deletion_timestamp=START)
        world.put(msgspec.structs.replace(going, metadata=metadata))
        await asyncio.sleep(600)
    everybody = {"failed": 0.0, "going": 10.0, "succeeded": 0.0}
    assert world.deletions() == (everybody if restored else {})
    assert bool(world.notes) == restored


async def test_a_terminating_pod_is_evicted_once_however_long_it_takes():
    world = tainted(options=Options(evict_ended_pods=True))
    world.lingering = True
    world.add_pod("slow")
    async with world.running():
        await asyncio.sleep(1800)
    assert (len(world.deleted), len(world.notes)) == (1, 1)


# Deleting the Node leaves its timers running.


async def test_node_gone_cancels_its_timers_and_says_so():
    """Pod garbage collection owns those pods."""
    world = tainted()
    world.add_pod("patient", tolerating(seconds=10))
    async with world.running():
        await asyncio.sleep(5)
        world.remove_node("n1")
        await asyncio.sleep(600)
    assert world.deleted == []
    why = "node n1 is gone, pod garbage collection owns its pods"
    assert world.notes_on("patient") == [f"Cancelling deletion of Pod default/patient: {why}"]


# A worker that is running can emit a false "Cancelling deletion".


async def test_a_pod_that_goes_all_the_same_is_never_said_to_be_cancelled():
    """Moved, expelled at once, deleted by somebody else."""
    world = tainted()
    moved = world.add_pod("moved", tolerating(seconds=10), tolerating("other"))
    world.add_pod("expelled", tolerating(seconds=10))
    world.add_pod("deleted", tolerating(seconds=10), tolerating("other"))
    async with world.running():
        spec = msgspec.structs.replace(moved.spec, tolerations=(tolerating(seconds=20),))
        world.put(msgspec.structs.replace(moved, spec=spec))
        world.remove_pod("deleted")
        await asyncio.sleep(5)
        world.taint("n1", no_execute(), no_execute("other"))
        await asyncio.sleep(600)
    assert set(world.deletions()) == {"moved", "expelled"}
    assert not [message for _, message in world.notes if message.startswith("Cancelling")]


async def test_an_eviction_that_cannot_be_called_back_is_not_said_to_be_cancelled():
    """Untainted while the delete is on its way: it goes, and nothing else is said."""
    world = tainted()
    world.latency = 2
    world.add_pod("plain")
    async with world.running():
        await asyncio.sleep(3)
        assert world.requests == ["patch", "delete"]
        world.taint("n1")
        await asyncio.sleep(60)
    assert list(world.deletions()) == ["plain"]
    assert [note.split(" ")[0] for note in world.notes_on("plain")] == ["Marking"]


async def test_an_eviction_whose_answer_was_lost_is_not_said_to_be_cancelled():
    """The pod has gone, by our own delete: neither Event nor metric may call that off."""
    world = tainted()
    delete = world.delete

    async def delete_and_fall_silent(pod, grace_period_seconds):
        await delete(pod, grace_period_seconds)
        await asyncio.sleep(1)
        raise UnreachableError("connection reset")

    world.delete = delete_and_fall_silent  # type: ignore[method-assign]  # the port, cut off
    world.add_pod("plain")
    async with world.running():
        await asyncio.sleep(60)
    assert world.requests == ["patch", "delete"]
    assert [note.split(" ")[0] for note in world.notes_on("plain")] == ["Marking"]
    cancelled = "bailiff_worker_evictions_cancelled_total", {"system": "node-taints"}
    assert world.registry.get_sample_value(*cancelled) == 0


# The latency metric is multiplied by 1e9.


async def test_latency_is_in_true_seconds():
    """#141311: two requests of a second each, and the second pod waits for the first."""
    world = tainted(concurrency=1)
    world.latency = 1
    world.add_pod("first")
    world.add_pod("second")
    async with world.running():
        await asyncio.sleep(60)
    name = "taint_eviction_controller_pod_deletion_duration_seconds"
    value = world.registry.get_sample_value
    assert value(f"{name}_count") == 2
    assert round(value(f"{name}_sum") or 0, 1) == 2 + 4
    buckets = {le: value(f"{name}_bucket", {"le": le}) for le in ("1.0", "2.5", "10.0")}
    assert buckets == {"1.0": 0, "2.5": 1, "10.0": 2}


# Events carry neither taint nor time.


async def test_the_event_names_the_taint_the_toleration_and_the_time():
    """Upstream's reason and first words, and then what it leaves out."""
    world = World()
    world.taint("n1", no_execute(value="now", time_added=START - timedelta(seconds=60)))
    world.add_pod("patient", tolerating(seconds=100))
    world.add_pod("plain")
    async with world.running():
        await asyncio.sleep(60)
    marked, taint = "Marking for deletion Pod default/", "taint maintenance=now:NoExecute"
    used = "is tolerated by maintenance:NoExecute op=Exists for 100s, until 2026-01-01T00:00:40Z"
    assert world.notes_on("patient") == [f"{marked}patient: {taint} {used}"]
    assert world.notes_on("plain") == [f"{marked}plain: {taint} is not tolerated"]


# A storm sends every GET, then every PATCH, then every DELETE.


async def test_a_storm_is_worked_off_in_order_with_few_requests():
    """Each eviction is finished before the next begins, and costs two requests."""
    world = tainted(concurrency=2)
    world.latency = 1
    for number in range(6):
        world.add_pod(f"pod-{number}")
    async with world.running():
        await asyncio.sleep(60)
    # Two requests of a second each: two pods every two seconds.
    assert world.deletions() == {
        "pod-0": 2.0, "pod-1": 2.0, "pod-2": 4.0, "pod-3": 4.0, "pod-4": 6.0, "pod-5": 6.0,
    }  # fmt: skip
    assert world.requests == ["patch", "patch", "delete", "delete"] * 3
    assert len(world.notes) == 6


# It works only where another controller adds an index.


@pytest.mark.parametrize("first", ["node", "pod"])
async def test_the_worker_works_alone(first):
    """Pods are indexed by node from the bare events, in whatever order those come."""
    world = World()
    async with world.running():
        if first == "node":
            world.taint("n1", no_execute())
        world.add_pod("plain")
        await asyncio.sleep(1)
        if first == "pod":
            world.taint("n1", no_execute())
        await asyncio.sleep(1)
    assert list(world.deletions()) == ["plain"]
