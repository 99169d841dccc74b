"""A node that may be lost, its pods, and what the system says of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from bailiff.decisions import SYSTEMS, Options
from bailiff.kinds import Node, Pod
from bailiff.kinds.lease import Lease

if TYPE_CHECKING:
    from bailiff.decisions.decision import Finding
    from bailiff.decisions.node_loss.report import NodeLossReport

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
# Long after and shortly before the five minutes that a lost node has.
LONG_AGO, JUST_NOW = NOW - timedelta(hours=1), NOW - timedelta(minutes=1)
NODE = "n1"
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service:NoExecute"
OFF = {"off": True, "by": "http"}
WELL = [{"name": "a", "ready": 9, "notReady": 1}]


def _taint(text: str) -> dict[str, str]:
    rest, _, effect = text.partition(":")
    key, _, value = rest.partition("=")
    return {"key": key, "value": value, "effect": effect}


def at(instant: datetime) -> str:
    return instant.isoformat()


def a_pod(name: str = "web", owner: str = "ReplicaSet", node: str = NODE, **more: Any) -> Pod:
    """A pod of the node, managed by an owner of this kind; empty: by nobody."""
    meta: dict[str, Any] = {"name": name, "namespace": "default", "uid": f"uid-{name}"}
    if owner:
        meta["ownerReferences"] = [{"kind": owner, "name": f"of-{name}", "controller": True}]
    body = {"metadata": meta | more.pop("metadata", {}), "spec": {"nodeName": node}}
    body["spec"] |= more.pop("spec", {})
    return msgspec.convert(body | more, Pod)


LIVES = {"spec": {"renewTime": at(NOW - timedelta(seconds=5))}}


def with_claim(name: str, claim: str) -> Pod:
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": claim}}
    return a_pod(name, spec={"volumes": [volume]})


DB = a_pod("db-0", owner="StatefulSet")


def ending(pod: Pod, *, over: bool = True) -> Pod:
    """It was deleted; `over`: the time that it had to end is over."""
    ends = JUST_NOW if over else NOW + timedelta(minutes=1)
    metadata = msgspec.structs.replace(pod.metadata, deletion_timestamp=ends)
    return msgspec.structs.replace(pod, metadata=metadata)


def a_lease(renewed: datetime) -> Lease:
    return msgspec.convert({"metadata": {"name": NODE}, "spec": {"renewTime": at(renewed)}}, Lease)


@dataclass
class Asked:
    """A question.

    Attributes:
        ready: status of the node's Ready condition; empty: it has none.
        since: when that changed.
        taints: of the node, as `KEY:EFFECT` or `KEY=VALUE:EFFECT`.
        facts: the section `nodeLoss`, as JSON has it.
        pods: all of the node.
    """

    ready: str = "Unknown"
    since: datetime = LONG_AGO
    taints: tuple[str, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)
    pods: tuple[Pod, ...] = ()
    now: datetime = NOW

    @property
    def node(self) -> Node:
        condition = {"type": "Ready", "status": self.ready, "lastTransitionTime": at(self.since)}
        body = {
            "metadata": {"name": NODE, "labels": {"topology.kubernetes.io/zone": "a"}},
            "spec": {"taints": [_taint(one) for one in self.taints]},
            "status": {"conditions": [condition] if self.ready else []},
        }
        return msgspec.convert(body, Node)

    def answer(self) -> Any:
        """By the face of all faces: what REST and gRPC ask, too."""
        question = SYSTEMS.questions["decideBatch"]
        body = {
            "pods": msgspec.to_builtins(self.pods),
            "node": msgspec.to_builtins(self.node),
            "systems": ["node-loss"],
            "nodeLoss": self.facts,
            "now": at(self.now),
            "options": {"explain": True},
        }
        facts = msgspec.convert(body, question.facts)
        return question.ask(facts, self.now, Options())

    def of(self, pod: Pod | None = None) -> Finding:
        """What is said of one pod."""
        self.pods = (pod or a_pod(),)
        found: Finding = self.answer().decisions[0].findings[0]
        return found

    def report(self) -> NodeLossReport:
        found: NodeLossReport = self.answer().reports.node_loss
        return found
