"""What kube-scheduler and an extender say to each other (k8s.io/kube-scheduler/extender/v1).

The types of that package have no JSON tags, so its own fields are written as Go names them, and
what is within, objects of Kubernetes, as everywhere else. kube-scheduler writes a null for what it
leaves out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta, Raw

from bailiff.kinds.meta import Int64, Value
from bailiff.kinds.node import MAX_NODES, NodeNames, Nodes
from bailiff.kinds.pod import Pod
from bailiff.kinds.texts import Uid

# Where Bailiff answers, each verb below it.
PREFIX = "/scheduler/extender/v1"
FILTER, PRIORITIZE, PREEMPT = VERBS = "filter", "prioritize", "preempt"
# Pods of one node that would go.
MAX_VICTIMS = 20_000


def _as_go(field: str) -> str:
    return _GO.get(field) or "".join(word.capitalize() for word in field.split("_"))


# Names that are not made of capitalized words.
_GO = {"uid": "UID", "num_pdb_violations": "NumPDBViolations"}


class NodeList(Value, frozen=True):
    """Nodes (core/v1 NodeList).

    Attributes:
        items: the nodes, each with a name.
    """

    items: Nodes = ()


class NodesAsSent(Value, frozen=True):
    """Nodes (core/v1 NodeList) that go back as they came.

    Attributes:
        items: the nodes, each as it is written.
    """

    items: tuple[Raw, ...] = ()


class ExtenderFilterResult(Value, frozen=True, rename=_as_go):
    """The nodes that are left, in the form that was asked for, and why others are not.

    Attributes:
        nodes: those where the pod may be put, exactly as they came.
        node_names: their names, where names were asked about.
        failed_nodes: nodes of which nothing is known, and why not.
        failed_and_unresolvable_nodes: nodes where the pod may not be put, and why not; nobody need
            be evicted from them, since that would not help.
        error: why there is no answer; the pod is not scheduled then, unless the extender is
            configured as `ignorable`.
    """

    nodes: NodesAsSent | None = None
    node_names: tuple[str, ...] | None = None
    failed_nodes: Mapping[str, str] = {}
    failed_and_unresolvable_nodes: Mapping[str, str] = {}
    error: str = ""


class ExtenderArgs(Value, frozen=True, rename=_as_go):
    """A pod and the nodes that kube-scheduler still thinks of, in one of two forms.

    Attributes:
        pod: the pod that is to be scheduled.
        nodes: whole, where the extender is not configured as `nodeCacheCapable`.
        node_names: their names, where it is.
    """

    pod: Pod
    nodes: NodeList | None = None
    node_names: NodeNames | None = None


class MetaPod(Value, frozen=True, rename=_as_go):
    """A pod that would be evicted, by its identity.

    Attributes:
        uid: of the pod.
    """

    uid: Uid = ""


class MetaVictims(Value, frozen=True, rename=_as_go):
    """Whom kube-scheduler would evict from a node to make room, by identity.

    Attributes:
        pods: the pods.
        num_pdb_violations: how many of them their PodDisruptionBudgets do not allow.
    """

    pods: Annotated[tuple[MetaPod, ...], Meta(max_length=MAX_VICTIMS)] = ()
    num_pdb_violations: Int64 = 0


class VictimMeta(Value, frozen=True):
    """The identity of a pod that would be evicted.

    Attributes:
        uid: of the pod.
    """

    uid: Uid = ""


class Victim(Value, frozen=True):
    """A pod (core/v1 Pod) that would be evicted; there may be thousands, and all else is skipped.

    Attributes:
        metadata: its identity.
    """

    metadata: VictimMeta = VictimMeta()


class Victims(Value, frozen=True, rename=_as_go):
    """Whom kube-scheduler would evict from a node to make room.

    Attributes:
        pods: the pods.
        num_pdb_violations: how many of them their PodDisruptionBudgets do not allow.
    """

    pods: Annotated[tuple[Victim, ...], Meta(max_length=MAX_VICTIMS)] = ()
    num_pdb_violations: Int64 = 0


class ExtenderPreemptionArgs(Value, frozen=True, rename=_as_go):
    """A pod, and the nodes on which there would be room for it if others went.

    Attributes:
        pod: the pod that is to be scheduled.
        node_name_to_victims: who would go, by node, where the extender is not configured as
            `nodeCacheCapable`.
        node_name_to_meta_victims: the same, where it is.
    """

    pod: Pod
    node_name_to_victims: Annotated[Mapping[str, Victims], Meta(max_length=MAX_NODES)] | None = None
    node_name_to_meta_victims: (
        Annotated[Mapping[str, MetaVictims], Meta(max_length=MAX_NODES)] | None
    ) = None


class ExtenderPreemptionResult(Value, frozen=True, rename=_as_go):
    """The nodes that are left.

    Attributes:
        node_name_to_meta_victims: who would go, by node.
    """

    node_name_to_meta_victims: Mapping[str, MetaVictims]


class HostPriority(Value, frozen=True, rename=_as_go):
    """How much a node is liked.

    Attributes:
        host: the node's name.
        score: from 0 to 10, the higher the better.
    """

    host: str
    score: int
