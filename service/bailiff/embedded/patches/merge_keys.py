"""How patches treat lists and maps: one table for strategic merge patches and server-side apply.

From the patchStrategy, listType and mapType tags of k8s.io/api's types. Keyed by field name, or by
the names of the field and of what holds it where a name alone has two meanings. A list that is not
named here, such as taints and tolerations, is replaced as a whole.
"""

from __future__ import annotations

from typing import TypeAlias

# Of the fields on the way to a value, outermost first; items of lists have no name.
Names: TypeAlias = tuple[str, ...]

# Lists of objects that strategic merge patches merge by the value of a key.
MERGE_KEYS: dict[str, str] = {
    "addresses": "type",
    "allocatedResourcesStatus": "name",
    "conditions": "type",
    "containers": "name",
    "env": "name",
    "ephemeralContainers": "name",
    "hostAliases": "ip",
    "hostIPs": "ip",
    "imagePullSecrets": "name",
    "initContainers": "name",
    "ownerReferences": "uid",
    "podIPs": "ip",
    "ports": "containerPort",
    "reservedFor": "uid",
    "resourceClaimStatuses": "name",
    "resourceClaims": "name",
    "schedulingGates": "name",
    "secrets": "name",
    "topologySpreadConstraints": "topologyKey",
    "volumeDevices": "devicePath",
    "volumeMounts": "mountPath",
    "volumes": "name",
}

# Lists of plain values that merge as sets.
MERGED_SETS = frozenset({"finalizers", "podCIDRs"})

# Where apply has other keys. None: the list is applied as a whole.
_APPLY_KEYS: dict[Names, tuple[str, ...] | None] = {
    ("allocatedResourcesStatus",): None,
    ("hostIPs",): None,
    ("ports",): ("containerPort", "protocol"),
    ("topologySpreadConstraints",): ("topologyKey", "whenUnsatisfiable"),
    ("resources", "claims"): ("name",),
    ("status", "devices"): ("device", "driver", "pool", "shareID"),
}
# A ServiceAccount's, which unlike a pod's is applied as a whole.
_ROOT_ATOMIC = {("imagePullSecrets",)}

# What a key is that is left out.
KEY_DEFAULTS = {"protocol": "TCP"}

# Objects that are applied as a whole, also as items of a list of that name.
_ATOMIC_OBJECTS = frozenset(
    {
        "configMapKeyRef",
        "dataSource",
        "fieldRef",
        "fileKeyRef",
        "imagePullSecrets",
        "involvedObject",
        "labelSelector",
        "nodePublishSecretRef",
        "nodeSelector",
        "ownerReferences",
        "regarding",
        "related",
        "requiredDuringSchedulingIgnoredDuringExecution",
        "resourceFieldRef",
        "secretKeyRef",
        "secretRef",
        "secrets",
        "selector",
    }
)
_ATOMIC_PAIRS = frozenset({("devices", "data"), ("opaque", "parameters")})


def apply_keys(names: Names) -> tuple[str, ...] | None:
    """The keys by which apply tells the items of a list; None if it is applied as a whole."""
    if names in _ROOT_ATOMIC:
        return None
    for place in (names[-2:], names[-1:]):
        if place in _APPLY_KEYS:
            return _APPLY_KEYS[place]
    key = MERGE_KEYS.get(names[-1])
    return None if key is None else (key,)


def is_applied_whole(names: Names) -> bool:
    """Whether the fields of an object have one owner together."""
    return bool(names) and (names[-1] in _ATOMIC_OBJECTS or names[-2:] in _ATOMIC_PAIRS)
