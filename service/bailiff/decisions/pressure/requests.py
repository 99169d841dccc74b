"""What a pod has asked for of a resource, and what it may take at most.

Source: GetResourceRequestQuantity in pkg/api/v1/resource/helpers.go, PodRequests and PodLimits in
k8s.io/component-helpers/resource/helpers.go (KEP-753 for sidecars, KEP-2837 for whole pods).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.kinds.node_status import HUGE_PAGES
from bailiff.kinds.quantity import Quantity, parse_quantity, total

if TYPE_CHECKING:
    from collections.abc import Callable

    from bailiff.kinds import Pod
    from bailiff.kinds.pod_resources import Container, Quantities

_OF_PODS = frozenset({"cpu", "memory"})


def request_of(pod: Pod, resource: str) -> int:
    """What a pod has asked for, in nanos of the resource's unit; 0: nothing.

    What is asked for as a whole makes what its containers ask for irrelevant, for every resource.
    """
    spec = pod.spec
    if has_pod_level_resources(pod):
        asked = _own(spec.resources.requests if spec.resources else {}, resource)
    else:
        asked = _aggregate(pod, resource, lambda one: one.resources.requests)
    if asked is None or asked.nano == 0:
        return 0
    overhead = spec.overhead.get(resource)
    return asked.nano + (0 if overhead is None else parse_quantity(overhead).nano)


def limit_of(pod: Pod, resource: str) -> Quantity | None:
    """What a pod may take at most; None: there is no limit.

    Containers without a limit do not lift that of the others.
    """
    limit = _aggregate(pod, resource, lambda one: one.resources.limits)
    if has_pod_level_resources(pod) and pod.spec.resources is not None:
        limit = _own(pod.spec.resources.limits, resource) or limit
    overhead = pod.spec.overhead.get(resource)
    if limit is None or limit.nano == 0 or overhead is None:
        return limit
    return total((limit, parse_quantity(overhead)))


def has_pod_level_resources(pod: Pod) -> bool:
    """It asks for cpu, memory or huge pages as a whole (IsPodLevelResourcesSet)."""
    resources = pod.spec.resources
    if resources is None:
        return False
    return any(_is_of_pods(one) for one in (*resources.requests, *resources.limits))


def _is_of_pods(resource: str) -> bool:
    return resource in _OF_PODS or resource.startswith(HUGE_PAGES)


def _own(quantities: Quantities, resource: str) -> Quantity | None:
    """What is asked for as a whole, of a resource that can be."""
    if not _is_of_pods(resource) or resource not in quantities:
        return None
    return parse_quantity(quantities[resource])


def _aggregate(pod: Pod, resource: str, of: Callable[[Container], Quantities]) -> Quantity | None:
    """All containers and sidecars at once, or an init container with the sidecars before it.

    Sidecars are summed up on the way: nobody bounds how many a pod has.
    """
    running = total(filter(None, (_read(of(one), resource) for one in pod.spec.containers)))
    sidecars = starting = None
    for one in pod.spec.init_containers:
        asked = _read(of(one), resource)
        if one.is_sidecar:
            running = _together(running, asked)
            together = sidecars = _together(sidecars, asked)
        else:
            together = _together(asked, sidecars)
        starting = _larger(starting, together)
    return _larger(running, starting)


def _together(*asked: Quantity | None) -> Quantity | None:
    return total(filter(None, asked))


def _larger(one: Quantity | None, other: Quantity | None) -> Quantity | None:
    """The first where they are equal."""
    if one is None or other is None:
        return one or other
    return other if other.nano > one.nano else one


def _read(quantities: Quantities, resource: str) -> Quantity | None:
    text = quantities.get(resource)
    return None if text is None else parse_quantity(text)
