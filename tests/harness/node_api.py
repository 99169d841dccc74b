"""The pods of a test node on a real API server, and who ends them where they are deleted."""

from __future__ import annotations

import contextlib
import secrets
import time
from typing import TYPE_CHECKING, Any

from bailiff.cluster import ClusterError, NotFoundError
from tests.harness.api import NODES, PODS
from tests.harness.objects import container, node_object, pod_object
from tests.harness.watching import watching

if TYPE_CHECKING:
    from collections.abc import Callable

    from bailiff.cluster import Cluster
    from tests.harness.objects import Object

NODE = "node"


class NodeApi:
    """A node without a kubelet.

    Attributes:
        gone: when the delete of a pod was first seen, by its name and time.monotonic.
    """

    def __init__(self, cluster: Cluster, end: Callable[[str], None]) -> None:
        """`end` is called with the UID of each pod that is deleted: ends what it runs."""
        self._cluster = cluster
        self._end = end
        self.gone: dict[str, float] = {}
        self._removed: set[str] = set()

    async def set_up(self) -> None:
        await self._cluster.create(NODES, node_object(NODE))

    async def add(self, name: str, **requests: str) -> tuple[str, str]:
        """Name and UID of a pod that is on the node."""
        name = f"{name}-{secrets.token_hex(3)}"
        asks = container() | {"resources": {"requests": requests}}
        body = pod_object(name, nodeName=NODE, containers=[asks])
        made = await self._cluster.create(PODS, body, "default")
        return name, str(made["metadata"]["uid"])

    async def pods(self) -> list[dict[str, Any]]:
        return list((await self._cluster.list(PODS, namespace="default")).items)

    async def end_deleted(self) -> None:
        """As a kubelet: what is deleted is ended, until cancelled."""
        while True:
            # A watch that has told nothing for a while, or was ended, is opened anew.
            with contextlib.suppress(TimeoutError, ClusterError):
                async with watching(self._cluster, "default") as events:
                    while (event := await events.next()) is not None:
                        await self._end_if_deleted(event)

    async def _end_if_deleted(self, event: Object) -> None:
        meta = event["object"]["metadata"]
        known = event["type"] == "DELETED" or meta["name"] in self.gone.keys() | self._removed
        if meta.get("deletionTimestamp") and not known:
            self.gone[meta["name"]] = time.monotonic()
            self._end(meta["uid"])
            await self.remove(meta["name"])

    async def remove(self, name: str) -> None:
        """Of the API alone; whoever asks for it ends what the pod runs."""
        self._removed.add(name)
        with contextlib.suppress(NotFoundError):
            await self._cluster.delete(PODS, name, "default", grace_period_seconds=0)
