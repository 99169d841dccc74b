"""A proxy between a worker and an API server that follows a test's script, and keeps a record."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import random
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, NamedTuple

import yaml

from bailiff.cluster import ClusterSettings, connect
from tests.harness.kube.faulty_proxy import Fault, FaultyProxy

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from aiohttp import web

    from bailiff.cluster import Cluster
    from tests.harness.api import Api

# What the test does when a request comes by: something at the server, or to the request.
Act = Callable[[], Awaitable[Fault | None]]


class Asked(NamedTuple):
    """A request that came by, and when by the loop's clock."""

    at: float
    method: str
    path: str
    query: dict[str, str]

    def about(self, pod: str) -> bool:
        """Whether it is about this pod, by name."""
        return pod in self.path.split("/")


class Between(FaultyProxy):
    """The proxy.

    Attributes:
        asked: every request so far.
        script: what to do before the next requests of a method, one act each; the rest pass.
        refused: writes to paths that end so are answered 500; empty: none.
    """

    def __init__(self, target: int, ca: Path | None) -> None:
        super().__init__(target, ca, random.Random(0), rate=0.0)
        self.asked: list[Asked] = []
        self.script: dict[str, list[Act]] = {}
        self.refused = ""

    def on(self, method: str, *acts: Act) -> None:
        """Do these before the next requests of this method."""
        self.script.setdefault(method, []).extend(acts)

    def requests(self, method: str, pod: str) -> list[Asked]:
        """Those of one method about one pod."""
        return [one for one in self.asked if one.method == method and one.about(pod)]

    async def _choose(self, request: web.BaseRequest) -> Fault | None:
        now = asyncio.get_running_loop().time()
        self.asked.append(Asked(now, request.method, request.path, dict(request.query)))
        if self.refused and request.method != "GET" and request.path.endswith(self.refused):
            return Fault.BROKEN
        acts = self.script.get(request.method)
        # Writes to pods only: Events and annotations of nodes go beside what is looked at.
        if not acts or "/pods/" not in request.path:
            return None
        return await acts.pop(0)()


def fault(kind: Fault) -> Act:
    """This goes wrong."""

    async def act() -> Fault | None:
        return kind

    return act


async def hang() -> Fault | None:
    """Nothing happens until the client has had enough."""
    await asyncio.Event().wait()
    return None


@contextlib.asynccontextmanager
async def go_between(
    api: Api, folder: Path, settings: ClusterSettings | None = None
) -> AsyncIterator[tuple[Between, Cluster]]:
    """The proxy, and a client that goes by it."""
    server = yaml.safe_load(api.kubeconfig.read_text())["clusters"][0]["cluster"]
    ca = None
    if "certificate-authority-data" in server:
        ca = folder / "ca.pem"
        ca.write_bytes(base64.b64decode(server["certificate-authority-data"]))
    async with Between(api.port, ca) as proxy:
        path = proxy.kubeconfig(api.worker_kubeconfig)
        async with await connect(path, settings=settings) as cluster:
            yield proxy, cluster
