"""Which of the pods that are due goes first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.decisions.policies.settings import DrainOrder

if TYPE_CHECKING:
    from bailiff.kinds import Pod

# pkg/apis/scheduling/types.go, SystemCriticalPriority.
SYSTEM_CRITICAL_PRIORITY = 2_000_000_000
_API_SOURCE = "api"

Rank = tuple[float, ...]


def rank(pod: Pod, order: DrainOrder) -> Rank:
    """A sort key: the pod with the lesser one goes first. Pods of one rank go as they fell due."""
    if order is DrainOrder.DUE:
        return ()
    created = pod.metadata.creation_timestamp
    return (
        is_critical(pod) or is_daemon(pod),
        pod.spec.priority,
        -created.timestamp() if created is not None else 0.0,
    )


def is_critical(pod: Pod) -> bool:
    """Whether the kubelet would never preempt it (pkg/kubelet/types, IsCriticalPod).

    A static pod, the mirror of one, or a priority from 2,000,000,000 on; the name of the priority
    class does not matter.
    """
    annotations = pod.metadata.annotations
    source = annotations.config_source
    return (
        pod.spec.priority >= SYSTEM_CRITICAL_PRIORITY
        or annotations.config_mirror is not None
        or (source is not None and source != _API_SOURCE)
    )


def is_daemon(pod: Pod) -> bool:
    """Whether a DaemonSet controls it: evicted, it would come back to the same node."""
    return any(
        owner.controller and owner.kind == "DaemonSet" and owner.api_version.startswith("apps/")
        for owner in pod.metadata.owner_references
    )
