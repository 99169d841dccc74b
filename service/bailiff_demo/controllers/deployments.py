"""ReplicaSets, and Deployments over them. A changed template replaces all pods at once."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import msgspec

from bailiff_demo.controllers.controller import BATCH
from bailiff_demo.controllers.owned import (
    delete_pod,
    is_active,
    owned,
    pod_from,
    reference_to,
    write_status,
)
from bailiff_demo.objects import JsonObject, clone, is_ready, part, set_condition
from bailiff_demo.resources import DEPLOYMENTS, PODS, REPLICASETS

if TYPE_CHECKING:
    from bailiff_demo.registry import Registry
    from bailiff_demo.store import Record

_HASH = "pod-template-hash"


def sync_replicaset(registry: Registry, replicaset: Record) -> None:
    """Make what is missing, delete what is too much."""
    pods = [record for record in owned(registry, PODS, replicaset) if is_active(record.object)]
    wanted = replicaset.object["spec"]["replicas"]
    # At most a batch at a time: the changes that it makes call for the rest.
    for _ in range(min(wanted - len(pods), BATCH)):
        pod = pod_from(replicaset.object, generateName=f"{replicaset.key[1]}-")
        registry.create(PODS, replicaset.key[0], pod)
    if len(pods) > wanted:
        pods.sort(key=_worth)
        for record in pods[: len(pods) - wanted]:
            delete_pod(registry, record)
    ready = sum(is_ready(record.object) for record in pods)
    counts = {"replicas": len(pods), "fullyLabeledReplicas": len(pods), "readyReplicas": ready}
    write_status(registry, REPLICASETS, replicaset, {**counts, "availableReplicas": ready})


def _worth(record: Record) -> tuple[bool, bool, int]:
    """Pods without a node go first, then those that are not ready, then the youngest."""
    bound = bool(record.object["spec"].get("nodeName"))
    return bound, is_ready(record.object), -record.version


def sync_deployment(registry: Registry, deployment: Record) -> None:
    """One ReplicaSet per template: the present one has all replicas, older ones none."""
    spec = deployment.object["spec"]
    name = f"{deployment.key[1]}-{template_hash(spec['template'])}"
    replicasets = owned(registry, REPLICASETS, deployment)
    if all(record.key[1] != name for record in replicasets):
        registry.create(REPLICASETS, deployment.key[0], _replicaset(deployment.object, name))
    for record in replicasets:
        replicas = spec["replicas"] if record.key[1] == name else 0
        if record.object["spec"]["replicas"] != replicas:
            changed = clone(record.object)
            changed["spec"]["replicas"] = replicas
            changed["metadata"]["generation"] += 1
            registry.store.replace(REPLICASETS, record, changed)
    _write_deployment_status(registry, deployment, name)


def template_hash(template: JsonObject) -> str:
    """Ten characters that change with the template."""
    raw = msgspec.json.encode(template, order="sorted")
    return hashlib.sha256(raw).hexdigest()[:10]


def _replicaset(deployment: JsonObject, name: str) -> JsonObject:
    spec = clone(deployment["spec"])
    template, selector = spec["template"], spec["selector"]
    digest = name.rpartition("-")[2]
    template["metadata"].setdefault("labels", {})[_HASH] = digest
    selector.setdefault("matchLabels", {})[_HASH] = digest
    return {
        "metadata": {
            "name": name,
            "labels": template["metadata"]["labels"],
            "ownerReferences": [reference_to(deployment)],
        },
        "spec": {"replicas": spec["replicas"], "selector": selector, "template": template},
    }


def _write_deployment_status(registry: Registry, deployment: Record, name: str) -> None:
    statuses = {
        r.key[1]: r.object.get("status", {}) for r in owned(registry, REPLICASETS, deployment)
    }
    total = {
        count: sum(status.get(count, 0) for status in statuses.values())
        for count in ("replicas", "readyReplicas", "availableReplicas")
    }
    wanted = deployment.object["spec"]["replicas"]
    status: JsonObject = {**total, "updatedReplicas": statuses.get(name, {}).get("replicas", 0)}
    status["unavailableReplicas"] = max(0, wanted - total["availableReplicas"])
    enough = not status["unavailableReplicas"]
    reason = "MinimumReplicasAvailable" if enough else "MinimumReplicasUnavailable"
    condition = {"type": "Available", "status": str(enough), "reason": reason, "message": ""}
    shown: JsonObject = clone({"status": part(deployment.object, "status")})
    set_condition(shown, condition, registry.clock.now())
    status["conditions"] = shown["status"]["conditions"]
    write_status(registry, DEPLOYMENTS, deployment, status)
