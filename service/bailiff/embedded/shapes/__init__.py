"""The types of the fields that rules read; what has another type is refused at the door.

Only types: whether a value is allowed is the rules' business. Fields that no rule reads pass
whatever they hold.
"""

from __future__ import annotations

import msgspec

from bailiff.embedded import errors
from bailiff.embedded.shapes import devices, nodes, others, pods, workloads
from bailiff.embedded.shapes.base import Object

_SHAPES: dict[str, type[Object]] = {
    "Pod": pods.Pod,
    "Node": nodes.Node,
    "DaemonSet": workloads.Workload,
    "StatefulSet": workloads.Workload,
    "Deployment": workloads.Workload,
    "ReplicaSet": workloads.Workload,
    "Lease": others.Lease,
    "PodDisruptionBudget": others.PodDisruptionBudget,
    "PriorityClass": others.PriorityClass,
    "Namespace": others.Namespace,
    "Event": others.Event,
    "ConfigMap": others.Data,
    "Secret": others.Data,
    "ResourceSlice": devices.ResourceSlice,
    "ResourceClaim": devices.ResourceClaim,
    "ResourceClaimTemplate": devices.ResourceClaimTemplate,
    "DeviceClass": devices.DeviceClass,
    "DeviceTaintRule": devices.DeviceTaintRule,
    "Eviction": others.Eviction,
    "Binding": others.Binding,
    "Scale": workloads.Scale,
    "DeleteOptions": others.DeleteOptions,
}


def check_shape(value: object, kind: str, api_version: str) -> None:
    """Refuse an object whose fields have wrong types.

    Args:
        value: without nulls.
        kind: whose shape.
        api_version: for the message.

    Raises:
        ApiError: 400, naming the field.
    """
    try:
        msgspec.convert(value, _SHAPES.get(kind, Object))
    except msgspec.ValidationError as error:
        message = (
            f'{kind} in version "{api_version}" cannot be handled as a {kind}: '
            f"json: cannot unmarshal: {error}"
        )
        raise errors.bad_request(message) from error
