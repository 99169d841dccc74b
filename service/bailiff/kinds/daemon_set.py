"""DaemonSets (k8s.io/api/apps/v1/types.go): of their spec only whose pods are theirs."""

from __future__ import annotations

from bailiff.kinds.budget import LabelSelector
from bailiff.kinds.meta import KubernetesObject, ObjectMeta, Value


class DaemonSetSpec(Value, frozen=True):
    """What a DaemonSet is to be.

    Attributes:
        selector: the pods of its namespace that are its own; absent: none.
    """

    selector: LabelSelector | None = None


class DaemonSet(KubernetesObject, frozen=True):
    """One pod for each node (apps/v1 DaemonSet).

    Attributes:
        metadata: its identity.
        spec: see there.
    """

    metadata: ObjectMeta = ObjectMeta()
    spec: DaemonSetSpec = DaemonSetSpec()
