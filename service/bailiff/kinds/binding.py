"""Bindings: how schedulers put a pod on a node (k8s.io/api/core/v1/types.go)."""

from __future__ import annotations

from bailiff.kinds.meta import KubernetesObject, ObjectMeta, Value
from bailiff.kinds.texts import ObjectName


class BindingTarget(Value, frozen=True):
    """What a pod is bound to.

    Attributes:
        kind: `Node`, also where it is empty.
        name: the node's name.
    """

    kind: str = ""
    name: ObjectName = ""


class Binding(KubernetesObject, frozen=True):
    """That a pod is to run on a node (core/v1 Binding).

    Attributes:
        metadata: namespace and name are the pod's; the UID, too, where it is told.
        target: the node.
    """

    metadata: ObjectMeta = ObjectMeta()
    target: BindingTarget = BindingTarget()
