"""How patches and apply treat lists: one table.

From the patchStrategy and listType tags of k8s.io/api's types, by the name of the field. A list
that is not named here, such as taints and tolerations, is replaced as a whole.
"""

from __future__ import annotations

# Lists of objects that merge by the value of a key.
MERGE_KEYS: dict[str, str] = {
    "addresses": "type",
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

# Lists of plain values that strategic merge patches merge as sets.
MERGED_SETS = frozenset({"finalizers", "podCIDRs"})

# Objects whose fields have one owner together when they are applied.
APPLIED_WHOLE = frozenset({"labelSelector", "nodeSelector", "ownerReferences", "selector"})
