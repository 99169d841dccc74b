"""An API server with one node, whose kubelet it asks: what that answers is for a test to say."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from aiohttp import web

from bailiff.rest_api.examples.pressure import ROUND
from tests.harness.scripted_server import kubeconfig, serving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path

_EXAMPLE: Mapping[str, Any] = ROUND["memory"].body
NODE, PATH = "node-1", "/api/v1/nodes/node-1"
SUMMARY, CONFIGZ = f"{PATH}/proxy/stats/summary", f"{PATH}/proxy/configz"
# By it batch-0 goes, since the node has 300 MiB left and the threshold is 500 MiB.
NOW = _EXAMPLE["now"]
LOW: Mapping[str, Any] = _EXAMPLE["pressure"]["summary"]
CONFIGURATION: Mapping[str, Any] = _EXAMPLE["pressure"]["configuration"]
PODS: list[dict[str, Any]] = [
    {**one, "spec": {**one["spec"], "nodeName": NODE}} for one in _EXAMPLE["pods"]
]


class MeasuredNode:
    """Answers for one node.

    Attributes:
        node: the object.
        told: by path, what the kubelet tells: JSON, bytes, the status of a refusal, or None, which
            is no answer at all.
        asked: paths, in order.
    """

    def __init__(self) -> None:
        """A node that is low on memory."""
        self.node: dict[str, Any] = {"metadata": {"name": NODE}, "spec": {}}
        self.told: dict[str, Any] = {SUMMARY: LOW, CONFIGZ: {"kubeletconfig": CONFIGURATION}}
        self.asked: list[str] = []

    async def answer(self, request: web.Request) -> web.Response:
        """One request of the API."""
        self.asked.append(request.path)
        if request.path == PATH:
            return web.json_response(self.node)
        if request.path == "/api/v1/pods":
            return web.json_response({"metadata": {"resourceVersion": "1"}, "items": PODS})
        return await self._of_kubelet(request.path)

    async def _of_kubelet(self, path: str) -> web.Response:
        told = self.told.get(path, 404)
        if told is None:
            await asyncio.sleep(3600)
        if isinstance(told, int):
            return web.json_response({"kind": "Status", "message": "not you"}, status=told)
        return web.Response(body=told if isinstance(told, bytes) else json.dumps(told).encode())

    @asynccontextmanager
    async def served(self, folder: Path) -> AsyncIterator[Path]:
        """Serve, and give back the kubeconfig for it."""
        async with serving(self.answer) as port:
            yield kubeconfig(folder, port)
