"""`validate/nodes`: who taints a node is told what that evicts, and refused above the radius."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from bailiff.decisions.policies import BlastRadius
from bailiff.kinds import (
    Annotations,
    LabelSelector,
    Node,
    ObjectMeta,
    Pod,
    PodDisruptionBudget,
    PodDisruptionBudgetSpec,
)
from bailiff.lookup import FailedError, ForbiddenError
from tests.harness.changes import ShownSource
from tests.harness.clocks import LoopClock
from tests.harness.hooks import Hooked
from tests.harness.kinds import no_execute, node_of, pod_of, tolerating

# However busy the machine, an answer is in time.
pytestmark = pytest.mark.looptime

OLD, NEW = node_of("n"), node_of("n", no_execute())
RADIUS = BlastRadius(max_pods=2)


def pods(number: int, node: str = "n", **meta: Any) -> list[Pod]:
    return [pod_of(f"{node}-{one}", node, labels={"app": "web"}, **meta) for one in range(number)]


def budget(name: str = "web", namespace: str = "default") -> PodDisruptionBudget:
    return PodDisruptionBudget(
        metadata=ObjectMeta(name=name, namespace=namespace),
        spec=PodDisruptionBudgetSpec(selector=LabelSelector(match_labels={"app": "web"})),
    )


def acknowledging(node: Node, causes: str) -> Node:
    annotations = Annotations(acknowledged_taints=causes)
    return replace(node, metadata=replace(node.metadata, annotations=annotations))


async def test_who_goes_and_when_is_told_with_the_budget() -> None:
    later = [pod_of(f"later-{one}", "n", tolerating(seconds=300)) for one in range(5)]
    said = await Hooked(*pods(37), *later, budget()).change("nodes", OLD, NEW)
    assert said["allowed"]
    assert said["warnings"] == [
        "evicts 37 pods now, 5 in 300 s; PodDisruptionBudget default/web would be violated"
    ]


async def test_several_budgets_are_told_one_by_one() -> None:
    budgets = [budget(f"b{number}") for number in range(7)]
    said = await Hooked(*pods(1), *budgets).change("nodes", OLD, NEW)
    assert said["warnings"] == [
        "evicts 1 pod now",
        *(f"PodDisruptionBudget default/b{number} would be violated" for number in range(5)),
        "2 more PodDisruptionBudgets would be violated",
    ]


async def test_a_budget_of_pods_that_go_later_is_not_violated() -> None:
    later = pod_of("later", "n", tolerating(seconds=60), labels={"app": "web"})
    hooked = Hooked(later, budget())
    said = await hooked.change("nodes", OLD, NEW)
    assert said["warnings"] == ["evicts 1 pod in 60 s"]
    assert hooked.source.kinds == ["Pod"]


async def test_budgets_that_it_would_take_long_to_go_through_are_not_looked_at() -> None:
    crowd = [budget(f"b{number}") for number in range(1_000)]
    said = await Hooked(*pods(1_000), *crowd).change("nodes", OLD, NEW)
    told = "not looked at: 1000 PodDisruptionBudgets, too many to go through"
    assert said["warnings"] == ["evicts 1000 pods now", told]
    elsewhere = [budget(f"b{number}", "elsewhere") for number in range(1_000)]
    said = await Hooked(*pods(37), *elsewhere).change("nodes", OLD, NEW)
    assert said["warnings"] == ["evicts 37 pods now"]


# In real time: a thread does not wait for a clock that leaps.
@pytest.mark.looptime(False)
async def test_what_takes_longer_is_done_where_nobody_waits_behind_it() -> None:
    crowd = [budget(f"b{number}") for number in range(300)]
    said = await Hooked(*pods(60), *crowd).change("nodes", OLD, NEW)
    assert said["warnings"][-1] == "295 more PodDisruptionBudgets would be violated"


@pytest.mark.parametrize(
    ("old", "new"), [(NEW, OLD), (NEW, NEW), (OLD, OLD)], ids=["taken away", "kept", "none"]
)
async def test_what_brings_no_taint_is_allowed_without_a_look(old: Node, new: Node) -> None:
    hooked = Hooked(*pods(37), radius=RADIUS)
    said = await hooked.change("nodes", old, new)
    assert said["allowed"]
    assert "warnings" not in said
    assert hooked.source.kinds == []


NODE_CONTROLLERS = [
    "system:serviceaccount:kube-system:node-controller",
    "system:kube-controller-manager",
    "system:node:n",
]


@pytest.mark.parametrize("user", NODE_CONTROLLERS)
@pytest.mark.parametrize("key", ["not-ready", "unreachable"])
async def test_kubernetes_own_controllers_are_never_held_up(key: str, user: str) -> None:
    hooked = Hooked(*pods(37), radius=RADIUS)
    failing = node_of("n", no_execute(f"node.kubernetes.io/{key}"))
    said = await hooked.change("nodes", OLD, failing, userInfo={"username": user})
    assert said["allowed"]
    assert "warnings" not in said
    assert hooked.source.kinds == []


@pytest.mark.parametrize("key", ["not-ready", "unreachable"])
async def test_who_marks_a_node_as_failing_by_hand_is_told_and_not_refused(key: str) -> None:
    hooked = Hooked(*pods(37), radius=RADIUS)
    failing = node_of("n", no_execute(f"node.kubernetes.io/{key}"))
    said = await hooked.change("nodes", OLD, failing)
    assert said["allowed"]
    assert said["warnings"] == ["evicts 37 pods now"]


@pytest.mark.parametrize("user", ["ada", *NODE_CONTROLLERS[:2]])
@pytest.mark.parametrize(
    "key",
    [
        "node-role.kubernetes.io/control-plane",
        "node.cloudprovider.kubernetes.io/shutdown",
        "node.kubernetes.io/disk-pressure",
        "node.kubernetes.io/out-of-service",
        "node.alpha.kubernetes.io/notReady",
    ],
)
async def test_no_other_key_of_kubernetes_gets_around_the_radius(key: str, user: str) -> None:
    """No controller sets any of them with NoExecute: so nobody but people is held up."""
    tainted = node_of("n", no_execute(key))
    said = await Hooked(*pods(37), radius=RADIUS).change(
        "nodes", OLD, tainted, userInfo={"username": user}
    )
    assert not said["allowed"]
    assert said["warnings"] == ["evicts 37 pods now"]


async def test_more_than_the_radius_is_refused_until_the_node_acknowledges_it() -> None:
    hooked = Hooked(*pods(3), radius=RADIUS)
    said = await hooked.change("nodes", OLD, NEW)
    assert not said["allowed"]
    assert (said["status"]["code"], said["status"]["reason"]) == (403, "Forbidden")
    assert said["status"]["message"] == (
        "blastRadius: maintenance:NoExecute evicts 3 pods, more than 2; where that is meant, "
        "annotate Node n first: bailiff.dev/acknowledged-taints='maintenance:NoExecute'"
    )
    assert said["warnings"] == ["evicts 3 pods now"]
    said = await hooked.change("nodes", OLD, acknowledging(NEW, "maintenance:NoExecute"))
    assert said["allowed"]
    assert said["warnings"] == ["evicts 3 pods now"]


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
    assert said["warnings"] == ["evicts 1 pod now"]


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
        "evicts 5000 pods now",
        "not looked at: pods of the node beyond the first 5000",
    ]


async def test_a_kubelet_makes_its_node_with_whatever_taints() -> None:
    hooked = Hooked(*pods(37), radius=RADIUS)
    user = {"username": "system:node:n", "groups": ["system:nodes"]}
    said = await hooked.change("nodes", None, NEW, userInfo=user)
    assert said["allowed"]
    other = {"username": "system:node:other"}
    assert not (await hooked.change("nodes", None, NEW, userInfo=other))["allowed"]


@pytest.mark.parametrize("operation", ["DELETE", "CONNECT"])
async def test_other_operations_are_not_looked_at(operation: str) -> None:
    said = await Hooked(radius=RADIUS).change("nodes", OLD, NEW, operation=operation, object=None)
    assert said["allowed"]


@pytest.mark.parametrize("error", [ForbiddenError("no permission"), FailedError("no JSON")])
async def test_what_cannot_be_read_is_told_and_allowed(error: Exception) -> None:
    hooked = Hooked(*pods(37), radius=RADIUS)
    hooked.source.errors = {Pod: error}  # type: ignore[dict-item]
    said = await hooked.change("nodes", OLD, NEW)
    assert said["allowed"]
    assert said["warnings"] == [f"not looked at: {error}"]


async def test_what_is_not_read_in_time_is_told_and_allowed() -> None:
    source = ShownSource(*pods(37), seconds=5)
    hooked = Hooked(radius=RADIUS, source=source, clock=LoopClock())
    said = await hooked.change("nodes", OLD, NEW)
    assert said["allowed"]
    assert said["warnings"] == ["not looked at: Pods were not read in time"]


async def test_what_would_take_too_long_to_tell_is_refused_where_there_is_a_radius() -> None:
    taints = [no_execute(f"k{number}") for number in range(1000)]
    busy = pod_of("p", "n", *(tolerating(f"t{number}") for number in range(2000)))
    said = await Hooked(busy).change("nodes", OLD, node_of("n", *taints))
    assert said["allowed"]
    assert "takes too long to tell" in said["warnings"][0]
    said = await Hooked(busy, radius=RADIUS).change("nodes", OLD, node_of("n", *taints))
    assert not said["allowed"]
