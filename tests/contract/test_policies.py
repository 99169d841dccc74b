"""Upstream has no PDB, rate limit, pause, zone breaker or dry run: the row on API servers.

No controller of budgets runs, so the tests write what it would say. Other tests share the server:
limits here are those of a node, and breakers those of a zone, of a test's own.
"""

from __future__ import annotations

import secrets
from functools import partial

import pytest

from bailiff.cluster import (
    PODS,
    ConflictError,
    DisruptionBudgetError,
    PatchType,
    UidMismatchError,
)
from bailiff.decisions.policies import (
    BlastRadius,
    Breaker,
    Breakers,
    Cause,
    EvictionApi,
    Limit,
    Limits,
    Pause,
    PauseNotice,
    Policies,
)
from bailiff.worker import ClusterActions
from tests.harness.api import BUDGETS, NODES, STRANGER, uid_of, version_of
from tests.harness.budgets import budget, running
from tests.harness.objects import KEY, taint
from tests.harness.working import EVENTS, is_going, outlast, until

# Seconds; a pod that its budget blocks is tried again sooner.
NEXT_TRY = 90
BUDGETED = Policies(eviction_api=EvictionApi())
NOT_READY = "node.kubernetes.io/not-ready"


async def events(bench, pod, reason):
    listing = await bench.cluster.list(EVENTS, namespace=bench.namespace)
    return [
        (event["type"], event["message"])
        for event in listing.items
        if event["involvedObject"]["uid"] == uid_of(pod) and event["reason"] == reason
    ]


async def allow(bench, name="web", count=1):
    body = {"status": {"disruptionsAllowed": count}}
    merge = PatchType.MERGE
    await bench.cluster.patch(
        BUDGETS, name, bench.namespace, body, patch_type=merge, subresource="status"
    )


async def reason_of(bench, name="a"):
    """Who has marked the pod for its end."""
    pod = await bench.get(name)
    conditions = pod["status"].get("conditions", [])
    return next((c["reason"] for c in conditions if c["type"] == "DisruptionTarget"), "")


def held(worker, pod):
    """By what."""
    eviction = worker.pending.get(uid_of(pod))
    hold = None if eviction is None else worker.pending.held_by(eviction)
    return None if hold is None else hold.cause


async def tainted(bench, pod):
    await bench.taint(pod["spec"]["nodeName"], taint(KEY))


async def test_a_budget_blocks_and_lets_go(bench, worker, clock):
    worker.set_policies(BUDGETED)
    pod = await running(bench)
    await budget(bench)
    await tainted(bench, pod)
    await until(lambda: held(worker, pod) is Cause.BUDGET)
    assert not await is_going(bench, "a")
    assert await reason_of(bench) == ""
    await until(lambda: events(bench, pod, "EvictionBlocked"))
    ((kind, message),) = await events(bench, pod, "EvictionBlocked")
    assert kind == "Warning"
    assert "The disruption budget web needs 1 healthy pods and has 1 currently" in message
    await allow(bench)
    clock.skip(NEXT_TRY)
    await until(lambda: is_going(bench, "a"))
    assert await reason_of(bench) == "EvictionByEvictionAPI"


async def test_several_budgets_block_and_say_why(bench, worker):
    worker.set_policies(BUDGETED)
    pod = await running(bench)
    await budget(bench, "web", disruptionsAllowed=1)
    await budget(bench, "other", disruptionsAllowed=1)
    await tainted(bench, pod)
    await until(lambda: held(worker, pod) is Cause.BUDGET)
    assert not await is_going(bench, "a")
    await until(lambda: events(bench, pod, "EvictionBlocked"))
    ((_, message),) = await events(bench, pod, "EvictionBlocked")
    assert "more than one PodDisruptionBudget" in message


async def test_after_its_hard_deadline_a_pod_is_deleted_all_the_same(bench, worker, clock):
    worker.set_policies(Policies(eviction_api=EvictionApi(deadline_seconds=600)))
    pod = await running(bench)
    await budget(bench)
    await tainted(bench, pod)
    await until(lambda: held(worker, pod) is Cause.BUDGET)
    assert not await is_going(bench, "a")
    clock.skip(600)
    await until(lambda: is_going(bench, "a"))
    assert await reason_of(bench) == "DeletionByTaintManager"


async def test_a_pod_that_its_budget_holds_and_that_may_stay_is_cancelled(bench, worker, clock):
    worker.set_policies(BUDGETED)
    pod = await running(bench)
    await budget(bench)
    await tainted(bench, pod)
    await until(lambda: held(worker, pod) is Cause.BUDGET)
    await bench.taint(pod["spec"]["nodeName"])
    await until(lambda: worker.pending.get(uid_of(pod)) is None)
    await allow(bench)
    await outlast(bench, clock, NEXT_TRY)
    assert not await is_going(bench, "a")


