"""The devices of a question, made ready to be asked about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from bailiff.decisions.device_taints.index import DeviceTaintIndex

if TYPE_CHECKING:
    from collections.abc import Collection

    from bailiff.decisions.device_taints.facts import DeviceTaintFacts
    from bailiff.kinds import Node, Pod, ResourceSlice

# Any name will do: only whether there is one counts.
_UNNAMED_NODE = "(unnamed)"


def index_of(facts: DeviceTaintFacts) -> DeviceTaintIndex:
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
