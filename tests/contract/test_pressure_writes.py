"""What acting on pressure writes: conditions of nodes, the end of pods, and asking by the proxy."""

from __future__ import annotations

import socket

import pytest

from bailiff import cluster as k8s
from bailiff.cluster import PatchType, Request
from tests.harness.addresses import own_address
from tests.harness.api import NODES, PODS, STRANGER, Bench, uid_of, version_of
from tests.harness.applying import apply
from tests.harness.objects import Object, condition, object_of

pytestmark = pytest.mark.parity

STARTED, LATER = "2026-01-01T00:00:00Z", "2026-01-01T00:00:10Z"
EVICTED: Object = {
    "phase": "Failed",
    "reason": "Evicted",
    "message": "The node was low on resource: memory. ",
}


def pressure(kind: str, status: str, heartbeat: str = STARTED) -> Object:
    """A condition as a kubelet words it."""
    times = {"lastTransitionTime": STARTED, "lastHeartbeatTime": heartbeat}
    return condition(kind, status, reason="KubeletHasSufficientMemory", message="m") | times


async def say(bench: Bench, node: str, *conditions: Object, **patch: object) -> Object:
    """Write conditions of a node as the chart's worker does."""
    body: Object = {"status": {"conditions": list(conditions)}} | patch
    return await bench.cluster.patch(NODES, node, "", body, subresource="status")


def told(node: Object) -> dict[str, str]:
    return {one["type"]: one["status"] for one in node["status"].get("conditions", [])}


async def test_conditions_of_a_node_merge_by_type(bench: Bench) -> None:
    name = await bench.node()
    await say(bench, name, pressure("Ready", "True"))
    await say(bench, name, pressure("MemoryPressure", "True"), pressure("PIDPressure", "False"))
    beat = {"type": "MemoryPressure", "lastHeartbeatTime": LATER}
    after = await say(bench, name, beat)
    assert told(after) == {"Ready": "True", "MemoryPressure": "True", "PIDPressure": "False"}
    (found,) = [one for one in after["status"]["conditions"] if one["type"] == "MemoryPressure"]
    assert found == pressure("MemoryPressure", "True", LATER)


async def test_one_condition_of_a_node_is_taken_away(bench: Bench) -> None:
    name = await bench.node()
    await say(bench, name, pressure("Ready", "True"), pressure("MemoryPressure", "True"))
    after = await say(bench, name, {"type": "MemoryPressure", "$patch": "delete"})
    assert told(after) == {"Ready": "True"}


async def test_a_merge_patch_replaces_all_conditions_of_a_node(bench: Bench) -> None:
    name = await bench.node()
    await say(bench, name, pressure("Ready", "True"))
    body = {"status": {"conditions": [pressure("MemoryPressure", "True")]}}
    merge = PatchType.MERGE
    after = await bench.cluster.patch(NODES, name, "", body, patch_type=merge, subresource="status")
    assert told(after) == {"MemoryPressure": "True"}


async def test_conditions_of_a_node_are_applied_by_type_and_owned(bench: Bench) -> None:
    name = await bench.node()
    await say(bench, name, pressure("Ready", "True"))
    mine = pressure("MemoryPressure", "True")
    config = object_of("Node", name, status={"conditions": [mine]})
    after = await apply(bench, NODES, config, "one", "status")
    assert told(after) == {"Ready": "True", "MemoryPressure": "True"}
    config["status"]["conditions"] = [pressure("DiskPressure", "False")]
    after = await apply(bench, NODES, config, "one", "status")
    assert told(after) == {"Ready": "True", "DiskPressure": "False"}, "what is applied no more goes"


@pytest.mark.parametrize("patch_type", [PatchType.STRATEGIC, PatchType.MERGE])
async def test_conditions_are_written_to_the_node_that_is_meant(
    bench: Bench, patch_type: PatchType
) -> None:
    """Not to one that has its name since."""
    name = await bench.node()
    node = await bench.cluster.get(NODES, name)
    body: Object = {"status": {"conditions": [pressure("MemoryPressure", "True")]}}
    with pytest.raises(k8s.UidMismatchError):
        await bench.cluster.patch(
            NODES,
            name,
            "",
            body | {"metadata": {"uid": STRANGER}},
            patch_type=patch_type,
            subresource="status",
        )
    assert version_of(await bench.cluster.get(NODES, name)) == version_of(node)
    after = await bench.cluster.patch(
        NODES,
        name,
        "",
        body | {"metadata": {"uid": uid_of(node)}},
        patch_type=patch_type,
        subresource="status",
    )
    assert told(after) == {"MemoryPressure": "True"}


async def test_conditions_of_an_old_version_of_a_node_are_a_conflict(bench: Bench) -> None:
    name = await bench.node()
    version = version_of(await bench.cluster.get(NODES, name))
    await say(bench, name, pressure("Ready", "True"))
    with pytest.raises(k8s.ConflictError) as caught:
        await say(
            bench,
            name,
            pressure("MemoryPressure", "True"),
            metadata={"resourceVersion": version},
        )
    assert not isinstance(caught.value, k8s.UidMismatchError)


