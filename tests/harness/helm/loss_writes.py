"""As `writes`, of a worker whose chart has the node-loss mode on, and a fence that taints."""

from __future__ import annotations

from typing import Any

from bailiff.decisions.node_loss.needs import OUT_OF_SERVICE, OWN_VALUE
from bailiff.worker.systems.node_loss.notes import ANNOTATION, TAINT_MANAGER
from tests.harness.api import NODES
from tests.harness.helm.scene import READY, Scene, send
from tests.harness.helm.writes import ADDRESS, Ask
from tests.harness.objects import condition, taint

LOSS = {"nodeLoss": {"enabled": True, "fence": {"secretName": "fence", "taint": True}}}
OURS = {"key": OUT_OF_SERVICE, "value": OWN_VALUE, "effect": "NoSchedule"}
NOT_READY = condition("Ready", "False")
LOST = {"reason": "NodeLost", "message": "Node n which was running pod p is unresponsive"}
_OWN_TAINT = "nothing in the spec of a node but its own taint"


def _tainted(scene: Scene, one: Any) -> Any:
    """One more taint of the node; the others stay as the API server has them."""
    body = [{"op": "add", "path": "/spec/taints/-", "value": one}]
    path = NODES.path("", scene.node)
    request = send("PATCH", path, body, "application/json-patch+json")
    request.query.update({"fieldManager": TAINT_MANAGER})
    return request


FORBIDDEN: dict[str, tuple[Ask, str]] = {
    "another taint": (lambda s: _tainted(s, taint("example.com/other")), _OWN_TAINT),
    "its taint with an effect that evicts": (
        lambda s: _tainted(s, OURS | {"effect": "NoExecute"}),
        _OWN_TAINT,
    ),
    "its taint in another's name": (
        lambda s: _tainted(s, OURS | {"value": "nodeshutdown"}),
        _OWN_TAINT,
    ),
    "no taints at all": (lambda s: s.on_node({"spec": {"taints": []}}), _OWN_TAINT),
    "a node's cordon": (lambda s: s.on_node({"spec": {"unschedulable": True}}), _OWN_TAINT),
    "another annotation of a node": (
        lambda s: s.on_node({"metadata": {"annotations": {"example.com/a": "y"}}}),
        "no annotation of a node but",
    ),
    "a node's address": (
        lambda s: s.on_node({"status": {"addresses": [ADDRESS]}}, "status"),
        "the status of a node",
    ),
    "a pod that has failed": (
        lambda s: s.on_pod({"status": LOST | {"phase": "Failed"}}),
        "say why a pod is lost only with its own reason",
    ),
    "another reason of a pod": (
        lambda s: s.on_pod({"status": {"reason": "Evicted"}}),
        "say why a pod is lost only with its own reason",
    ),
    "another condition of a pod": (
        lambda s: s.on_pod({"status": {"conditions": [condition("Initialized", "False")]}}),
        "no condition of a pod but",
    ),
    "a pod with half a second less": (
        lambda s: s.removal(gracePeriodSeconds=5, **s.preconditions),
        "less time to end",
    ),
    "an Event on a node by the kubelet": (lambda s: s.event("Node", "kubelet"), "only as"),
}
ALLOWED: dict[str, Ask] = {
    "what is remembered of a node": lambda s: s.on_node(
        {"metadata": {"annotations": {ANNOTATION: "{}"}}}
    ),
    "its taint": lambda s: _tainted(s, OURS),
    "why a pod is lost": lambda s: s.on_pod({"status": LOST}),
    "that a pod is not ready": lambda s: s.on_pod({"status": {"conditions": [READY | NOT_READY]}}),
    "a delete at once": lambda s: s.removal(gracePeriodSeconds=0, **s.preconditions),
    "an Event on a node": lambda s: s.event("Node", "node-controller"),
}
