"""Pods with the resources that their kubelet has granted, whatever a resize asks for since.

Source: UpdatePodFromAllocation in pkg/kubelet/allocation/allocation_manager.go (KEP-1287). The
kubelet goes by its own record; of that a pod's status tells the requests (allocatedResources) and,
once it has been carried out, the limits (resources).
"""

from __future__ import annotations

from operator import is_
from typing import TYPE_CHECKING

from msgspec.structs import replace

if TYPE_CHECKING:
    from bailiff.kinds import Pod
    from bailiff.kinds.pod_resources import Container, ContainerStatus


def as_allocated(pod: Pod) -> Pod:
    """The same pod with what it has been granted; the very same where that is what it asks for."""
    spec, status = pod.spec, pod.status
    containers = _all_granted(spec.containers, status.container_statuses)
    init_containers = _all_granted(spec.init_containers, status.init_container_statuses)
    if containers is spec.containers and init_containers is spec.init_containers:
        return pod
    return replace(pod, spec=replace(spec, containers=containers, init_containers=init_containers))


def _all_granted(
    containers: tuple[Container, ...], statuses: tuple[ContainerStatus, ...]
) -> tuple[Container, ...]:
    """Kubelets tell what they have granted of all; it differs while a resize is pending."""
    told = {one.name: one for one in statuses if one.allocated_resources}
    if not told:
        return containers
    found = tuple(_granted(one, told) for one in containers)
    return containers if all(map(is_, found, containers)) else found


def _granted(container: Container, told: dict[str, ContainerStatus]) -> Container:
    status, own = told.get(container.name), container.resources
    if status is None:
        return container
    requests = status.allocated_resources
    limits = {} if status.resources is None else status.resources.limits
    if requests.items() <= own.requests.items() and limits.items() <= own.limits.items():
        return container
    requests, limits = {**own.requests, **requests}, {**own.limits, **limits}
    return replace(container, resources=replace(own, requests=requests, limits=limits))
