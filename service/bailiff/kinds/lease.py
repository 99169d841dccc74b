"""The Lease by which a kubelet says that its node lives (k8s.io/api/coordination/v1/types.go).

It lives in the namespace `kube-node-lease`, and has its node's name (KEP-589).
"""

from __future__ import annotations

from bailiff.kinds.meta import Int32, KubernetesObject, ObjectMeta, Time, Value
from bailiff.kinds.texts import ObjectName

# k8s.io/api/core/v1/types.go, NamespaceNodeLease.
NODE_LEASES = "kube-node-lease"


class LeaseSpec(Value, frozen=True):
    """Who holds it, and since when.

    Attributes:
        holder_identity: the node's name.
        lease_duration_seconds: for how long one renewal is to be believed.
        renew_time: when its kubelet last renewed it, by the clock of the node.
    """

    holder_identity: ObjectName = ""
    lease_duration_seconds: Int32 | None = None
    renew_time: Time | None = None


class Lease(KubernetesObject, frozen=True):
    """A node's sign of life (coordination.k8s.io/v1 Lease).

    Attributes:
        metadata: its identity.
        spec: see there.
    """

    metadata: ObjectMeta = ObjectMeta()
    spec: LeaseSpec = LeaseSpec()
