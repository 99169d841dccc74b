"""What is said of an eviction for pressure: the sentences and the annotations of the kubelet.

Source: evictionMessage in pkg/kubelet/eviction/helpers.go and the formats in eviction_manager.go.
People and programs read these, so they are upstream's to the last space.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from bailiff.decisions.decision import Annotation
from bailiff.decisions.pressure.extensions import NO_EXTENSIONS
from bailiff.decisions.pressure.observed import as_int64
from bailiff.decisions.pressure.requests import has_pod_level_resources
from bailiff.decisions.pressure.signals import EPHEMERAL_STORAGE, INODES, MEMORY, PIDS
from bailiff.decisions.pressure.usage import memory_in_use
from bailiff.kinds.quantity import NANO, format_binary, format_decimal, parse_quantity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bailiff.decisions.pressure.extensions import MemoryInUse, PressureExtensions
    from bailiff.decisions.pressure.observed import Observation
    from bailiff.decisions.pressure.thresholds import Threshold, ThresholdValue
    from bailiff.kinds import Pod
    from bailiff.kinds.pod_resources import Container
    from bailiff.kinds.stats import ContainerStats, PodStats

OFFENDING_CONTAINERS = "offending_containers"
OFFENDING_CONTAINERS_USAGE = "offending_containers_usage"
OFFENDING_POD = "offending_pod"
OFFENDING_POD_USAGE = "offending_pod_usage"
STARVED_RESOURCE = "starved_resource"

_POD, _CONTAINER = "Pod", "Container"
_COUNTED = frozenset({INODES, PIDS})


class Told(NamedTuple):
    """What is said of one eviction.

    Attributes:
        message: of the pod's status, of the condition and of the Event.
        annotations: of the Event.
    """

    message: str
    annotations: tuple[Annotation, ...] = ()


def pressure_message(
    pod: Pod,
    stats: PodStats | None,
    threshold: Threshold,
    seen: Observation,
    extensions: PressureExtensions = NO_EXTENSIONS,
) -> Told:
    """Why a pod goes: what was low, and who used more of it than requested.

    Args:
        pod: that goes.
        stats: what was measured of it; None: nothing was, so that nobody can be blamed.
        threshold: that is met.
        seen: what is left of its signal.
        extensions: what counts as in use, and over which time stalls are averaged.
    """
    resource = threshold.signal.resource
    message = _why(threshold, seen, extensions)
    if stats is None:
        return Told(message)
    annotations: dict[str, str] = {}
    in_use = extensions.memory_in_use
    asked = _asked_as_a_whole(pod, stats, resource, in_use)
    if asked is not None:
        used, requested = asked
        message += _consumed(_POD, pod.metadata.name, used, requested, resource)
        annotations |= {OFFENDING_POD: pod.metadata.name, OFFENDING_POD_USAGE: used}
    blamed = list(_exceeding(pod, stats, resource, in_use))
    message += "".join(
        _consumed(_CONTAINER, name, used, requested, resource) for name, used, requested in blamed
    )
    annotations |= {
        OFFENDING_CONTAINERS: ",".join(name for name, _, _ in blamed),
        OFFENDING_CONTAINERS_USAGE: ",".join(used for _, used, _ in blamed),
        STARVED_RESOURCE: resource,
    }
    return Told(message, tuple(Annotation(key=k, value=v) for k, v in annotations.items()))


def empty_dir_message(volume: str, limit: str) -> str:
    """That a volume is over its limit, which is given as a quantity's text."""
    return f'Usage of EmptyDir volume "{volume}" exceeds the limit "{limit}". '


def pod_storage_message(limit: str) -> str:
    """That a pod as a whole is over the limit of its containers."""
    return f"Pod ephemeral local storage usage exceeds the total limit of containers {limit}. "


def container_storage_message(container: str, limit: str) -> str:
    """That a container is over its own limit."""
    return f'Container {container} exceeded its local ephemeral storage limit "{limit}". '


def observed_text(resource: str, amount: int) -> str:
    """An observed amount as the kubelet writes it: inodes and processes by thousands."""
    return format_decimal(amount) if resource in _COUNTED else format_binary(amount)


def _why(threshold: Threshold, seen: Observation, extensions: PressureExtensions) -> str:
    resource = threshold.signal.resource
    if threshold.signal.is_stall:
        stalled = (seen.capacity - seen.available) / seen.capacity
        return (
            f"Tasks on the node waited for {resource}: {threshold.signal} of the last "
            f"{extensions.stall_window} is {stalled:.2%}, "
            f"threshold {threshold.value.percentage or 0.0:.2%}. "
        )
    return (
        f"The node was low on resource: {resource}. "
        f"Threshold quantity: {_threshold_text(threshold.value, seen.capacity)}, "
        f"available: {observed_text(resource, seen.available)}. "
    )


def _threshold_text(value: ThresholdValue, capacity: int) -> str:
    if value.quantity is not None:
        return parse_quantity(value.quantity).text
    return format_binary(value.of(capacity) // NANO)


def _consumed(what: str, name: str, used: str, requested: str, resource: str) -> str:
    return (
        f"{what} {name} was using {used}, request is {requested}, "
        f"has larger consumption of {resource}. "
    )


def _asked_as_a_whole(
    pod: Pod, stats: PodStats, resource: str, in_use: MemoryInUse
) -> tuple[str, str] | None:
    """What the pod uses of memory and has asked for, where it has asked for that as a whole."""
    if resource != MEMORY or stats.memory is None or not has_pod_level_resources(pod):
        return None
    if pod.spec.resources is None or MEMORY not in pod.spec.resources.requests:
        return None
    used = format_binary(as_int64(memory_in_use(stats.memory, in_use) or 0))
    return used, parse_quantity(pod.spec.resources.requests[MEMORY]).text


def _exceeding(
    pod: Pod, stats: PodStats, resource: str, in_use: MemoryInUse
) -> Iterator[tuple[str, str, str]]:
    """Containers that use more than requested, in the order of the stats: name, usage, request."""
    # A name that stands twice is the first container's.
    known: dict[str, Container] = {}
    for one in (*pod.spec.containers, *pod.spec.init_containers):
        known.setdefault(one.name, one)
    for measured in stats.containers:
        container = known.get(measured.name)
        used = None if container is None else _container_usage(measured, resource, in_use)
        if container is None or used is None:
            continue
        requested = parse_quantity(container.resources.requests.get(resource, "0"))
        if requested.is_below(used):
            yield container.name, format_binary(used), requested.text


def _container_usage(stats: ContainerStats, resource: str, in_use: MemoryInUse) -> int | None:
    """None where it was not measured, and for inodes and processes, of which nobody is blamed."""
    if resource == MEMORY:
        used = memory_in_use(stats.memory, in_use)
        return None if used is None else as_int64(used)
    if resource != EPHEMERAL_STORAGE or stats.rootfs is None or stats.logs is None:
        return None
    layer, logs = stats.rootfs.used_bytes, stats.logs.used_bytes
    return None if layer is None or logs is None else as_int64(layer + logs)
