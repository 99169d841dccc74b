"""Answers about live nodes that may be lost: by their Lease, and by what a worker has noted."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from bailiff.decisions import SYSTEMS, Options
from bailiff.decisions.node_loss.memory import NodeLossMemory
from bailiff.kinds import Annotations, Node, NodeSpec, Pod, Taint
from bailiff.kinds.lease import Lease
from bailiff.lookup import ForbiddenError, LookUps
from tests.harness.clocks import ManualClock
from tests.harness.lookups import DictSource

CLOCK = ManualClock()
NOW = CLOCK.now()
LONG_AGO = NOW - timedelta(hours=1)


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


def node(ready: str, since: datetime = LONG_AGO, note: NodeLossMemory | None = None) -> Node:
    condition = {"type": "Ready", "status": ready, "lastTransitionTime": since.isoformat()}
    body: dict[str, Any] = {
        "metadata": {"name": "n1", "uid": "uid-n1"},
        "status": {"conditions": [condition]},
    }
    found = msgspec.convert(body, Node)
    if note is None:
        return found
    annotations = replace(found.metadata.annotations, node_loss=note.text())
    return replace(found, metadata=replace(found.metadata, annotations=annotations))


def lease(renewed: datetime) -> Lease:
    meta = {"name": "n1", "namespace": "kube-node-lease"}
    return msgspec.convert({"metadata": meta, "spec": {"renewTime": renewed.isoformat()}}, Lease)


def others(number: int = 3) -> list[Node]:
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    bodies = [{"metadata": {"name": f"other-{i}"}, "status": ready} for i in range(number)]
    return [msgspec.convert(one, Node) for one in bodies]


def pod(owner: str = "ReplicaSet") -> Pod:
    owners = [{"kind": owner, "name": "of-web", "controller": True}]
    meta = {"name": "web", "namespace": "default", "uid": "uid-web", "ownerReferences": owners}
    return msgspec.convert({"metadata": meta, "spec": {"nodeName": "n1"}}, Pod)


async def said(one: Node, its: Lease | None, of: Pod | None = None) -> str:
    source = DictSource.of(one, *others(), of or pod())
    source.objects[Lease] = [] if its is None else [its]
    plan = await LookUps(source, SYSTEMS, CLOCK, 3.0).node("n1", Options(node_loss=True))
    (decision,) = plan.answer().decisions
    (found,) = [one for one in decision.findings if one.system == "node-loss"]
    return f"{found.verdict.value} {found.reason}"


def note(**fields: Any) -> NodeLossMemory:
    told: dict[str, Any] = {
        "uid": "uid-n1",
        "since": ago(100),
        "state": "Silent",
        "silent": True,
        "renewed": ago(150),
        "transition": LONG_AGO,
    }
    return NodeLossMemory(**told | fields)


CASES = [
    pytest.param(node("Unknown"), lease(LONG_AGO), "EVICT_NOW NodeLost", id="by its own times"),
    pytest.param(node("Unknown"), lease(ago(5)), "KEEP LeaseRenewed", id="it lives"),
    pytest.param(
        node("True", note=note()), lease(ago(150)), "EVICT_AT NodeLost", id="as it is noted"
    ),
    pytest.param(
        node("True", note=note(since=ago(200), renewed=ago(-3600))),
        lease(ago(-3600)),
        "EVICT_AT NodeLost",
        id="its clock is ahead, and the worker knows that it is silent",
    ),
    pytest.param(
        node("True", note=note()),
        lease(ago(5)),
        "KEEP NodeReady",
        id="it has lived since the note was written",
    ),
    pytest.param(
        node("Unknown", ago(20), note=note(since=LONG_AGO)),
        lease(ago(70)),
        "EVICT_AT NodeLost",
        id="it lived, and was lost again: the note holds no more",
    ),
    pytest.param(
        node("Unknown", ago(20), note=note(since=LONG_AGO, released=LONG_AGO, renewed=None)),
        None,
        "EVICT_AT NodeLost",
        id="so it is with a node without a Lease",
    ),
    pytest.param(
        node("True", note=note(uid="other", since=LONG_AGO)),
        lease(ago(5)),
        "KEEP NodeReady",
        id="of another node of its name",
    ),
    pytest.param(
        node("Unknown", note=note(since=ago(400), renewed=ago(450))),
        lease(ago(450)),
        "KEEP WaitsForItsTurn",
        id="its time is over, and its turn has not come",
    ),
    pytest.param(
        node("Unknown", note=note(since=ago(400), renewed=ago(450), released=ago(50))),
        lease(ago(450)),
        "EVICT_NOW NodeLost",
        id="its turn has come",
    ),
    pytest.param(
        node(
            "Unknown",
            note=note(since=ago(400), renewed=ago(450), released=ago(50), fenced="http"),
        ),
        lease(ago(450)),
        "EVICT_NOW NodeOff",
        id="the fence has said that it is off",
    ),
    pytest.param(
        node("False", note=note(state="NotReady", silent=False, distrust="why")),
        lease(ago(5)),
        "KEEP Contradiction",
        id="the fence is not believed",
    ),
]


async def test_a_person_is_believed_where_the_fence_is_not():
    told = note(since=ago(400), renewed=ago(450), released=ago(50), distrust="why")
    one = node("True", note=told)
    assert await said(one, lease(ago(450)), pod("StatefulSet")) == "KEEP Contradiction"
    taint = Taint(key="node.kubernetes.io/out-of-service", effect="NoSchedule")
    tainted = replace(one, spec=NodeSpec(taints=(taint,)))
    assert await said(tainted, lease(ago(450)), pod("StatefulSet")) == "EVICT_NOW NodeOff"


async def test_nodes_that_a_worker_has_noted_as_lost_count_in_their_zone():
    """Their conditions are True: no controller says otherwise."""
    one = node("True", note=note(since=None, renewed=ago(450)))
    silent = [
        replace(
            other,
            metadata=replace(
                other.metadata,
                uid=f"uid-{index}",
                annotations=Annotations(node_loss=note(uid=f"uid-{index}").text()),
            ),
        )
        for index, other in enumerate(others())
    ]
    source = DictSource.of(one, *silent, pod())
    source.objects[Lease] = [lease(ago(450))]
    plan = await LookUps(source, SYSTEMS, CLOCK, 3.0).node("n1", Options(node_loss=True))
    (decision,) = plan.answer().decisions
    assert "AllZonesDown" in [found.reason for found in decision.findings]


@pytest.mark.parametrize(("one", "its", "expected"), CASES)
async def test_what_is_said_of_a_live_node(one, its, expected):
    assert await said(one, its) == expected


async def test_who_may_not_read_leases_is_told_that_nobody_knows():
    source = DictSource.of(node("Unknown"), *others(), pod())
    source.errors[Lease] = ForbiddenError("leases may not be read")
    plan = await LookUps(source, SYSTEMS, CLOCK, 3.0).node("n1", Options(node_loss=True))
    (decision,) = plan.answer().decisions
    assert "LeaseNotRead" in [one.reason for one in decision.findings]


async def test_nobody_is_looked_up_for_it_unless_asked():
    source = DictSource.of(node("Unknown"), *others(), pod())
    await LookUps(source, SYSTEMS, CLOCK, 3.0).node("n1", Options())
    assert Lease not in [one.kind for one in source.seen]
