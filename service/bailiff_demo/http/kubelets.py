"""Asking a node's kubelet by way of the API server: GET /api/v1/nodes/NAME/proxy/PATH."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import PlainTextResponse, Response

from bailiff_demo.errors import unreachable
from bailiff_demo.http.answers import json_response
from bailiff_demo.objects import part
from bailiff_demo.registry import Target
from bailiff_demo.resources import NODES, PODS
from bailiff_demo.stats import configuration_of, measures, summary_of

if TYPE_CHECKING:
    from starlette.requests import Request

    from bailiff_demo.objects import JsonObject
    from bailiff_demo.registry import Registry

# Of a kubelet, where a node's status names none.
_PORT = 10250


async def ask_kubelet(registry: Registry, request: Request) -> Response:
    """What the node's kubelet answers, made from what is stored at this moment.

    Raises:
        ApiError: 404, no such node; 503, its kubelet is not there to be asked.
    """
    name, path = request.path_params["name"], request.path_params.get("path", "")
    node = registry.find(Target(NODES, "", name)).object
    if not measures(node):
        raise unreachable(_address(node))
    if path == "configz":
        return json_response(configuration_of(node))
    if path == "stats/summary":
        return json_response(summary_of(node, _pods_on(registry, name), registry.clock.now()))
    # In the words of Go's HTTP library, as a kubelet says it.
    return PlainTextResponse("404 page not found\n", 404)


def _pods_on(registry: Registry, node: str) -> list[JsonObject]:
    pods = (record.object for record in registry.store.bucket(PODS).records())
    return [pod for pod in pods if part(pod, "spec").get("nodeName") == node]


def _address(node: JsonObject) -> str:
    told: list[JsonObject] = part(node, "status").get("addresses") or []
    hosts = {one.get("type"): one.get("address", "") for one in told}
    host = hosts.get("InternalIP") or node["metadata"]["name"]
    endpoint = part(node, "status", "daemonEndpoints", "kubeletEndpoint")
    return f"{host}:{endpoint.get('Port') or _PORT}"
