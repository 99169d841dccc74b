"""The devices of a question, made ready to be asked about; and what is said without them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from bailiff.decisions.decision import Finding, TraceStep, Verdict
from bailiff.decisions.device_taints import SYSTEM, DeviceTaintIndex

if TYPE_CHECKING:
    from collections.abc import Collection

    from bailiff.decisions.bounds import DeviceObjects
    from bailiff.kinds import Node, Pod, ResourceSlice

# Any name will do: only whether there is one counts.
_UNNAMED_NODE = "(unnamed)"


def index_of(facts: DeviceObjects) -> DeviceTaintIndex:
    """An index of the devices, claims and rules of a question; of no pods.

    Of objects of one name the last counts. Every object is taken in once and touches nothing that
    stands already (slices first, of those that count only, then rules, then claims), so that no
    question costs more than its length.
    """
    index = DeviceTaintIndex()
    slices = {one.metadata.name: one for one in facts.resource_slices}
    for one in _newest(slices.values()):
        index.apply_slice(one)
    for rule in {one.metadata.name: one for one in facts.device_taint_rules}.values():
        index.apply_rule(rule)
    claims = {(c.metadata.namespace, c.metadata.name): c for c in facts.resource_claims}
    for claim in claims.values():
        index.apply_claim(claim)
    return index


def as_if_on(node: Node | None, pod: Pod) -> Pod:
    """A pod without a node, as if it ran on this one; the same pod otherwise."""
    if node is None or pod.spec.node_name:
        return pod
    name = node.metadata.name or _UNNAMED_NODE
    return replace(pod, spec=replace(pod.spec, node_name=name))


def devices_not_read(why: str) -> Finding:
    """For a pod with claims where Bailiff could not see them: it may have to go."""
    return _keep("DevicesNotRead", f"the pod uses devices, whose taints are not known: {why}")


def devices_not_served() -> Finding:
    """For a pod with claims in a cluster that serves none."""
    return _keep("DevicesNotServed", "the cluster serves no devices (resource.k8s.io)")


def device_eviction_off() -> Finding:
    """For a pod with claims where the gate DRADeviceTaintEviction is off."""
    return _keep("DeviceTaintEvictionOff", "the gate DRADeviceTaintEviction is off")


def _keep(reason: str, message: str) -> Finding:
    step = TraceStep(rule="ResourceClaim", outcome=reason, message=message)
    return Finding(
        system=SYSTEM, verdict=Verdict.KEEP, reason=reason, message=message, trace=(step,)
    )


def _newest(slices: Collection[ResourceSlice]) -> list[ResourceSlice]:
    """The slices of the highest generation of their pool."""
    newest: dict[tuple[str, str], int] = {}
    for one in slices:
        pool = one.spec.driver, one.spec.pool.name
        newest[pool] = max(one.spec.pool.generation, newest.get(pool, one.spec.pool.generation))
    return [
        one
        for one in slices
        if one.spec.pool.generation == newest[one.spec.driver, one.spec.pool.name]
    ]
