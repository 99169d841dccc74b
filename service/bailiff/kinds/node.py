"""Nodes (k8s.io/api/core/v1/types.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta
from msgspec.structs import replace

from bailiff.kinds.managed_fields import ManagedFieldsEntry
from bailiff.kinds.meta import KubernetesObject, ObjectMeta, Value
from bailiff.kinds.node_status import NodeStatus
from bailiff.kinds.taint import Taint
from bailiff.kinds.texts import ObjectName

if TYPE_CHECKING:
    from datetime import datetime

# Of one question.
MAX_NODES = 20_000
# k8s.io/api/core/v1/well_known_labels.go.
LABEL_ZONE = "topology.kubernetes.io/zone"


class NodeMeta(ObjectMeta, frozen=True):
    """The identity of a node, and who edited it.

    Attributes:
        managed_fields: who owns which of its fields; those of the taints are read.
    """

    managed_fields: tuple[ManagedFieldsEntry, ...] = ()


class NodeSpec(Value, frozen=True):
    """What a node is meant to be.

    Attributes:
        taints: the marks that repel pods.
        unschedulable: no pod is to be put there that does not tolerate the taint
            `node.kubernetes.io/unschedulable:NoSchedule`, as after `kubectl cordon`.
    """

    taints: tuple[Taint, ...] = ()
    unschedulable: bool = False


class Node(KubernetesObject, frozen=True):
    """A node (core/v1 Node); hand over the whole object, what is not needed is ignored.

    Attributes:
        metadata: its identity.
        spec: its taints, and whether it takes pods.
        status: what it says of itself.
    """

    metadata: NodeMeta = NodeMeta()
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()

    @property
    def taints_edited(self) -> datetime | None:
        """When the taints were last edited, by the API server's clock, cut to whole seconds.

        The edit was less than a second after this instant. None where nothing tells: `kubectl get`
        leaves managedFields out, a client may have them forgotten, and a node that was made with
        nothing in it that can be owned has none before something is applied to it.

        Every write that adds or changes `spec.taints`, by update, patch or apply, gives the list
        to its writer, with the time of the write (k8s.io/apimachinery,
        pkg/util/managedfields/internal/managedfieldsupdater.go; sigs.k8s.io/structured-merge-diff,
        merge/update.go). Taints taken away to the last one leave no owner. The time also moves
        when the same writer changes another field that it owns, and never goes back: so it may
        be later than the last edit of the taints, and not earlier.
        """
        times = (one.time for one in self.metadata.managed_fields if one.owns_taints)
        return max((time for time in times if time is not None), default=None)


Nodes = Annotated[tuple[Node, ...], Meta(max_length=MAX_NODES)]
NodeNames = Annotated[tuple[ObjectName, ...], Meta(max_length=MAX_NODES)]


def as_served(node: Node) -> Node:
    """A node as its cluster has it, so that managedFields that are missing are nowhere.

    Without them nothing tells whether a taint came after its note was written, so no note is
    believed.
    """
    if node.taints_edited is not None or not node.metadata.annotations.taints_first_observed:
        return node
    annotations = replace(node.metadata.annotations, taints_first_observed="")
    return replace(node, metadata=replace(node.metadata, annotations=annotations))
