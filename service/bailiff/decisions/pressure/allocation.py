"""Pods with the resources that their kubelet has granted, whatever a resize asks for since.

Source: UpdatePodFromAllocation in pkg/kubelet/allocation/allocation_manager.go (KEP-1287). The
kubelet goes by its own record; of that a pod's status tells the requests (allocatedResources) and,
once it has been carried out, the limits (resources).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

if TYPE_CHECKING:
    from bailiff.kinds import Pod
    from bailiff.kinds.pod_resources import Container, ContainerStatus


def as_allocated(pod: Pod) -> Pod:
    """The same pod with what it has been granted; the very same where its status tells nothing."""
    status, spec = pod.status, pod.spec
    told = {one.name: one for one in status.container_statuses if _tells(one)}
    started = {one.name: one for one in status.init_container_statuses if _tells(one)}
    if not told and not started:
        return pod
    containers = tuple(_granted(one, told) for one in spec.containers)
    init_containers = tuple(_granted(one, started) for one in spec.init_containers)
    return replace(
        pod, spec=replace(spec, containers=containers, init_containers=init_containers)
    )


def _tells(status: ContainerStatus) -> bool:
    return bool(status.allocated_resources)


def _granted(container: Container, told: dict[str, ContainerStatus]) -> Container:
    status = told.get(container.name)
    if status is None:
        return container
    own = container.resources
    requests = {**own.requests, **status.allocated_resources}
    limits = own.limits
    if status.resources is not None and status.resources.limits:
        limits = {**limits, **status.resources.limits}
    return replace(container, resources=replace(own, requests=requests, limits=limits))
