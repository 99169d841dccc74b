"""Pods, nodes and maintenance by lot: of few words, so that they meet."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from bailiff.decisions import SYSTEMS, Options
from bailiff.decisions.decision import Decision, Verdict
from bailiff.decisions.device_taints import DeviceTaintFacts
from bailiff.decisions.scheduling import Maintenance, NodePool, NodesVerdict
from bailiff.kinds import (
    Annotations,
    Node,
    NodeCondition,
    NodeMeta,
    NodeSpec,
    NodeStatus,
    ObjectMeta,
    Pod,
    PodResourceClaim,
    PodSpec,
    PodStatus,
    Taint,
    Toleration,
)
from bailiff.kinds.node_status import NodeSystemInfo
from tests.harness.clocks import START
from tests.harness.device_kinds import claim, on, reserved, slice_of, taint

OPTIONS = Options(explain=False)
NAMES = tuple(f"node-{number}" for number in range(8))
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
KEYS = ("a", "b", "node.kubernetes.io/unschedulable", "node.kubernetes.io/memory-pressure")

instants = st.sampled_from([-3600, -60, 0, 1, 90, 3600]).map(lambda s: START + timedelta(seconds=s))
taints = st.builds(
    Taint,
    key=st.sampled_from(KEYS),
    value=st.sampled_from(["", "1", "2"]),
    effect=st.sampled_from(EFFECTS),
    time_added=st.none() | instants,
)
tolerations = st.builds(
    Toleration,
    key=st.sampled_from(["", *KEYS]),
    operator=st.sampled_from(["", "Equal", "Exists", "Gt"]),
    value=st.sampled_from(["", "1", "2"]),
    effect=st.sampled_from(["", *EFFECTS]),
    toleration_seconds=st.sampled_from([None, None, -1, 0, 60, 300]),
)


@st.composite
def nodes(draw: st.DrawFn) -> Node:
    held = draw(st.sets(st.sampled_from(["MemoryPressure", "DiskPressure"])))
    noted = draw(st.sampled_from(["", "", "", "spoilt", "2026-01-01T00:10:00Z"]))
    spec = NodeSpec(
        taints=tuple(draw(st.lists(taints, max_size=3))),
        unschedulable=draw(st.sampled_from([False, False, True])),
    )
    status = NodeStatus(
        conditions=tuple(NodeCondition(type=one, status="True") for one in sorted(held)),
        node_info=NodeSystemInfo(kubelet_version=draw(st.sampled_from(["v1.36.2", "v1.37.1"]))),
    )
    meta = NodeMeta(name=draw(st.sampled_from(NAMES)), annotations=Annotations(maintenance=noted))
    return Node(metadata=meta, spec=spec, status=status)


# Half of them plain, so that some are alike.
plain = st.builds(lambda name: Node(metadata=NodeMeta(name=name)), st.sampled_from(NAMES))
fleets = st.lists(nodes() | plain, max_size=8, unique_by=lambda one: one.metadata.name)


@st.composite
def pods(draw: st.DrawFn) -> Pod:
    claims = draw(st.sampled_from([(), (), ("c",)]))
    spec = PodSpec(
        node_name=draw(st.sampled_from(["", "", "elsewhere", "node-0"])),
        tolerations=tuple(draw(st.just([]) | st.lists(tolerations, max_size=3))),
        priority=draw(st.sampled_from([0, 0, 2 * 10**9])),
        resource_claims=tuple(PodResourceClaim(name=n, resource_claim_name=n) for n in claims),
    )
    phase = draw(st.sampled_from(["Pending", "Running", "Succeeded"]))
    meta = ObjectMeta(name="p", namespace="default", uid="p-1")
    return Pod(metadata=meta, spec=spec, status=PodStatus(phase=phase))


@st.composite
def maintenances(draw: st.DrawFn) -> Maintenance:
    starts = draw(instants)
    return Maintenance(
        nodes=tuple(draw(st.lists(st.sampled_from([*NAMES, "unknown"]), max_size=3))),
        starts_at=starts,
        ends_at=draw(st.sampled_from([None, starts, starts + timedelta(seconds=120)])),
        reason=draw(st.sampled_from(["", "disks"])),
    )


@st.composite
def devices(draw: st.DrawFn) -> DeviceTaintFacts:
    """Of the claim that pods may name; none: nothing is told of devices."""
    seconds = draw(st.sampled_from([None, -60, 30, 7200]))
    if seconds is None:
        return DeviceTaintFacts()
    return DeviceTaintFacts(
        resource_claims=(claim("c", on("a"), reserved_for=(reserved(),)),),
        resource_slices=(slice_of(a=(taint(added=seconds),)),),
    )


def by_name(verdicts: tuple[NodesVerdict, ...]) -> dict[str, NodesVerdict]:
    """What is said of each node, which is said once."""
    found = [(name, one) for one in verdicts for name in one.nodes]
    assert len({name for name, _ in found}) == len(found)
    return dict(found)


def pool_of(
    some: list[Node], told: list[Maintenance] | None = None, facts: DeviceTaintFacts | None = None
) -> NodePool:
    by_system = {} if facts is None else {"device-taints": facts}
    return NodePool(SYSTEMS.all, some, told or (), by_system)


def decided(pod: Pod, node: Node, facts: DeviceTaintFacts, now: datetime) -> Decision:
    """What `decide` says of a pod that comes to a node now."""
    question = SYSTEMS.questions["decide"]
    spec = PodSpec(tolerations=pod.spec.tolerations, resource_claims=pod.spec.resource_claims)
    comes = Pod(metadata=pod.metadata, spec=spec, status=pod.status)
    asked: Any = question.facts
    told = asked(pod=comes, node=node, device_taints=facts, now=now)
    found: Decision = question.ask(told, now, OPTIONS).decision
    return found


def end_of(decision: Decision, now: datetime) -> datetime | None:
    """When the pod goes by a decision; None: it stays."""
    if decision.verdict is Verdict.KEEP:
        return None
    return decision.evict_at if decision.verdict is Verdict.EVICT_AT else now
