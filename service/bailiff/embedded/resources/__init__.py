"""The table of resources: what is served under which path, in which group.

To add a kind: a row in kinds.py or devices.py, its fields in shapes/ if rules read them, its rules
in rules/, its columns in tables/, its lists in patches/merge_keys.py.
"""

from __future__ import annotations

from bailiff.embedded.resources.devices import (
    DEVICE_RESOURCES,
    DEVICECLASSES,
    DEVICETAINTRULES,
    RESOURCECLAIMS,
    RESOURCECLAIMTEMPLATES,
    RESOURCESLICES,
)
from bailiff.embedded.resources.kinds import (
    CONFIGMAPS,
    DAEMONSETS,
    DEPLOYMENTS,
    EVENTS,
    LEASES,
    NAMESPACES,
    NEW_EVENTS,
    NODES,
    PODDISRUPTIONBUDGETS,
    PODS,
    PRIORITYCLASSES,
    REPLICASETS,
    SECRETS,
    SERVICEACCOUNTS,
    STATEFULSETS,
)
from bailiff.embedded.resources.resource import (
    ALL_VERBS,
    Resource,
    Subresource,
    subresources_of,
)

__all__ = [
    "ALL_VERBS",
    "BY_ID",
    "CONFIGMAPS",
    "DAEMONSETS",
    "DEPLOYMENTS",
    "DEVICECLASSES",
    "DEVICETAINTRULES",
    "DEVICE_RESOURCES",
    "EVENTS",
    "LEASES",
    "NAMESPACES",
    "NEW_EVENTS",
    "NODES",
    "PODDISRUPTIONBUDGETS",
    "PODS",
    "PRIORITYCLASSES",
    "REPLICASETS",
    "RESOURCECLAIMS",
    "RESOURCECLAIMTEMPLATES",
    "RESOURCES",
    "RESOURCESLICES",
    "SECRETS",
    "SERVICEACCOUNTS",
    "STATEFULSETS",
    "Resource",
    "Subresource",
    "find_resource",
    "subresources_of",
]

RESOURCES: tuple[Resource, ...] = (
    NAMESPACES,
    NODES,
    PODS,
    EVENTS,
    CONFIGMAPS,
    SECRETS,
    SERVICEACCOUNTS,
    NEW_EVENTS,
    DAEMONSETS,
    STATEFULSETS,
    DEPLOYMENTS,
    REPLICASETS,
    LEASES,
    PODDISRUPTIONBUDGETS,
    PRIORITYCLASSES,
    *DEVICE_RESOURCES,
)

# Of several versions of a kind the first one listed stands for it.
BY_ID: dict[str, Resource] = {resource.id: resource for resource in reversed(RESOURCES)}


def find_resource(name: str) -> Resource:
    """By id (`daemonsets.apps`), or by plural alone; the first one listed wins.

    Raises:
        KeyError: there is none.
    """
    if name in BY_ID:
        return BY_ID[name]
    for resource in RESOURCES:
        if resource.plural == name:
            return resource
    raise KeyError(name)
