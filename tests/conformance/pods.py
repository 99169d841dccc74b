"""Cases about what a pod is, put to our core, answered in the files' terms."""

from __future__ import annotations

from typing import Any

import msgspec

from bailiff.decisions.criticality import is_critical, is_mirror, is_node_critical, is_static
from bailiff.decisions.quality_of_service import computed_qos_class, qos_class
from bailiff.kinds import Pod

Json = dict[str, Any]


def answer_qos(case: Json) -> Json:
    pod = msgspec.convert(case["pod"], Pod)
    levels = case["podLevelResources"]
    return {
        "qosClass": pod.status.qos_class or computed_qos_class(pod, pod_level_resources=levels),
        "computedQosClass": computed_qos_class(pod, pod_level_resources=levels),
        "critical": is_critical(pod),
        "nodeCritical": is_node_critical(pod),
        "static": is_static(pod),
        "mirror": is_mirror(pod),
    } | ({"qosClass": qos_class(pod)} if levels else {})
