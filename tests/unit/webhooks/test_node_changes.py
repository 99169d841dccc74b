"""`validate/nodes`: who taints a node is told what that evicts."""

from __future__ import annotations

import pytest

from bailiff.kinds import (
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
from tests.harness.node_changes import NEW, OF_NODE, OF_TAINT, OLD, RADIUS, pods

# However busy the machine, an answer is in time.
pytestmark = pytest.mark.looptime


def budget(name: str = "web", namespace: str = "default") -> PodDisruptionBudget:
    return PodDisruptionBudget(
        metadata=ObjectMeta(name=name, namespace=namespace),
        spec=PodDisruptionBudgetSpec(selector=LabelSelector(match_labels={"app": "web"})),
    )


async def test_who_goes_and_when_is_told_with_the_budget() -> None:
    later = [pod_of(f"later-{one}", "n", tolerating(seconds=300)) for one in range(5)]
    said = await Hooked(*pods(37), *later, budget()).change("nodes", OLD, NEW)
    assert said["allowed"]
    told = "evicts 37 pods now, 5 in 300 s; PodDisruptionBudget default/web would be violated"
    assert said["warnings"] == [told + OF_NODE]


async def test_several_budgets_are_told_one_by_one() -> None:
    budgets = [budget(f"b{number}") for number in range(7)]
    said = await Hooked(*pods(1), *budgets).change("nodes", OLD, NEW)
    assert said["warnings"] == [
        f"evicts 1 pod now{OF_TAINT}",
        *(
            f"PodDisruptionBudget default/b{number} would be violated{OF_NODE}"
            for number in range(5)
        ),
        f"2 more PodDisruptionBudgets would be violated{OF_NODE}",
    ]


async def test_a_budget_of_pods_that_go_later_is_not_violated() -> None:
    later = pod_of("later", "n", tolerating(seconds=60), labels={"app": "web"})
    hooked = Hooked(later, budget())
    said = await hooked.change("nodes", OLD, NEW)
    assert said["warnings"] == [f"evicts 1 pod in 60 s{OF_TAINT}"]
    assert hooked.source.kinds == ["Pod"]


async def test_budgets_that_it_would_take_long_to_go_through_are_not_looked_at() -> None:
    crowd = [budget(f"b{number}") for number in range(1_000)]
    said = await Hooked(*pods(1_000), *crowd).change("nodes", OLD, NEW)
    told = f"not looked at: 1000 PodDisruptionBudgets, too many to go through{OF_NODE}"
    assert said["warnings"] == [f"evicts 1000 pods now{OF_TAINT}", told]
    elsewhere = [budget(f"b{number}", "elsewhere") for number in range(1_000)]
    said = await Hooked(*pods(37), *elsewhere).change("nodes", OLD, NEW)
    assert said["warnings"] == [f"evicts 37 pods now{OF_TAINT}"]


# In real time: a thread does not wait for a clock that leaps.
@pytest.mark.looptime(False)
async def test_what_takes_longer_is_done_where_nobody_waits_behind_it() -> None:
    crowd = [budget(f"b{number}") for number in range(300)]
    said = await Hooked(*pods(60), *crowd).change("nodes", OLD, NEW)
    assert said["warnings"][-1] == f"295 more PodDisruptionBudgets would be violated{OF_NODE}"


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
    told = f"evicts 37 pods now (bailiff: node n, node.kubernetes.io/{key}:NoExecute)"
    assert said["warnings"] == [told]


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
    assert said["warnings"] == [f"evicts 37 pods now (bailiff: node n, {key}:NoExecute)"]


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
    assert said["warnings"] == [f"not looked at: {error}{OF_NODE}"]


async def test_what_is_not_read_in_time_is_told_and_allowed() -> None:
    source = ShownSource(*pods(37), seconds=5)
    hooked = Hooked(radius=RADIUS, source=source, clock=LoopClock())
    said = await hooked.change("nodes", OLD, NEW)
    assert said["allowed"]
    assert said["warnings"] == [f"not looked at: Pods were not read in time{OF_NODE}"]
