"""The class of a pod's quality of service: what it asks for of cpu and memory, against its limits.

Source: pkg/apis/core/v1/helper/qos/qos.go (KEP-2837 for pods that ask as a whole).
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from bailiff.kinds.quantity import parse_quantity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bailiff.kinds import Pod
    from bailiff.kinds.pod_resources import Quantities, ResourceRequirements

_COUNTED = ("cpu", "memory")


class QualityOfService(StrEnum):
    """GUARANTEED: what it asks for is its limit. BEST_EFFORT: it asks for nothing."""

    GUARANTEED = "Guaranteed"
    BURSTABLE = "Burstable"
    BEST_EFFORT = "BestEffort"


def qos_class(pod: Pod, *, empty_resources_count: bool = True) -> str:
    """The class in the pod's status, or else the computed one (GetPodQOS)."""
    told = pod.status.qos_class
    return told or computed_qos_class(pod, empty_resources_count=empty_resources_count)


def computed_qos_class(
    pod: Pod, *, pod_level_resources: bool = True, empty_resources_count: bool = True
) -> QualityOfService:
    """The class by what the pod asks for (ComputePodQOS).

    Args:
        pod: the pod; ephemeral containers ask for nothing.
        pod_level_resources: the gate PodLevelResources: what it asks for as a whole counts alone.
        empty_resources_count: `resources: {}` of the pod is such a whole, as before Kubernetes
            1.37 (PodLevelResourcesFixKubeletQOSClass).
    """
    whole = pod.spec.resources if pod_level_resources else None
    if whole is not None and (empty_resources_count or whole.requests or whole.limits):
        # Limits that are not there at all need not be complete.
        return _class((whole,), complete=not whole.limits or _has_all(whole.limits))
    every = [one.resources for one in (*pod.spec.containers, *pod.spec.init_containers)]
    return _class(every, complete=all(_has_all(one.limits) for one in every))


def _class(every: Iterable[ResourceRequirements], *, complete: bool) -> QualityOfService:
    requests: dict[str, int] = {}
    limits: dict[str, int] = {}
    for one in every:
        _add(requests, one.requests)
        _add(limits, one.limits)
    if not requests and not limits:
        return QualityOfService.BEST_EFFORT
    if complete and requests == limits:
        return QualityOfService.GUARANTEED
    return QualityOfService.BURSTABLE


def _has_all(limits: Quantities) -> bool:
    return all(name in limits and parse_quantity(limits[name]).nano > 0 for name in _COUNTED)


def _add(sums: dict[str, int], quantities: Quantities) -> None:
    for name in _COUNTED:
        nano = parse_quantity(quantities[name]).nano if name in quantities else 0
        if nano > 0:
            sums[name] = sums.get(name, 0) + nano
