"""Objects that the worker's account may be made to write, and the requests that would."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from bailiff.cluster import LEASES, PatchType, Request
from bailiff.worker.systems.node_taints.annotator import NOTE_MANAGER
from tests.harness.api import NODES, PODS, name_of, uid_of
from tests.harness.device_objects import RULES
from tests.harness.objects import condition
from tests.harness.working import EVENTS

READY = condition("Ready", reason="KubeletReady")


class Scene(NamedTuple):
    """Objects that the worker's account tries to write.

    Attributes:
        namespace: of the pods and the Lease.
        node: with a taint, so that somebody owns some of its spec.
        specless: a node of which somebody owns a label, and nobody any of its spec.
        pod: that runs on the node.
        going: another one that is being deleted, and whose containers still run.
        rule: a DeviceTaintRule.
        lease: the worker's.
    """

    namespace: str
    node: str
    specless: str
    pod: dict[str, Any]
    going: dict[str, Any]
    rule: str
    lease: str

    def on_node(self, body, subresource=""):
        return patch(NODES.path("", self.node, subresource), body)

    def on_owners(self, *edits):
        path = NODES.path("", self.node)
        return send("PATCH", path, list(edits), PatchType.JSON.value)

    def on_specless(self, metadata):
        return patch(NODES.path("", self.specless), {"metadata": metadata})

    def on_pod(self, body, subresource="status"):
        return patch(PODS.path(self.namespace, name_of(self.pod), subresource), body)

    def on_rule(self, body, subresource="status"):
        return patch(RULES.path("", self.rule, subresource), body)

    def on_lease(self, body):
        return patch(LEASES.path(self.namespace, self.lease), body)

    def conditions(self, *more):
        return {"status": {"conditions": [READY, *more]}}

    def event(self, kind="Pod", component="taint-eviction-controller", **more):
        body = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"generateName": "e-", "namespace": self.namespace},
            "involvedObject": {"kind": kind, "namespace": self.namespace, "name": "some"},
            "reportingComponent": component,
            "source": {"component": component},
        } | more
        return send("POST", EVENTS.path(self.namespace), body)

    def newer_event(self, controller):
        body = {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {"generateName": "e-", "namespace": self.namespace},
            "regarding": {"kind": "Pod", "namespace": self.namespace, "name": "some"},
            "eventTime": "2026-01-01T00:00:00.000000Z",
            "reportingController": controller,
            "reportingInstance": "some",
            "type": "Normal",
            "reason": "Some",
            "action": "Some",
        }
        return send("POST", f"/apis/events.k8s.io/v1/namespaces/{self.namespace}/events", body)

    def removal(self, **options):
        path = PODS.path(self.namespace, name_of(self.pod))
        return delete(path, **options)

    def second_removal(self, **options):
        path = PODS.path(self.namespace, name_of(self.going))
        return delete(path, preconditions={"uid": uid_of(self.going)}, **options)

    def eviction(self, **options):
        path = PODS.path(self.namespace, name_of(self.pod), "eviction")
        body = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": name_of(self.pod), "namespace": self.namespace},
            "deleteOptions": {"dryRun": ["All"]} | options,
        }
        return send("POST", path, body)

    @property
    def preconditions(self):
        return {"preconditions": {"uid": uid_of(self.pod)}}


def send(method, path, body, content_type="application/json"):
    # Of a name that nobody else writes by: the client's own would be the administrator's, too.
    query = {"dryRun": "All"} | ({} if method == "DELETE" else {"fieldManager": NOTE_MANAGER})
    return Request(method, path, query, json.dumps(body).encode(), content_type)


def delete(path, **options):
    # Options in the body take the place of those in the query.
    body = {"apiVersion": "v1", "kind": "DeleteOptions", "dryRun": ["All"]} | options
    return send("DELETE", path, body)


def patch(path, body):
    return send("PATCH", path, body, PatchType.MERGE.value)
