"""Writes that the worker's account may be made to try, and what its admission says to each."""

from __future__ import annotations

from collections.abc import Callable

from bailiff.cluster import LEASES, Request
from bailiff.worker.systems.node_taints.annotator import ANNOTATION, NOTE_MANAGER
from tests.harness.api import NODES, STRANGER, uid_of
from tests.harness.helm.scene import READY, Scene, delete, send
from tests.harness.objects import condition, node_object, taint

GOING = {
    "type": "DisruptionTarget",
    "status": "True",
    "reason": "DeletionByTaintManager",
    "message": "Taint manager: deleting due to NoExecute taint",
}


OWNER = {"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": STRANGER}
ADDRESS = {"type": "InternalIP", "address": "10.9.9.9"}
AT = {"lastTransitionTime": "2026-01-01T00:00:00Z", "reason": "R", "message": "m"}
PROGRESS = {"type": "EvictionInProgress", "status": "True"} | AT
OTHER = {"type": "Other", "status": "True"} | AT
OURS = {
    "manager": NOTE_MANAGER,
    "operation": "Update",
    "apiVersion": "v1",
    "time": "2026-01-01T00:00:00Z",
    "fieldsType": "FieldsV1",
    "fieldsV1": {"f:metadata": {"f:annotations": {".": {}, f"f:{ANNOTATION}": {}}}},
}
TAINTED_LONG_AGO = {
    # As the API server calls whoever wrote before it began to keep managedFields.
    "manager": "before-first-apply",
    "operation": "Update",
    "apiVersion": "v1",
    "time": "2020-01-01T00:00:00Z",
    "fieldsType": "FieldsV1",
    "fieldsV1": {"f:spec": {"f:taints": {}}},
}
Ask = Callable[[Scene], Request]

