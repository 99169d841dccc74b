"""Where a pod may run, by the product's own rules."""

from __future__ import annotations

from bailiff.decisions import tolerates
from bailiff.kinds import Taint, Toleration, decode_yaml_value
from bailiff_demo.objects import JsonObject, labels_of, part
from bailiff_demo.selectors import chooses

_REPELLING = ("NoSchedule", "NoExecute")
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_UNSCHEDULABLE = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}


def tolerated(spec: JsonObject, node: JsonObject) -> bool:
    """Whether a pod spec tolerates all repelling taints of a node, and its cordon."""
    taints = [t for t in part(node, "spec").get("taints", []) if t.get("effect") in _REPELLING]
    if part(node, "spec").get("unschedulable"):
        taints.append(_UNSCHEDULABLE)
    if not taints:
        return True
    tolerations = decode_yaml_value(spec.get("tolerations", []), tuple[Toleration, ...])
    return all(
        any(tolerates(toleration, taint) for toleration in tolerations)
        for taint in decode_yaml_value(taints, tuple[Taint, ...])
    )


def selects(spec: JsonObject, node: JsonObject) -> bool:
    """Whether a pod spec's node selector and its pinning to one node allow the node."""
    labels, name = labels_of(node), node["metadata"]["name"]
    if spec.get("nodeName", name) != name:
        return False
    wanted = spec.get("nodeSelector") or {}
    if any(labels.get(key) != value for key, value in wanted.items()):
        return False
    pinned = pinned_node(spec)
    return pinned is None or pinned == name


def preference(spec: JsonObject, node: JsonObject) -> int:
    """The weight that a pod spec's preferred node affinity gives a node."""
    terms = part(spec, "affinity", "nodeAffinity").get(_PREFERRED) or []
    return sum(
        int(term.get("weight", 0))
        for term in terms
        if chooses(part(term, "preference"), labels_of(node))
    )


def pin(node: str) -> JsonObject:
    """The affinity that ties a DaemonSet's pod to its node, as upstream's controller writes it."""
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    terms = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


def pinned_node(spec: JsonObject) -> str | None:
    """The node that such an affinity names; None without one."""
    required = part(
        spec, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"
    )
    for term in required.get("nodeSelectorTerms") or []:
        for field in term.get("matchFields") or []:
            if field.get("key") == "metadata.name" and field.get("values"):
                return str(field["values"][0])
    return None
