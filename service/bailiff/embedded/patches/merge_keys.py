"""How strategic merge patches treat lists (the patchStrategy tags of k8s.io/api's types).

Keyed by field name: among the kinds served here no name has two meanings. A list that is not
named here, such as taints and tolerations, is replaced as a whole.
"""

from __future__ import annotations

# Lists of objects that merge by the value of a key.
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
    "resourceClaimStatuses": "name",
    "resourceClaims": "name",
    "schedulingGates": "name",
    "secrets": "name",
    "topologySpreadConstraints": "topologyKey",
    "reservedFor": "uid",
    "volumeDevices": "devicePath",
    "volumeMounts": "mountPath",
    "volumes": "name",
}

# Lists of plain values that merge as sets.
MERGED_SETS = frozenset({"finalizers", "podCIDRs"})
