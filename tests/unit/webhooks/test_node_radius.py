"""`validate/nodes`: what is refused above the blast radius, and until when."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from bailiff.decisions import Wanted
from bailiff.decisions.policies import BlastRadius
from bailiff.kinds import Node, Pod
from tests.harness.changes import ShownSource
from tests.harness.clocks import LoopClock
from tests.harness.hooks import Hooked
from tests.harness.kinds import no_execute, node_of, pod_of, tolerating
from tests.harness.node_changes import (
    NEW,
    OF_NODE,
    OF_TAINT,
    OLD,
    RADIUS,
    acknowledging,
    pods,
)

if TYPE_CHECKING:
    from bailiff.kinds.meta import Value

# However busy the machine, an answer is in time.
pytestmark = pytest.mark.looptime


async def test_more_than_the_radius_is_refused_until_the_node_acknowledges_it() -> None:
    hooked = Hooked(*pods(3), radius=RADIUS)
    said = await hooked.change("nodes", OLD, NEW)
    assert not said["allowed"]
    assert (said["status"]["code"], said["status"]["reason"]) == (403, "Forbidden")
    assert said["status"]["message"] == (
        "blastRadius: maintenance:NoExecute evicts 3 pods, more than 2; where that is meant, "
        "annotate Node n first: bailiff.dev/acknowledged-taints='maintenance:NoExecute'"
    )
    assert said["warnings"] == [f"evicts 3 pods now{OF_TAINT}"]
    said = await hooked.change("nodes", OLD, acknowledging(NEW, "maintenance:NoExecute"))
    assert said["allowed"]
    assert said["warnings"] == [f"evicts 3 pods now{OF_TAINT}"]


async def test_what_the_node_acknowledges_already_stays_in_the_advice() -> None:
    said = await Hooked(*pods(3), radius=RADIUS).change(
        "nodes", OLD, acknowledging(NEW, "other:NoExecute")
    )
    advice = "bailiff.dev/acknowledged-taints='other:NoExecute,maintenance:NoExecute'"
    assert said["status"]["message"].endswith(advice)


async def test_as_many_as_the_radius_are_allowed() -> None:
    assert (await Hooked(*pods(2), radius=RADIUS).change("nodes", OLD, NEW))["allowed"]


async def test_the_same_taint_on_other_nodes_counts() -> None:
    others = [node_of("other", no_execute()), *pods(2, "other")]
    said = await Hooked(*pods(1), *others, radius=RADIUS).change("nodes", OLD, NEW)
    assert not said["allowed"]
    assert "evicts 3 pods, more than 2" in said["status"]["message"]
    assert said["warnings"] == [f"evicts 1 pod now{OF_TAINT}"]


async def test_nodes_that_are_tainted_one_after_the_other_count_together() -> None:
    """Whatever the list of nodes said a second ago: who allows a taint knows of it."""
    hooked = Hooked(OLD, node_of("m"), *pods(2), *pods(2, "m"), radius=RADIUS)
    assert (await hooked.change("nodes", OLD, NEW, dryRun=True))["allowed"]
    said = await hooked.change("nodes", node_of("m"), node_of("m", no_execute()))
    assert said["allowed"]
    said = await hooked.change("nodes", OLD, NEW)
    assert "evicts 4 pods, more than 2" in said["status"]["message"]
    assert hooked.source.kinds.count("Node") == 1


async def test_a_taint_that_was_refused_is_not_there() -> None:
    hooked = Hooked(OLD, node_of("m"), *pods(3), *pods(2, "m"), radius=RADIUS)
    assert not (await hooked.change("nodes", OLD, NEW))["allowed"]
    assert (await hooked.change("nodes", node_of("m"), node_of("m", no_execute())))["allowed"]


async def test_a_taint_that_was_taken_away_counts_no_more() -> None:
    hooked = Hooked(OLD, node_of("m"), *pods(2), *pods(2, "m"), radius=RADIUS)
    tainted = node_of("m", no_execute())
    assert (await hooked.change("nodes", node_of("m"), tainted))["allowed"]
    assert (await hooked.change("nodes", tainted, node_of("m")))["allowed"]
    assert (await hooked.change("nodes", OLD, NEW))["allowed"]


async def test_a_fraction_of_a_namespace_is_too_much() -> None:
    there = [*pods(4, namespace="shop"), *pods(3, "other", namespace="shop")]
    ended = [pod_of(f"e{one}", "other", phase="Failed", namespace="shop") for one in range(9)]
    radius = BlastRadius(max_namespace_fraction=0.5)
    said = await Hooked(*there, *ended, radius=radius).change("nodes", OLD, NEW)
    assert (
        "maintenance:NoExecute evicts 4 of 7 pods (57.1 %) of namespace shop, more than 50 %"
        in said["status"]["message"]
    )
    more = pods(1, "third", namespace="shop")
    assert (await Hooked(*there, *more, radius=radius).change("nodes", OLD, NEW))["allowed"]


async def test_of_a_namespace_with_too_many_pods_it_is_not_known() -> None:
    there = [*pods(60, namespace="shop"), *pods(5_000, "other", namespace="shop")]
    radius = BlastRadius(max_namespace_fraction=0.01)
    said = await Hooked(*there, radius=radius).change("nodes", OLD, NEW)
    assert "not looked at: pods of namespace shop beyond 5000" in said["status"]["message"]


async def test_nor_of_more_namespaces_than_are_counted() -> None:
    there = [
        pod
        for number in range(52)
        for node in ("n", "other")
        for pod in pods(5 if node == "n" else 6, node, namespace=f"ns-{number}")
    ]
    radius = BlastRadius(max_namespace_fraction=0.5)
    said = await Hooked(*there, radius=radius).change("nodes", OLD, NEW)
    assert "not looked at: pods of 2 more namespaces" in said["status"]["message"]
    few = [pod for pod in there if not pod.metadata.namespace.startswith("ns-5")]
    assert (await Hooked(*few, radius=radius).change("nodes", OLD, NEW))["allowed"]


async def test_no_namespace_is_counted_that_cannot_exceed_anything() -> None:
    hooked = Hooked(*pods(2), radius=BlastRadius(max_namespace_fraction=0.5))
    assert (await hooked.change("nodes", OLD, NEW))["allowed"]
    assert hooked.source.kinds == ["Pod", "Node", "PodDisruptionBudget"]


async def test_too_many_pods_are_above_the_radius() -> None:
    hooked = Hooked(*pods(5001), radius=BlastRadius(max_pods=100_000))
    said = await hooked.change("nodes", OLD, NEW)
    assert (
        "maintenance:NoExecute evicts 5000 pods or more, not looked at: pods of the node beyond "
        "the first 5000" in said["status"]["message"]
    )
    assert said["warnings"] == [
        f"evicts 5000 pods now{OF_TAINT}",
        f"not looked at: pods of the node beyond the first 5000{OF_NODE}",
    ]


async def test_a_kubelet_makes_its_node_with_whatever_taints() -> None:
    hooked = Hooked(*pods(37), radius=RADIUS)
    user = {"username": "system:node:n", "groups": ["system:nodes"]}
    said = await hooked.change("nodes", None, NEW, userInfo=user)
    assert said["allowed"]
    other = {"username": "system:node:other"}
    assert not (await hooked.change("nodes", None, NEW, userInfo=other))["allowed"]


async def test_what_would_take_too_long_to_tell_is_refused_where_there_is_a_radius() -> None:
    taints = [no_execute(f"k{number}") for number in range(1000)]
    busy = pod_of("p", "n", *(tolerating(f"t{number}") for number in range(2000)))
    said = await Hooked(busy).change("nodes", OLD, node_of("n", *taints))
    assert said["allowed"]
    assert "takes too long to tell" in said["warnings"][0]
    said = await Hooked(busy, radius=RADIUS).change("nodes", OLD, node_of("n", *taints))
    assert not said["allowed"]
    assert said["status"]["message"].endswith("; make it in smaller steps")


def costly() -> tuple[Node, Pod]:
    """A node whose last taint would take too long to hold against all tolerations of a pod."""
    taints = [no_execute(f"k{number}") for number in range(500)]
    busy = pod_of("p", "n", *(tolerating(f"t{number}") for number in range(2000)))
    return node_of("n", *taints), busy


async def test_what_takes_too_long_to_tell_passes_once_it_is_acknowledged() -> None:
    old, busy = costly()
    new = node_of("n", *old.spec.taints, no_execute())
    said = await Hooked(busy, radius=RADIUS).change("nodes", old, new)
    assert said["status"]["message"].endswith(
        "; make it in smaller steps; where that is meant, annotate Node n first: "
        "bailiff.dev/acknowledged-taints='maintenance:NoExecute'"
    )
    acknowledged = acknowledging(new, "maintenance:NoExecute")
    said = await Hooked(busy, radius=RADIUS).change("nodes", old, acknowledged)
    assert said["allowed"]
    assert said["warnings"][0].startswith("not looked at: what the change evicts takes too long")
    more = acknowledging(node_of("n", *new.spec.taints, no_execute("b")), "maintenance:NoExecute")
    said = await Hooked(busy, radius=RADIUS).change("nodes", old, more)
    assert said["status"]["message"].endswith("='maintenance:NoExecute,b:NoExecute'")


async def test_nothing_is_counted_for_what_is_acknowledged() -> None:
    others = [node_of("other", no_execute()), *pods(2, "other")]
    radius = BlastRadius(max_namespace_fraction=0.1)
    hooked = Hooked(*pods(60), *others, radius=radius)
    said = await hooked.change("nodes", OLD, acknowledging(NEW, "maintenance:NoExecute"))
    assert said["allowed"]
    assert hooked.source.kinds == ["Pod", "PodDisruptionBudget"], "only the node's own pods"


class SlowNodes(ShownSource):
    """A list of nodes takes three seconds."""

    async def see(self, wanted: Wanted) -> tuple[Value, ...]:
        found = await super().see(wanted)
        await asyncio.sleep(3 if wanted == Wanted(Node) else 0.01)
        return found


@pytest.mark.parametrize("at_once", [1, 5])
async def test_where_nodes_are_listed_slowly_what_was_allowed_counts(
    at_once: int,
) -> None:
    names = [f"m{number}" for number in range(60)]
    source = SlowNodes(*map(node_of, names), *(pod for name in names for pod in pods(3, name)))
    hooked = Hooked(radius=BlastRadius(max_pods=10), source=source, clock=LoopClock())

    async def taints(name: str) -> bool:
        tainted = node_of(name, no_execute())
        said = await hooked.change("nodes", node_of(name), tainted)
        if said["allowed"]:
            source.shown.objects.remove(node_of(name))
            source.shown.objects.append(tainted)
        return bool(said["allowed"])

    allowed = 0
    for first in range(0, len(names), at_once):
        allowed += sum(await asyncio.gather(*map(taints, names[first : first + at_once])))
        await asyncio.sleep(0.5)
    assert 3 <= allowed <= 3 + at_once - 1
