"""Pods that a node cannot do without, or cannot get back.

Source: pkg/kubelet/types/pod_update.go, pkg/apis/scheduling/types.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bailiff.kinds import Pod

# SystemCriticalPriority: twice the highest that a user may give.
SYSTEM_CRITICAL_PRIORITY = 2 * 10**9
SYSTEM_NODE_CRITICAL = "system-node-critical"
# The source of pods that come from the API server.
_API = "api"


def is_static(pod: Pod) -> bool:
    """The kubelet has it from a file or a URL; an evicted one would not come back."""
    source = pod.metadata.annotations.config_source
    return source is not None and source != _API


def is_mirror(pod: Pod) -> bool:
    """It only shows a static pod to the API server."""
    return pod.metadata.annotations.config_mirror is not None


def is_critical(pod: Pod) -> bool:
    """It is never evicted for pressure, and is admitted whatever the pressure (IsCriticalPod)."""
    return pod.spec.priority >= SYSTEM_CRITICAL_PRIORITY or is_static(pod) or is_mirror(pod)


def is_node_critical(pod: Pod) -> bool:
    """The node cannot do without it (IsNodeCriticalPod)."""
    return is_critical(pod) and pod.spec.priority_class_name == SYSTEM_NODE_CRITICAL
