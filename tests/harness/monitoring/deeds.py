"""What is done to a demo, so that each metric of a dashboard has something to tell."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import json
import socket
import ssl
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grpc

from bailiff.cluster import PatchType, Resource, connect
from bailiff.v1 import eviction_decision_service_pb2 as messages
from bailiff.v1 import eviction_decision_service_pb2_grpc as services
from tests.harness.api import NODES, PODS
from tests.harness.objects import object_of, pod_object, taint

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bailiff.cluster import Cluster
    from tests.harness.monitoring.prometheus import Target
    from tests.harness.transcripts import Up

_RULES: Resource[dict[str, Any]] = Resource(
    "resource.k8s.io", "v1beta2", "devicetaintrules", dict, namespaced=False
)
_SLICES: Resource[dict[str, Any]] = Resource(
    "resource.k8s.io", "v1", "resourceslices", dict, namespaced=False
)
_GPUS = {"deviceSelector": {"pool": "gpu-1"}, "taint": {"key": "recall", "effect": "NoExecute"}}
_FACTS = {"pod": {"metadata": {"name": "web"}}, "node": {"metadata": {"name": "n1"}}}
# A token of somebody whose rights have to be asked for.
STRANGER = "stranger-token"
# What has to be told before the second half; and what is told in the end.
BEGUN = (
    "bailiff_worker_node_loss_evictions_total > 0",
    "kubelet_evictions_total > 0",
    "bailiff_worker_pressure_dry_runs_total > 0",
    "device_taint_eviction_controller_pod_deletions_total > 0",
    "taint_eviction_controller_pod_deletions_total > 0",
    "bailiff_grpc_connections_ended_total > 0",
    "bailiff_worker_unreadable_objects_total > 0",
    "bailiff_worker_refused_objects_total > 0",
)
DONE = (
    "kubelet_evictions_total > 1",
    "sum(bailiff_worker_evictions_cancelled_total) > 0",
    "sum(bailiff_rest_decisions_total) > 1",
    "sum(bailiff_grpc_decisions_total) > 1",
    'rate(bailiff_tracing_spans_total{fate="failed"}[10s]) >= 0',
)


def begin(up: Up, secured: Target, secured_grpc: int) -> None:
    """Questions to the decision API, and evictions of each kind."""
    _ask(up)
    _ask_as_somebody(secured)
    _speak_no_tls(secured_grpc)
    asyncio.run(_trouble(Path(up.kubeconfig)))


def go_on(up: Up) -> None:
    """The same once more, for a rate is of what has risen since a scrape; some are let off."""
    _ask(up)
    asyncio.run(_relief(Path(up.kubeconfig)))


def _ask(up: Up) -> None:
    rest, grpc_port, _ = map(int, up.ports.values())
    _ask_over_rest(rest)
    _ask_over_grpc(grpc_port)


async def _trouble(kubeconfig: Path) -> None:
    async with await connect(kubeconfig) as cluster:
        await _lose(cluster, "node-b")
        await _taint(cluster, "node-a", taint("maintenance"))
        await cluster.create(_RULES, _recall())
        await _annotate(cluster, "search", "2Gi")
        await _put_what_is_left_out(cluster)


async def _relief(kubeconfig: Path) -> None:
    async with await connect(kubeconfig) as cluster:
        await _annotate(cluster, "report", "3Gi")
        # The pod `calm`, which tolerates it for five minutes, is let off.
        await _taint(cluster, "node-a")


async def _lose(cluster: Cluster, node: str) -> None:
    """Its kubelet gives no sign of life."""
    spec = {"spec": {"unschedulable": True}}
    await cluster.patch(NODES, node, "", spec, patch_type=PatchType.MERGE)
    now = dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    ready = {"type": "Ready", "status": "Unknown", "lastTransitionTime": now}
    status = {"status": {"conditions": [ready]}}
    await cluster.patch(NODES, node, "", status, subresource="status")


def _recall() -> dict[str, Any]:
    rule = object_of("DeviceTaintRule", "recall")
    return rule | {"apiVersion": f"{_RULES.group}/{_RULES.version}", "spec": _GPUS}


async def _taint(cluster: Cluster, node: str, *taints: Mapping[str, Any]) -> None:
    spec = {"spec": {"taints": list(taints)}}
    await cluster.patch(NODES, node, "", spec, patch_type=PatchType.MERGE)


async def _annotate(cluster: Cluster, pod: str, memory: str) -> None:
    """It uses so much memory, says the demo's kubelet."""
    told = {"metadata": {"annotations": {"demo.bailiff.dev/memory": memory}}}
    await cluster.patch(PODS, pod, "demo", told, patch_type=PatchType.MERGE)


async def _put_what_is_left_out(cluster: Cluster) -> None:
    """A pod that cannot be decoded, and a slice of a generation that Kubernetes does not allow."""
    claims = [{"name": "gpu", "resourceClaimName": 5}]
    pod = pod_object("unreadable", nodeName="node-d", resourceClaims=claims)
    await cluster.create(PODS, pod, "demo")
    pool = {"name": "gpu-1", "generation": -1, "resourceSliceCount": 1}
    spec = {"driver": "other.example.com", "nodeName": "gpu-1", "pool": pool}
    older = object_of("ResourceSlice", "refused") | {"apiVersion": "resource.k8s.io/v1"}
    await cluster.create(_SLICES, older | {"spec": spec})


def _ask_over_rest(port: int) -> None:
    url = f"http://127.0.0.1:{port}"
    _post(f"{url}/v1/decisions", _FACTS)
    for verdict in ("mutate/pods", "validate/nodes"):
        _post(f"{url}/admission/v1/{verdict}", _review())


def _ask_over_grpc(port: int) -> None:
    question = messages.DecideRequest()
    question.pod.metadata.name = "web"
    question.node.metadata.name = "n1"
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        stub = services.EvictionDecisionServiceStub(channel)
        stub.Decide(question)
        asked = messages.DecideStreamRequest()
        asked.batch.pods.add().metadata.name = "web"
        list(stub.DecideStream(iter([asked])))


def _speak_no_tls(port: int) -> None:
    """Who does not is hung up on."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as stranger:
        stranger.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        with contextlib.suppress(ConnectionResetError):
            while stranger.recv(4096):
                pass


def _ask_as_somebody(api: Target) -> None:
    """Who may all, one who is known and may nothing, and nobody."""
    url = f"https://127.0.0.1:{api.port}/v1/namespaces/demo/pods/calm/decision"
    for token in (api.token, STRANGER, ""):
        _post(url, None, api.ca, token)


def _post(url: str, body: Any, ca: Path | None = None, token: str = "") -> None:
    """Ask; any answer does."""
    headers = {"Content-Type": "application/json"}
    headers |= {"Authorization": f"Bearer {token}"} if token else {}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, headers)  # noqa: S310 - ours
    trusted = ssl.create_default_context(cafile=str(ca)) if ca else None
    try:
        with urllib.request.urlopen(request, timeout=10, context=trusted) as answer:  # noqa: S310
            answer.read()
    except urllib.error.HTTPError as error:
        error.close()


def _review() -> dict[str, Any]:
    """What the API server asks when a pod is made."""
    return {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
            "operation": "CREATE",
            "resource": {"group": "", "version": "v1", "resource": "pods"},
            "namespace": "demo",
            "name": "web",
            "userInfo": {"username": "ada"},
            "object": pod_object("web"),
        },
    }
