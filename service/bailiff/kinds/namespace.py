"""Namespaces (k8s.io/api/core/v1/types.go)."""

from __future__ import annotations

from bailiff.kinds.meta import ObjectMeta, Value


class Namespace(Value, frozen=True):
    """A namespace (core/v1 Namespace).

    Attributes:
        metadata: its identity and labels.
    """

    metadata: ObjectMeta = ObjectMeta()