async def test_the_status_of_a_node_leaves_its_spec_and_the_other_way_round(bench: Bench) -> None:
    name = await bench.node()
    await say(bench, name, pressure("Ready", "True"))
    after = await say(
        bench,
        name,
        pressure("MemoryPressure", "True"),
        spec={"unschedulable": True},
        metadata={"annotations": {"example.com/a": "b"}},
    )
    assert "unschedulable" not in after["spec"]
    assert after["metadata"]["annotations"]["example.com/a"] == "b"
    body = {"status": {"conditions": [pressure("Ready", "False")]}, "spec": {"unschedulable": True}}
    after = await bench.cluster.patch(NODES, name, "", body)
    assert told(after) == {"Ready": "True", "MemoryPressure": "True"}
    assert after["spec"]["unschedulable"] is True


async def test_conditions_that_say_nothing_new_make_no_new_version(bench: Bench) -> None:
    name = await bench.node()
    once = await say(bench, name, pressure("MemoryPressure", "True"))
    twice = await say(bench, name, pressure("MemoryPressure", "True"))
    assert version_of(once) == version_of(twice)


async def test_conditions_of_a_node_that_is_gone_are_not_found(bench: Bench) -> None:
    with pytest.raises(k8s.NotFoundError):
        await say(bench, "no-such-node", pressure("MemoryPressure", "True"))


async def end(bench: Bench, pod: Object) -> Object:
    """The status that goes with an eviction."""
    target = condition("DisruptionTarget", "True", reason="TerminationByKubelet", message="m")
    body = {
        "metadata": {"uid": uid_of(pod)},
        "status": EVICTED | {"conditions": [target | {"observedGeneration": 1}]},
    }
    name = pod["metadata"]["name"]
    return await bench.cluster.patch(PODS, name, bench.namespace, body, subresource="status")


async def test_a_pod_that_is_being_deleted_is_ended_and_stays_for_its_grace(bench: Bench) -> None:
    node = await bench.node()
    pod = await bench.pod("a", node=node)
    await bench.set_status(pod, phase="Running", conditions=[condition("Ready")])
    await bench.cluster.delete(PODS, "a", bench.namespace, uid=uid_of(pod), grace_period_seconds=30)
    after = await end(bench, pod)
    assert EVICTED.items() <= after["status"].items()
    assert told(after) == {"Ready": "True", "DisruptionTarget": "True"}
    (target,) = [o for o in after["status"]["conditions"] if o["type"] == "DisruptionTarget"]
    assert target["observedGeneration"] == 1
    assert after["metadata"]["deletionGracePeriodSeconds"] == 30
    # That it has ended shortens nothing: its kubelet says when it is over.
    await bench.cluster.delete(PODS, "a", bench.namespace, uid=uid_of(pod))
    assert (await bench.get("a"))["metadata"]["deletionGracePeriodSeconds"] == 30
    await bench.cluster.delete(PODS, "a", bench.namespace, grace_period_seconds=0)
    with pytest.raises(k8s.NotFoundError):
        await bench.get("a")


async def test_a_pod_that_has_ended_is_deleted_at_once(bench: Bench) -> None:
    node = await bench.node()
    pod = await bench.pod("a", node=node)
    after = await end(bench, pod)
    assert after["status"]["reason"] == "Evicted"
    await bench.cluster.delete(PODS, "a", bench.namespace, uid=uid_of(pod), grace_period_seconds=30)
    with pytest.raises(k8s.NotFoundError):
        await bench.get("a")


async def summary_by_proxy(bench: Bench, node: str) -> bytes:
    return await bench.cluster.send(Request("GET", f"/api/v1/nodes/{node}/proxy/stats/summary"))


async def test_the_summary_of_a_node_that_is_not_there(bench: Bench) -> None:
    with pytest.raises(k8s.NotFoundError, match='nodes "no-such-node" not found'):
        await summary_by_proxy(bench, "no-such-node")


async def test_the_summary_of_a_node_whose_kubelet_does_not_listen(bench: Bench) -> None:
    name, host = await bench.node(), own_address()
    with socket.socket() as held:
        # Bound, so that nobody else gets the port, and not listening.
        held.bind((host, 0))
        port = held.getsockname()[1]
        status = {
            "addresses": [{"type": "InternalIP", "address": host}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": port}},
        }
        await bench.cluster.patch(NODES, name, "", {"status": status}, subresource="status")
        with pytest.raises(k8s.ClusterError) as caught:
            await summary_by_proxy(bench, name)
    assert caught.value.status == 503
    refused = f"dial tcp {host}:{port}: connect: connection refused"
    assert f"error trying to reach service: {refused}" in caught.value.message
