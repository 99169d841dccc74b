"""ConfigMaps (k8s.io/api/core/v1/types.go)."""

from __future__ import annotations

from collections.abc import Mapping

from bailiff.kinds.meta import ObjectMeta, Value


class ConfigMap(Value, frozen=True):
    """A ConfigMap (core/v1 ConfigMap), without what is binary.

    Attributes:
        metadata: its identity.
        data: its texts by key.
    """

    metadata: ObjectMeta = ObjectMeta()
    data: Mapping[str, str] = {}
