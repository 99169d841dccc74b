"""What a span says of the pod that goes: the same from the worker and from an agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bailiff.kinds import Pod
    from bailiff.tracing.port import Attributes


def about_pod(pod: Pod, system: str) -> Attributes:
    """Which pod goes, and which system says so. Names alone; the k8s ones are OpenTelemetry's."""
    meta = pod.metadata
    return {
        "bailiff.system": system,
        "k8s.namespace.name": meta.namespace,
        "k8s.pod.name": meta.name,
        "k8s.pod.uid": meta.uid,
        "k8s.node.name": pod.spec.node_name,
    }
