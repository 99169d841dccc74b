"""Device taints in the worker's evaluator: what a change costs until the last timer is set.

`python -m benchmarks.device_worker`. The fleet of `benchmarks.device_taints`, as the watches tell
of it: 20,000 devices, claims and pods on 2,500 nodes. The yardstick is the same number of pods
without devices, whose nodes are tainted one after the other.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

from bailiff.cluster import Changed, Deleted, Replaced, Resource, WatchEvent
from bailiff.kinds import (
    DeviceTaintRule,
    Node,
    NodeMeta,
    NodeSpec,
    ObjectMeta,
    Pod,
    PodSpec,
    ResourceClaim,
    ResourceSlice,
    Taint,
    Toleration,
)
from bailiff.worker.systems import DeviceTaintsInWorker, NodeTaintsInWorker, Parts
from bailiff.worker.systems.device_taints.devices import Kind
from benchmarks.device_taints import (
    DEVICES,
    NODES,
    NOW,
    RULE,
    SILENT,
    TAINT,
    best,
    claimed,
    published,
)
from tests.harness.evaluating import Evaluating
from tests.harness.turns import straight_through

PODS = NODES * DEVICES
_GROUP = "resource.k8s.io", "v1"
SERVED: dict[Kind, Resource[Any]] = {
    Kind.SLICES: Resource(*_GROUP, "resourceslices", ResourceSlice, namespaced=False),
    Kind.CLAIMS: Resource(*_GROUP, "resourceclaims", ResourceClaim),
    Kind.RULES: Resource(*_GROUP, "devicetaintrules", DeviceTaintRule, namespaced=False),
}
TOLERATIONS = (Toleration(operator="Exists", effect="NoExecute", toleration_seconds=300),)


class StillClock:
    """No time passes."""

    def now(self) -> datetime:
        return NOW

    def monotonic(self) -> float:
        return 0.0

    def latest(self) -> datetime:
        return self.now()

    def elapsed(self) -> float:
        return 0.0


class Fleet(Evaluating):
    """A worker's evaluator and what it evaluates."""

    def __init__(self, pods: list[Pod]) -> None:
        clock = StillClock()
        super().__init__(clock, SILENT, (NodeTaintsInWorker, self._device_taints))
        nodes = tuple(node(number) for number in range(NODES))
        self.tell_node(Replaced(nodes, "1"))
        self.tell_pod(Replaced(tuple(pods), "1"))
        self.through()

    def _device_taints(self, parts: Parts) -> DeviceTaintsInWorker:
        system = DeviceTaintsInWorker(parts)
        self.devices = system.devices
        return system

    def tell(self, kind: Kind, event: WatchEvent[Any]) -> None:
        straight_through(self.devices.apply(kind, event))
        self.through()

    def expect(self, pods: int) -> None:
        assert len(self.pending) == pods, len(self.pending)


def node(number: int, *taints: Taint) -> Node:
    meta = NodeMeta(name=f"node-{number}")
    return Node(metadata=meta, spec=NodeSpec(taints=taints))


def with_devices() -> tuple[Fleet, tuple[ResourceClaim, ...]]:
    made = [claimed(number, device) for number in range(NODES) for device in range(DEVICES)]
    return Fleet([pod for _, pod in made]), tuple(claim for claim, _ in made)


def without_devices() -> Fleet:
    pods = []
    for number in range(PODS):
        name = f"worker-{number}"
        meta = ObjectMeta(name=name, namespace="default", uid=name)
        spec = PodSpec(node_name=f"node-{number % NODES}", tolerations=TOLERATIONS)
        pods.append(Pod(metadata=meta, spec=spec))
    return Fleet(pods)


def listed(fleet: Fleet, claims: tuple[ResourceClaim, ...]) -> float:
    """Milliseconds to take in the lists of everything."""
    slices = tuple(published(number) for number in range(NODES))
    start = time.perf_counter()
    straight_through(fleet.devices.follow(SERVED))
    for kind, items in ((Kind.SLICES, slices), (Kind.CLAIMS, claims), (Kind.RULES, ())):
        fleet.tell(kind, Replaced(items, "1"))
    return (time.perf_counter() - start) * 1000


def changed(fleet: Fleet, kind: Kind, event: WatchEvent[Any], pods: int) -> Callable[[], None]:
    """Tell of a change, and see that so many pods are to go."""

    def run() -> None:
        fleet.tell(kind, event)
        fleet.expect(pods)

    return run


def tainting(fleet: Fleet, *taints: Taint) -> Callable[[], None]:
    nodes = [node(number, *taints) for number in range(NODES)]

    def run() -> None:
        for one in nodes:
            fleet.tell_node(Changed(one))
        fleet.through()
        fleet.expect(PODS if taints else 0)

    return run


def main() -> None:
    plain = without_devices()
    evict = Taint(key="maintenance", effect="NoExecute", time_added=NOW)
    yardstick = best(tainting(plain, evict), tainting(plain))
    fleet, claims = with_devices()
    taken_in = listed(fleet, claims)
    rule = best(
        changed(fleet, Kind.RULES, Changed(RULE), PODS),
        changed(fleet, Kind.RULES, Deleted(RULE), 0),
    )
    one = best(
        changed(fleet, Kind.SLICES, Changed(published(7, TAINT)), DEVICES),
        changed(fleet, Kind.SLICES, Changed(published(7)), 0),
    )
    print(f"{PODS:,} pods, milliseconds until the last timer is set")
    print(f"yardstick: node taints, {NODES:,} nodes            {yardstick:8.1f}")
    print(f"the lists of slices, claims and rules        {taken_in:8.1f}")
    print(f"a rule on all devices                        {rule:8.1f}  {rule / yardstick:.1f}x")
    print(f"one slice: {DEVICES} pods                            {one:8.2f}")


if __name__ == "__main__":
    main()
