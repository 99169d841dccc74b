"""`python -m examples.scheduler`: watches pods without a node and binds each to the best one."""

from __future__ import annotations

import argparse
import asyncio
import logging
from pathlib import Path

import httpx2

from bailiff.client import AsyncGrpcClient, AsyncNodeStream, BailiffError, ClientSettings, Terms
from examples.scheduler.choosing import Labels, Load, allowed, best, why_nowhere
from examples.scheduler.cluster import Access, Cluster, Object

log = logging.getLogger("scheduler")
# Who found no node is looked at again when nodes have changed, and after so many seconds.
_AGAIN = 5.0
_PAUSE = 1.0
_RUNNING = "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed"
_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


class Scheduler:
    """Puts the pods that ask for it by `schedulerName` on the nodes that Bailiff names first."""

    def __init__(self, name: str, cluster: Cluster, judged: AsyncNodeStream) -> None:
        """Nothing is followed yet; `run` does."""
        self._name, self._cluster, self._judged = name, cluster, judged
        self._nodes: dict[str, Labels] = {}
        self._waiting: dict[str, Object] = {}
        self._load = Load()
        self._news = asyncio.Event()

    async def run(self) -> None:
        """For ever."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._follow_nodes())
            group.create_task(self._follow_pods())
            group.create_task(self._follow_load())
            group.create_task(self._place())

    async def _follow_nodes(self) -> None:
        """Bailiff is told of the nodes once, then of what changes; all anew where that failed."""
        while True:
            try:
                await self._tell_of_nodes()
            except BailiffError as error:
                log.warning("nodes: %s", error)
                await asyncio.sleep(_PAUSE)

    async def _tell_of_nodes(self) -> None:
        async for kind, objects in self._cluster.follow("/api/v1/nodes"):
            labels = {one["metadata"]["name"]: one["metadata"].get("labels", {}) for one in objects}
            if kind == "LISTED":
                await self._judged.register(objects)
                self._nodes = labels
            elif kind == "DELETED":
                self._nodes = {key: had for key, had in self._nodes.items() if key not in labels}
                await self._judged.change(remove=labels)
            else:
                await self._judged.change(put=objects)
                self._nodes |= labels
            self._news.set()

    async def _follow_pods(self) -> None:
        selector = f"spec.nodeName=,spec.schedulerName={self._name}"
        async for kind, objects in self._cluster.follow("/api/v1/pods", selector):
            if kind == "LISTED":
                self._waiting.clear()
            for pod in objects:
                key = pod["metadata"]["uid"]
                if kind == "DELETED" or pod["spec"].get("schedulingGates"):
                    self._waiting.pop(key, None)
                else:
                    self._waiting[key] = pod
            self._news.set()

    async def _follow_load(self) -> None:
        """The pods of all schedulers count that have not ended."""
        async for kind, objects in self._cluster.follow("/api/v1/pods", _RUNNING):
            if kind == "LISTED":
                self._load.clear()
            for pod in objects:
                if kind == "DELETED":
                    self._load.gone(pod["metadata"]["uid"])
                else:
                    self._load.put(pod["metadata"]["uid"], pod["spec"]["nodeName"])

    async def _place(self) -> None:
        while True:
            try:
                async with asyncio.timeout(_AGAIN):
                    await self._news.wait()
            except TimeoutError:
                pass
            self._news.clear()
            # Before nodes have been listed, nobody knows that there is no place.
            for key, pod in list(self._waiting.items()) if self._nodes else ():
                try:
                    await self._place_one(key, pod)
                except (BailiffError, httpx2.HTTPError) as error:
                    log.warning("%s waits: %s", pod["metadata"]["name"], error)

    async def _place_one(self, key: str, pod: Object) -> None:
        name = pod["metadata"]["name"]
        fitting = allowed(pod, self._nodes)
        if not fitting:
            log.info("%s waits: its node selector fits no node", name)
            return
        only = Terms(nodes=tuple(fitting)) if len(fitting) < len(self._nodes) else None
        (answer,) = await self._judged.judge([pod], only)
        node = best(answer, self._load)
        if node is None:
            log.info("%s waits: %s", name, why_nowhere(answer))
            return
        if await self._cluster.bind(pod, node):
            log.info("%s goes to %s", name, node)
            self._load.put(key, node)
        self._waiting.pop(key, None)


async def run(options: argparse.Namespace) -> None:
    """Put it together."""
    access = Access(options.server, options.token_file, options.ca_file)
    settings = ClientSettings(token_file=options.bailiff_token_file)
    async with (
        Cluster(access) as cluster,
        AsyncGrpcClient(options.bailiff, settings) as client,
        client.judge_nodes_stream() as judged,
    ):
        await Scheduler(options.name, cluster, judged).run()


def _in_a_pod(name: str) -> Path | None:
    path = _ACCOUNT / name
    return path if path.exists() else None


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m examples.scheduler", description=__doc__)
    parser.add_argument("--name", default="bailiff-example", help="of the pods' schedulerName")
    parser.add_argument("--bailiff", default="127.0.0.1:9090", help="gRPC: HOST:PORT")
    parser.add_argument("--bailiff-token-file", type=Path, help="where Bailiff asks who calls")
    parser.add_argument("--server", default="https://kubernetes.default.svc", help="API server")
    parser.add_argument("--token-file", type=Path, default=_in_a_pod("token"))
    parser.add_argument("--ca-file", type=Path, default=_in_a_pod("ca.crt"))
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    asyncio.run(run(options))


if __name__ == "__main__":
    main()
