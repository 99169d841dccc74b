"""What a pod's containers ask for and may take (k8s.io/api/core/v1/types.go)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from bailiff.kinds.meta import Value
from bailiff.kinds.quantity import QuantityText
from bailiff.kinds.texts import LabelName, Word

# By resource, as `memory` or `ephemeral-storage` (ResourceList).
Quantities: TypeAlias = Mapping[str, QuantityText]


class ResourceRequirements(Value, frozen=True):
    """What is asked for and what may be taken.

    Attributes:
        limits: at most so much, by resource.
        requests: at least so much, by resource. The API server fills in the limits where a request
            is absent.
    """

    limits: Mapping[str, QuantityText] = {}
    requests: Mapping[str, QuantityText] = {}


class Container(Value, frozen=True):
    """A container, or an init container.

    Attributes:
        name: unique in its pod.
        resources: what it asks for and may take.
        restart_policy: of an init container `Always` makes it a sidecar, which goes on running.
    """

    name: LabelName = ""
    resources: ResourceRequirements = ResourceRequirements()
    restart_policy: Word = ""

    @property
    def is_sidecar(self) -> bool:
        """Of an init container: it goes on running (IsRestartableInitContainer)."""
        return self.restart_policy == "Always"


class ContainerStatus(Value, frozen=True):
    """What the kubelet has given a container, which a pending resize in the spec does not change.

    Attributes:
        name: of the container.
        allocated_resources: the requests that the kubelet has granted, by resource.
        resources: what the container runs with; absent: nothing is known.
    """

    name: LabelName = ""
    allocated_resources: Mapping[str, QuantityText] = {}
    resources: ResourceRequirements | None = None