async def test_an_eviction_holds_for_one_pod_in_one_version(bench, cluster):
    actions = ClusterActions(cluster, instance="test")
    pod = await running(bench)
    mirrored = await pod_as_mirrored(cluster, bench)
    await bench.set_status(pod, message="moved on")
    with pytest.raises(ConflictError):
        await actions.evict(mirrored)
    with pytest.raises(UidMismatchError):
        await cluster.evict("a", bench.namespace, STRANGER)
    assert not await is_going(bench, "a")
    await actions.evict(await pod_as_mirrored(cluster, bench))
    assert await is_going(bench, "a")


async def test_an_eviction_on_dry_run_asks_the_budget_and_spends_nothing(bench, cluster):
    actions = ClusterActions(cluster, instance="test", dry_run=True)
    pod = await running(bench)
    await budget(bench)
    mirrored = await pod_as_mirrored(cluster, bench)
    with pytest.raises(DisruptionBudgetError):
        await actions.evict(mirrored)
    await allow(bench)
    await actions.evict(mirrored)
    found = await cluster.get(BUDGETS, "web", bench.namespace)
    assert found["status"]["disruptionsAllowed"] == 1
    assert version_of(await bench.get("a")) == mirrored.metadata.resource_version
    assert uid_of(pod) == mirrored.metadata.uid


async def pod_as_mirrored(cluster, bench):
    return await cluster.get(PODS, "a", bench.namespace)


async def test_a_rate_limit_lets_its_burst_go_and_no_more(bench, worker):
    slowly = Limit(per_second=0.001, burst=2)
    worker.set_policies(Policies(limits=Limits(per_node=slowly)))
    node = await bench.node()
    pods = [await bench.pod(f"pod-{number}", node=node) for number in range(5)]
    await bench.taint(node, taint(KEY))

    async def gone():
        return sum([await is_going(bench, f"pod-{number}") for number in range(5)])

    async def two():
        return await gone() == 2

    await until(two)
    await until(lambda: sum(held(worker, pod) is Cause.RATE_LIMITED for pod in pods) == 3)
    assert await gone() == 2
    worker.set_policies(Policies())

    async def all_of_them():
        return await gone() == 5

    await until(all_of_them)


async def test_a_pause_holds_with_an_event_and_lets_go(bench, worker):
    worker.set_policies(Policies(pause=Pause(namespace="kube-system")))
    worker.set_pause(PauseNotice(by="anna", reason="migration"))
    pod = await running(bench)
    await tainted(bench, pod)
    await until(lambda: events(bench, pod, "EvictionHeld"))
    why = f"Eviction of Pod {bench.namespace}/a is held (paused): paused by anna: migration"
    assert await events(bench, pod, "EvictionHeld") == [("Normal", why)]
    assert not await is_going(bench, "a")
    worker.set_pause(None)
    await until(lambda: is_going(bench, "a"))


async def test_a_zone_of_which_most_nodes_fail_is_left_alone_until_it_recovers(bench, worker):
    zone = f"zone-{secrets.token_hex(4)}"
    worker.set_policies(Policies(breakers=Breakers(zone=Breaker())))
    nodes = [await bench.node() for _ in range(4)]
    for node in nodes:
        labels = {"metadata": {"labels": {"topology.kubernetes.io/zone": zone}}}
        await bench.cluster.patch(NODES, node, "", labels, patch_type=PatchType.MERGE)
        await bench.taint(node, taint(NOT_READY))
    zones = worker.gate.facts.zones
    await until(lambda: zones.state(zone).level == "stopped")
    # Without one of its own a pod is given 300 seconds (DefaultTolerationSeconds).
    hasty = {"key": NOT_READY, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0}
    pod = await bench.pod("a", node=nodes[0], tolerations=[hasty])
    await until(lambda: held(worker, pod) is Cause.BREAKER_OPEN)
    assert not await is_going(bench, "a")
    for node in nodes[1:]:
        await bench.taint(node)
    await until(lambda: is_going(bench, "a"))


async def test_a_taint_that_evicts_too_much_waits_to_be_acknowledged(bench, worker):
    value = secrets.token_hex(4)
    worker.set_policies(Policies(blast_radius=BlastRadius(max_pods=2)))
    node = await bench.node()
    pods = [await bench.pod(f"pod-{number}", node=node) for number in range(3)]
    await bench.taint(node, taint(KEY, value))
    await until(lambda: all(held(worker, pod) is Cause.BLAST_RADIUS for pod in pods))
    note = {"bailiff.dev/acknowledged-taints": f"{KEY}={value}:NoExecute"}
    body = {"metadata": {"annotations": note}}
    await bench.cluster.patch(NODES, node, "", body, patch_type=PatchType.MERGE)
    for number in range(3):
        await until(partial(is_going, bench, f"pod-{number}"))
