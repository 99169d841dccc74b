"""What the worker writes into the status of DeviceTaintRules, and when; on virtual time."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest

from bailiff.cluster import ForbiddenError, NotFoundError, ServerError, UidMismatchError
from bailiff.worker import Shard
from bailiff.worker.systems.device_taints.devices import Kind
from tests.harness.device_objects import patience
from tests.harness.kinds import no_execute
from tests.harness.worlds.appointment import Appointment
from tests.harness.worlds.device_world import DeviceWorld, untainted

pytestmark = pytest.mark.looptime(start=0)

PENDING, COMPLETED, NOT_STARTED = "PodsPendingEviction", "Completed", "NotStarted"
EVICTED = "evicted since starting the controller."


def written(world: DeviceWorld, fate: str) -> float:
    return world.metric("bailiff_worker_rule_status_writes_total", fate=fate)


async def test_pending_at_once_then_completed_after_ten_seconds():
    world = untainted()
    world.gpu_pod("a")
    world.gpu_pod("b", patience(4))
    async with world.running():
        await asyncio.sleep(5)
        world.rule("rule", at=5, pool="n1")
        await asyncio.sleep(1)
        assert world.said() == [(5.0, "True", PENDING)]
        assert world.told() == "2 pods need to be evicted in 1 namespace."
        await asyncio.sleep(60)
    assert world.said() == [(5.0, "True", PENDING), (15.0, "False", COMPLETED)]
    assert world.told() == f"2 pods {EVICTED}"
    assert written(world, "written") == 2


async def test_writes_about_pods_lie_ten_seconds_apart():
    world = untainted()
    for number in range(30):
        world.gpu_pod(f"pod-{number}", patience(number))
    async with world.running():
        world.rule("rule", pool="n1")
        await asyncio.sleep(60)
    times = [at for at, *_ in world.said()]
    assert min(later - sooner for sooner, later in pairwise(times)) >= 10
    assert 3 <= len(times) <= 5
    assert world.told() == f"30 pods {EVICTED}"


async def test_a_new_spec_is_answered_at_once():
    world = untainted()
    world.gpu_pod("a", patience(600))
    async with world.running():
        world.rule("rule", pool="n1")
        await asyncio.sleep(2)
        world.rule("rule", pool="elsewhere")
        await asyncio.sleep(1)
        assert world.said() == [(0.0, "True", PENDING), (2.0, "False", NOT_STARTED)]
        assert world.statuses[-1][2].observed_generation == 2
        world.rule("rule", effect="NoSchedule", pool="n1")
        await asyncio.sleep(60)
    assert world.said()[2:] == [(3.0, "False", "OtherEffect")]


async def test_a_rule_without_effect_is_told_of_once_whatever_happens_then():
    world = untainted()
    world.gpu_pod("a")
    async with world.running():
        await asyncio.sleep(1)
        world.rule("rule", effect="None", pool="n1")
        await asyncio.sleep(1)
        world.gpu_pod("b")
        await asyncio.sleep(600)
    assert world.said() == [(1.0, "False", "NoEffect")]
    assert world.told().startswith(
        "3 published devices selected. 1 allocated device selected. "
        "1 pod would be evicted in 1 namespace if the effect was NoExecute."
    )


async def test_several_rules_on_one_pod_all_count_it_and_another_rule_does_not():
    world = untainted()
    world.gpu_pod("a", patience(3))
    async with world.running():
        world.rule("one", device="gpu-a")
        world.rule("two", pool="n1")
        world.rule("other", device="gpu-b")
        await asyncio.sleep(60)
    for name in ("one", "two"):
        assert world.told(name) == f"1 pod {EVICTED}"
    assert world.said("other") == [(0.0, "False", NOT_STARTED)]


async def test_a_pod_that_its_node_s_taint_has_evicted_is_not_counted_for_the_rule():
    world = untainted()
    world.gpu_pod("a", patience(600))
    world.rule("rule", pool="n1")
    async with world.running():
        await asyncio.sleep(1)
        world.taint("n1", no_execute())
        await asyncio.sleep(60)
    assert world.deletions() == {"a": 1.0}
    assert world.said() == [(0.0, "True", PENDING), (11.0, "False", NOT_STARTED)]


# Who writes, and what is counted.


async def test_pods_that_another_worker_evicts_count_once_and_what_left_before_does_not():
    world = untainted()
    world.gpu_pod("early", patience(600))
    world.terminate("early", by_device_manager=True)
    for name in ("a", "b", "c"):
        world.gpu_pod(name, patience(600))
    world.rule("rule", pool="n1")
    async with world.running():
        await asyncio.sleep(1)
        # Seen going, then gone; gone at once; and one that somebody else has deleted.
        world.terminate("a", by_device_manager=True)
        await asyncio.sleep(1)
        world.remove_pod("a")
        world.terminate("b", by_device_manager=True)
        world.remove_pod("b")
        world.terminate("c")
        await asyncio.sleep(60)
    assert world.said()[-1][1:] == ("False", COMPLETED)
    assert world.told() == f"2 pods {EVICTED}"


async def test_a_standby_writes_nothing_and_says_at_once_what_is_when_it_is_appointed():
    election = Appointment()
    world = untainted(election=election)
    world.gpu_pod("a", patience(600))
    world.rule("rule", pool="n1")
    async with world.running():
        await asyncio.sleep(100)
        for number in range(20):
            world.rule("fleeting", uid=f"uid-{number}", pool="n1")
            await asyncio.sleep(1)
        assert world.statuses == []
        # Nothing is kept of rules that have come and gone meanwhile.
        assert len(world.device_taints.rule_status) == 0
        election.appoint()
        await asyncio.sleep(1)
    assert world.said() == [(120.0, "True", PENDING)]
    assert world.said("fleeting") == [(120.0, "True", PENDING)]


async def test_of_several_shards_the_first_writes_with_the_numbers_of_the_whole_cluster():
    for index in range(2):
        world = untainted(shards=(Shard(index, 2),))
        for node in ("n1", "n2", "n3", "n4"):
            world.taint(node)
            world.gpu_pod(node, patience(600), node=node)
        world.rule("rule", pool="n1")
        async with world.running():
            await asyncio.sleep(1)
            mine = len(world.worker.pending)
            assert 0 < mine < 4
            said = world.statuses
            assert len(said) == (1 if index == 0 else 0)
        if index == 0:
            assert world.told() == "4 pods need to be evicted in 1 namespace."


async def test_a_share_is_not_left_before_a_status_under_way_is_written():
    mine = Shard(0, 2)
    election = Appointment(shard=mine)
    world = untainted(election=election, shards=Shard.all_of(2))
    world.rule_latency = 10.0
    world.rule("rule", pool="n1")
    async with world.running():
        assert len(world.device_taints.rule_status) == 0
        election.appoint()
        await asyncio.sleep(1)
        election.leads = False
        leaving = asyncio.create_task(election.listener.lost_shard())
        await asyncio.sleep(8)
        assert not leaving.done()
        await asyncio.sleep(2)
        await leaving
        assert world.worker.held_shard.shard is None


async def test_nothing_is_written_before_all_is_listed():
    world = untainted()
    world.lists[Kind.CLAIMS] = False
    world.rule("rule", pool="n1")
    async with world.running():
        await asyncio.sleep(30)
        assert world.statuses == []
        world.relist(Kind.CLAIMS)
        await asyncio.sleep(1)
    assert world.said() == [(30.0, "False", NOT_STARTED)]


# What the API server answers.


async def test_a_write_that_fails_is_tried_until_it_is_taken():
    world = untainted()
    world.gpu_pod("a", patience(600))
    world.rule_failures = [ServerError("down", status=500)] * 5
    world.rule("rule", pool="n1")
    async with world.running():
        await asyncio.sleep(60)
    assert [one[1:] for one in world.said()] == [("True", PENDING)]
    assert written(world, "unreachable") == 5


async def test_a_write_that_is_forbidden_is_tried_more_and_more_rarely():
    world = untainted()
    world.rule_failures = [ForbiddenError("no", status=403)] * 1000
    world.rule("rule", pool="n1")
    async with world.running():
        await asyncio.sleep(3600)
    assert 5 < written(world, "denied") < 30


RULE_NOT_FOUND = NotFoundError(
    "gone",
    status=404,
    reason="NotFound",
    details={"group": "resource.k8s.io", "kind": "devicetaintrules", "name": "rule"},
)


@pytest.mark.parametrize(
    "failure", [RULE_NOT_FOUND, UidMismatchError("another", status=409)], ids=["404", "UID"]
)
async def test_a_rule_that_is_gone_is_left_alone(failure):
    world = untainted()
    world.rule_failures = [failure]
    world.rule("rule", pool="n1")
    async with world.running():
        await asyncio.sleep(100)
    assert world.statuses == []


async def test_a_server_that_does_not_answer_holds_up_neither_other_rules_nor_evictions():
    world = untainted(attempt_timeout=5.0)
    world.gpu_pod("a")
    world.rule_latency = 3600.0
    async with world.running():
        world.rule("rule", pool="n1")
        await asyncio.sleep(1)
        assert world.deletions() == {"a": 0.0}
        await asyncio.sleep(20)
        assert written(world, "unreachable") >= 2
        world.rule_latency = 0.0
        await asyncio.sleep(60)
    assert world.said()[-1][1:] == ("False", COMPLETED)


async def test_a_rule_recreated_under_its_name_starts_counting_anew():
    world = untainted()
    world.gpu_pod("a")
    async with world.running():
        world.rule("rule", pool="n1")
        await asyncio.sleep(20)
        assert world.told() == f"1 pod {EVICTED}"
        world.remove(Kind.RULES, "rule")
        world.rule("rule", uid="another", pool="n1")
        await asyncio.sleep(20)
    assert world.said()[-1][1:] == ("False", NOT_STARTED)
    assert world.told() == ""
