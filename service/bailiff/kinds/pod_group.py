"""PodGroups (k8s.io/api/scheduling): of their spec only how they may be disrupted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bailiff.kinds.meta import ObjectMeta, Value


class PodGroupSpec(Value, frozen=True):
    """What a group is to be.

    Attributes:
        disruption_mode: `{"single": {}}` or `{"all": {}}` (v1beta1 and v1alpha3 of 1.37); `Pod` or
            `PodGroup` (v1alpha2 of 1.36). Absent: pods one by one.
    """

    disruption_mode: str | Mapping[str, Any] | None = None


class PodGroup(Value, frozen=True):
    """Pods that are scheduled together (KEP-4671, KEP-5710).

    Attributes:
        metadata: its identity.
        spec: see there.
    """

    metadata: ObjectMeta = ObjectMeta()
    spec: PodGroupSpec = PodGroupSpec()

    @property
    def goes_whole(self) -> bool:
        """Whether its pods can only be disrupted together."""
        mode = self.spec.disruption_mode
        if mode is None or isinstance(mode, str):
            return mode == "PodGroup"
        return mode.get("all") is not None
