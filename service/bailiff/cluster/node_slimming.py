"""Nodes without what nobody reads; of their status, where it is read, what pressure is told by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import force_setattr

from bailiff.cluster.interning import InternTable
from bailiff.cluster.keeping import KEEP_LITTLE, Keep
from bailiff.kinds import LABEL_ZONE, NodeStatus
from bailiff.kinds.names import MAX_SUBDOMAIN
from bailiff.kinds.node_status import HUGE_PAGES

if TYPE_CHECKING:
    from bailiff.kinds import Node, NodeAddress, NodeCondition, NodeSystemInfo

# The conditions by which a node tells that something runs out, and whether its kubelet is there.
KEPT_NODE_CONDITIONS = frozenset({"MemoryPressure", "DiskPressure", "PIDPressure", "Ready"})

# Clouds give a node a handful. Nobody bounds them, and longer ones can be no name.
_MAX_ADDRESSES = 16
_MAX_TYPE = 63
# The kubelet's messages are one sentence (pkg/kubelet/nodestatus/setters.go), but for Ready, which
# repeats what a runtime has said.
_MAX_TEXT = 1024

_NO_STATUS = NodeStatus()


class NodeSlimmer:
    """Drops what nobody reads of a node.

    Of its labels the zone stays, and those that are asked for; of managedFields the last edit of
    its taints. It writes to values that are frozen, which is right only because it is called before
    anybody else has seen them.
    """

    def __init__(self, keep: Keep = KEEP_LITTLE) -> None:
        """Start with an empty table.

        Args:
            keep: what stays. Of a status that are conditions of KEPT_NODE_CONDITIONS, up to 16
                addresses and sizes of huge pages, the kubelet's port, and what runs there; texts
                are cut to 1,024 characters, and shared where nodes have them alike.
        """
        self._keep_status = keep.node_status
        self._labels = (LABEL_ZONE, *sorted(keep.node_labels - {LABEL_ZONE}))
        self._intern = InternTable().intern

    def __call__(self, node: Node) -> Node:
        """The same node, made slim."""
        labels = node.metadata.labels
        kept = {one: labels[one] for one in self._labels if one in labels}
        force_setattr(node.metadata, "labels", kept)
        edited = node.taints_edited
        fields = node.metadata.managed_fields
        entries = tuple(each for each in fields if each.owns_taints and each.time == edited)
        force_setattr(node.metadata, "managed_fields", entries[:1])
        if self._keep_status:
            self._slim(node.status)
        else:
            force_setattr(node, "status", _NO_STATUS)
        return node

    def _slim(self, status: NodeStatus) -> None:
        kept = [self._texts(one) for one in status.conditions if one.type in KEPT_NODE_CONDITIONS]
        force_setattr(status, "conditions", tuple(kept[: len(KEPT_NODE_CONDITIONS)]))
        pages = [one for one in status.capacity.items() if one[0].startswith(HUGE_PAGES)]
        capacity = {name[:_MAX_TYPE]: told[:_MAX_TYPE] for name, told in pages[:_MAX_ADDRESSES]}
        force_setattr(status, "capacity", capacity)
        addresses = [one for one in status.addresses if _may_be_used(one)]
        force_setattr(status, "addresses", tuple(addresses[:_MAX_ADDRESSES]))
        for field in ("kubelet_version", "operating_system"):
            self._text(status.node_info, field)

    def _texts(self, condition: NodeCondition) -> NodeCondition:
        for field in ("type", "status", "reason", "message"):
            self._text(condition, field)
        return condition

    def _text(self, of: NodeCondition | NodeSystemInfo, field: str) -> None:
        force_setattr(of, field, self._intern(getattr(of, field)[:_MAX_TEXT]))


def _may_be_used(one: NodeAddress) -> bool:
    return len(one.type) <= _MAX_TYPE and len(one.address) <= MAX_SUBDOMAIN
