"""Who published what evicts a pod, as far as the cluster tells, and what that lets it do.

Whoever may create ResourceSlices can taint any device: a slice of another node's pool with a higher
generation takes the place of the slices that the node's own driver publishes. What of a slice can
be relied on is its `spec.driver` and its `spec.nodeName`. Neither can be changed
(pkg/apis/resource/validation/validation.go, validateResourceSliceSpec). A kubelet, and a driver's
plugin whose rights an admission policy narrows to its own node, cannot name another node
(plugin/pkg/admission/noderestriction/admission.go, admitResourceSlice). And a slice reaches only
pods whose claims were allocated from its very driver. Owners, labels and managedFields are what
their writer says, and a pool may have any name.
"""

from __future__ import annotations

from bailiff.kinds.meta import Value


class Publisher(Value, frozen=True):
    """Who published the ResourceSlice for whose taint a pod goes.

    Attributes:
        driver: `spec.driver` of the slice.
        node: its `spec.nodeName`; empty where it names none, as the slices of devices that several
            nodes reach. They have one publisher for each driver then.
        resource_slice: its name.
    """

    driver: str
    node: str = ""
    resource_slice: str = ""

    def __str__(self) -> str:
        """`gpu.example.com on node-a`, for messages."""
        return f"{self.driver} on {self.node}" if self.node else self.driver


def is_foreign(publisher: Publisher, node: str) -> bool:
    """Whether a slice is another node's than the one where a pod runs that it evicts.

    The scheduler allocates what a slice with `spec.nodeName` publishes to pods of that node only.
    """
    return publisher.node not in ("", node)
