"""Device taints: 20,000 devices and claims judged anew, and one slice changed.

`python -m benchmarks.device_taints`. 2,500 nodes of 8 devices each, every device claimed by a pod.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime

from bailiff.decisions import Options
from bailiff.decisions.device_taints import DeviceTaintIndex
from bailiff.kinds import (
    AllocationResult,
    Device,
    DeviceAllocationResult,
    DeviceRequestAllocationResult,
    DeviceTaint,
    DeviceTaintRule,
    DeviceTaintRuleSpec,
    DeviceTaintSelector,
    DeviceToleration,
    ObjectMeta,
    Pod,
    PodResourceClaim,
    PodSpec,
    ResourceClaim,
    ResourceClaimConsumerReference,
    ResourceClaimStatus,
    ResourcePool,
    ResourceSlice,
    ResourceSliceSpec,
)

NODES, DEVICES = 2500, 8
NOW = datetime(2026, 1, 1, tzinfo=UTC)
SILENT = Options(explain=False)
ROUNDS = 5
DRIVER = "gpu.example.com"
TAINT = DeviceTaint(key="example.com/unhealthy", effect="NoExecute", time_added=NOW)
TOLERATIONS = (DeviceToleration(operator="Exists", effect="NoExecute", toleration_seconds=300),)
RULE = DeviceTaintRule(
    metadata=ObjectMeta(name="all", uid="all"),
    spec=DeviceTaintRuleSpec(device_selector=DeviceTaintSelector(driver=DRIVER), taint=TAINT),
)


def published(node: int, *taints: DeviceTaint) -> ResourceSlice:
    devices = tuple(Device(name=f"gpu-{number}", taints=taints) for number in range(DEVICES))
    pool = ResourcePool(name=f"node-{node}", generation=1)
    return ResourceSlice(
        metadata=ObjectMeta(name=f"slice-{node}", uid=f"slice-{node}"),
        spec=ResourceSliceSpec(driver=DRIVER, pool=pool, devices=devices),
    )


def claimed(node: int, device: int) -> tuple[ResourceClaim, Pod]:
    name = f"worker-{node}-{device}"
    result = DeviceRequestAllocationResult(
        driver=DRIVER, pool=f"node-{node}", device=f"gpu-{device}", tolerations=TOLERATIONS
    )
    status = ResourceClaimStatus(
        allocation=AllocationResult(devices=DeviceAllocationResult(results=(result,))),
        reserved_for=(ResourceClaimConsumerReference(resource="pods", name=name, uid=name),),
    )
    meta = ObjectMeta(name=name, namespace="default", uid=name)
    entry = PodResourceClaim(name="gpu", resource_claim_name=name)
    spec = PodSpec(node_name=f"node-{node}", resource_claims=(entry,))
    return ResourceClaim(metadata=meta, status=status), Pod(metadata=meta, spec=spec)


def filled() -> DeviceTaintIndex:
    index = DeviceTaintIndex()
    for node in range(NODES):
        index.apply_slice(published(node))
        for device in range(DEVICES):
            claim, pod = claimed(node, device)
            index.apply_claim(claim)
            index.apply_pod(pod)
    return index


def best(run: Callable[[], object], undo: Callable[[], object] = lambda: None) -> float:
    """Milliseconds, best round."""
    figures = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        run()
        figures.append((time.perf_counter() - start) * 1000)
        undo()
    return min(figures)


def main() -> None:
    index = filled()
    pods = list(index.pods.values())

    def taint_all() -> None:
        assert len(index.apply_rule(RULE).pods) == len(pods)

    def free_all() -> None:
        index.delete_rule("all")

    def decide_all() -> None:
        for pod in pods:
            index.decide(pod, NOW, SILENT)

    def taint_one() -> None:
        assert len(index.apply_slice(published(7, TAINT)).pods) == DEVICES

    def free_one() -> None:
        assert len(index.apply_slice(published(7)).pods) == DEVICES

    print(f"{len(pods):,} devices, claims and pods, milliseconds")
    print(f"a rule on all of them: every claim judged anew  {best(taint_all, free_all):8.2f}")
    index.apply_rule(RULE)
    print(f"every pod decided                               {best(decide_all):8.2f}")
    index.delete_rule("all")
    print(
        f"one slice tainted: its {DEVICES} claims, anew           {best(taint_one, free_one):8.2f}"
    )


if __name__ == "__main__":
    main()