FORBIDDEN: dict[str, tuple[Ask, str]] = {
    "a taint": (
        lambda s: s.on_node({"spec": {"taints": [taint("evil")]}}),
        "may not change the spec of a node",
    ),
    "no taints": (lambda s: s.on_node({"spec": {"taints": None}}), "the spec of a node"),
    "cordon": (lambda s: s.on_node({"spec": {"unschedulable": True}}), "the spec of a node"),
    "a node's role": (
        lambda s: s.on_node({"metadata": {"labels": {"node-role.kubernetes.io/x": ""}}}),
        "the metadata of a node but its own annotation",
    ),
    "a node's label taken away": (
        lambda s: s.on_node({"metadata": {"labels": {"zone": None}}}),
        "the metadata of a node but its own annotation",
    ),
    "a node's finalizer": (
        lambda s: s.on_node({"metadata": {"finalizers": ["example.com/never"]}}),
        "the metadata of a node but its own annotation",
    ),
    "a node's owner": (
        lambda s: s.on_node({"metadata": {"ownerReferences": [OWNER]}}),
        "the metadata of a node but its own annotation",
    ),
    "another annotation": (
        lambda s: s.on_node({"metadata": {"annotations": {"example.com/a": "changed"}}}),
        f"no annotation of a node but {ANNOTATION}",
    ),
    "a new annotation": (
        lambda s: s.on_node({"metadata": {"annotations": {"example.com/b": "x"}}}),
        "no annotation of a node but",
    ),
    "another annotation taken away": (
        lambda s: s.on_node({"metadata": {"annotations": {"example.com/a": None}}}),
        "no annotation of a node but",
    ),
    "who wrote the taints, and when": (
        lambda s: s.on_node({"metadata": {"managedFields": [{}]}}),
        "who wrote a node's spec",
    ),
    "somebody who wrote the taints long ago": (
        lambda s: s.on_owners(
            {"op": "add", "path": "/metadata/managedFields/-", "value": TAINTED_LONG_AGO}
        ),
        "who wrote a node's spec",
    ),
    "who wrote anything of a node": (
        lambda s: s.on_specless({"managedFields": [{}]}),
        "who wrote anything of a node",
    ),
    "who wrote anything of a node, with a note": (
        lambda s: s.on_specless({"managedFields": [{}], "annotations": {ANNOTATION: "x"}}),
        "who wrote anything of a node",
    ),
    "that the worker alone wrote a node": (
        lambda s: s.on_specless({"managedFields": [OURS]}),
        "who wrote anything of a node",
    ),
    "a node's status": (
        lambda s: s.on_node({"status": {"conditions": [condition("Ready", "False")]}}, "status"),
        "the status of a node",
    ),
    "a node's addresses": (
        lambda s: s.on_node({"status": {"addresses": [ADDRESS]}}, "status"),
        "the status of a node",
    ),
    "a new node": (
        lambda _: send("POST", NODES.path(), node_object("made-up")),
        "may neither create nor delete nodes",
    ),
    "no node": (lambda s: delete(NODES.path("", s.node)), "neither create nor delete"),
    "a pod's address": (
        lambda s: s.on_pod({"status": {"podIP": "10.9.9.9", "podIPs": [{"ip": "10.9.9.9"}]}}),
        "the status of a pod only the condition DisruptionTarget",
    ),
    "a pod's phase": (lambda s: s.on_pod({"status": {"phase": "Failed"}}), "the status of a pod"),
    "a pod's reason": (lambda s: s.on_pod({"status": {"reason": "Why"}}), "the status of a pod"),
    "a pod's start": (
        lambda s: s.on_pod({"status": {"startTime": None}}),
        "the status of a pod",
    ),
    "another condition": (
        lambda s: s.on_pod({"status": {"conditions": [READY | {"status": "False"}]}}),
        "no condition of a pod but DisruptionTarget",
    ),
    "a further condition": (
        lambda s: s.on_pod(s.conditions(condition("example.com/gate"))),
        "no condition of a pod but DisruptionTarget",
    ),
    "a condition taken away": (
        lambda s: s.on_pod({"status": {"conditions": [GOING]}}),
        "no condition of a pod but DisruptionTarget",
    ),
    "all conditions taken away": (
        lambda s: s.on_pod({"status": {"conditions": None}}),
        "only the condition DisruptionTarget",
    ),
    "somebody else's reason": (
        lambda s: s.on_pod(s.conditions(GOING | {"reason": "PreemptionByScheduler"})),
        "only for its own reasons",
    ),
    "no reason": (
        lambda s: s.on_pod(s.conditions(condition("DisruptionTarget"))),
        "only for its own reasons",
    ),
    "our condition twice": (
        lambda s: s.on_pod(s.conditions(GOING, GOING | {"message": "again"})),
        "nor write it twice",
    ),
    "a pod's label": (
        lambda s: s.on_pod({"metadata": {"labels": {"app": "other"}}}),
        "the metadata of a pod",
    ),
    "a pod's annotation": (
        lambda s: s.on_pod({"metadata": {"annotations": {"example.com/a": "x"}}}),
        "the metadata of a pod",
    ),
    "a pod's image": (
        lambda s: s.on_pod({"spec": {"activeDeadlineSeconds": 1}}, ""),
        "the spec of a pod",
    ),
    "any pod of that name": (lambda s: s.removal(), "only by its UID"),
    "a pod at once": (
        lambda s: s.removal(gracePeriodSeconds=0, **s.preconditions),
        "less time to end",
    ),
    "a pod at once that is being deleted": (
        lambda s: s.second_removal(gracePeriodSeconds=0),
        "less time to end",
    ),
    "a pod that is being deleted sooner": (
        lambda s: s.second_removal(gracePeriodSeconds=29),
        "less time to end",
    ),
    "an eviction of any of that name": (lambda s: s.eviction(), "only by its UID"),
    "an eviction at once": (
        lambda s: s.eviction(gracePeriodSeconds=0, **s.preconditions),
        "less time to end",
    ),
    "an Event of the kubelet": (
        lambda s: s.event(component="kubelet"),
        "only as the controllers whose place it takes",
    ),
    "an Event from elsewhere": (
        lambda s: s.event(source={"component": "kubelet"}),
        "only as the controllers whose place it takes",
    ),
    "an Event by its newer API": (
        lambda s: s.newer_event("kubelet"),
        "only as the controllers whose place it takes",
    ),
    "an Event on a Secret": (lambda s: s.event("Secret"), "only about pods"),
    "an Event on a node": (lambda s: s.event("Node"), "only about pods"),
    "an owner of a Lease": (
        lambda s: s.on_lease({"metadata": {"ownerReferences": [OWNER]}}),
        "the metadata of a Lease",
    ),
    "a Lease": (
        lambda s: send("POST", LEASES.path(s.namespace), {"metadata": {"name": "another"}}),
        "neither create nor delete Leases",
    ),
    "no Lease": (
        lambda s: delete(LEASES.path(s.namespace, s.lease)),
        "neither create nor delete Leases",
    ),
    "a rule's effect": (
        lambda s: s.on_rule({"spec": {"taint": {"key": "k", "effect": "NoExecute"}}}, ""),
        "the spec of a DeviceTaintRule",
    ),
    "a rule's label": (
        lambda s: s.on_rule({"metadata": {"labels": {"a": "b"}}}, ""),
        "the metadata of a DeviceTaintRule",
    ),
    "another condition of a rule": (
        lambda s: s.on_rule({"status": {"conditions": [PROGRESS, OTHER | {"status": "False"}]}}),
        "no condition of a DeviceTaintRule but EvictionInProgress",
    ),
    "a condition of a rule taken away": (
        lambda s: s.on_rule({"status": {"conditions": [OTHER]}}),
        "may not remove the condition EvictionInProgress",
    ),
}
ALLOWED: dict[str, Ask] = {
    "our annotation": lambda s: s.on_node({"metadata": {"annotations": {ANNOTATION: "x"}}}),
    "a condition": lambda s: s.on_pod(s.conditions(GOING)),
    "our condition taken back": lambda s: s.on_pod(
        s.conditions(GOING | {"status": "False", "reason": "", "message": ""})
    ),
    "nothing at all": lambda s: s.on_pod({"metadata": {"uid": uid_of(s.pod)}}),
    "a delete": lambda s: s.removal(**s.preconditions),
    "a delete once more": lambda s: s.second_removal(),
    "an eviction": lambda s: s.eviction(**s.preconditions),
    "an Event on a pod": lambda s: s.event(),
    "an Event on our Lease": lambda s: s.event("Lease", "bailiff-worker"),
    "a Lease's holder": lambda s: s.on_lease({"spec": {"holderIdentity": "x"}}),
    "progress": lambda s: s.on_rule(
        {"status": {"conditions": [PROGRESS | {"status": "False"}, OTHER]}}
    ),
}
