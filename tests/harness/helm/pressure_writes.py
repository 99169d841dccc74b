"""As `writes`, of a worker whose chart has the pressure mode on."""

from __future__ import annotations

from bailiff.worker.systems.pressure.node_writer import ANNOTATION, FIELD_MANAGER
from tests.harness.api import NODES
from tests.harness.helm.scene import READY, send
from tests.harness.helm.writes import ADDRESS, GOING, Ask
from tests.harness.objects import condition

PRESSURE = {"pressure": {"enabled": True}}
TERMINATED = GOING | {"reason": "TerminationByKubelet", "message": "The node was low on resource"}
LOW = condition("MemoryPressure", reason="KubeletHasInsufficientMemory", message="m")
EVICTED = {"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource"}

FORBIDDEN: dict[str, tuple[Ask, str]] = {
    "another condition of a node": (
        lambda s: s.on_node({"status": {"conditions": [condition("Ready", "False")]}}, "status"),
        "no condition of a node but those of pressure",
    ),
    "a node's addresses": (
        lambda s: s.on_node({"status": {"addresses": [ADDRESS]}}, "status"),
        "the status of a node only conditions of pressure",
    ),
    "another annotation of a node": (
        lambda s: s.on_node({"metadata": {"annotations": {"example.com/a": "y"}}}),
        "no annotation of a node but",
    ),
    "a pod that has succeeded": (
        lambda s: s.on_pod({"status": {"phase": "Succeeded", "reason": "Evicted"}}),
        "only as Failed, with the reason Evicted",
    ),
    "a pod that has failed for another reason": (
        lambda s: s.on_pod({"status": {"phase": "Failed", "reason": "Why"}}),
        "only as Failed, with the reason Evicted",
    ),
    "a pod's message alone": (
        lambda s: s.on_pod({"status": {"message": "m"}}),
        "only as Failed, with the reason Evicted",
    ),
    "a pod's address": (
        lambda s: s.on_pod({"status": {"podIP": "10.9.9.9", "podIPs": [{"ip": "10.9.9.9"}]}}),
        "the status of a pod only the condition DisruptionTarget",
    ),
    "a pod at once": (
        lambda s: s.removal(gracePeriodSeconds=0, **s.preconditions),
        "less time to end",
    ),
    "an eviction at once": (
        lambda s: s.eviction(gracePeriodSeconds=0, **s.preconditions),
        "less time to end",
    ),
    "an Event on a node by another controller": (lambda s: s.event("Node"), "only about pods"),
    "an Event on a Secret by the kubelet": (
        lambda s: s.event("Secret", "kubelet"),
        "only about pods",
    ),
}
ALLOWED: dict[str, Ask] = {
    "what is remembered of a node": lambda s: s.on_node(
        {"metadata": {"annotations": {ANNOTATION: "{}"}}}
    ),
    "a node's condition": lambda s: _applied(s, LOW),
    "a pod's end": lambda s: s.on_pod({"status": EVICTED | {"conditions": [READY, TERMINATED]}}),
    "a delete with a second": lambda s: s.removal(gracePeriodSeconds=1, **s.preconditions),
    "an eviction with a second": lambda s: s.eviction(gracePeriodSeconds=1, **s.preconditions),
    "an Event on a pod": lambda s: s.event("Pod", "kubelet"),
    "an Event on a node": lambda s: s.event("Node", "kubelet"),
}


def _applied(scene, *conditions):
    body = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": scene.node},
        "status": {"conditions": list(conditions)},
    }
    request = send(
        "PATCH", NODES.path("", scene.node, "status"), body, "application/apply-patch+yaml"
    )
    request.query.update({"fieldManager": FIELD_MANAGER, "force": "true"})
    return request
