"""How healthy callers ask: over REST and gRPC, secured or not."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp
import grpc

from bailiff.v1 import eviction_decision_service_pb2 as pb
from bailiff.v1 import kubernetes_pb2 as core
from bailiff.v1.eviction_decision_service_pb2_grpc import EvictionDecisionServiceStub
from tests.attack.access import Access, bearer

FACTS: dict[str, dict[str, Any]] = {
    "pod": {"metadata": {"name": "web-1"}, "spec": {"nodeName": "n"}},
    "node": {
        "metadata": {"name": "n"},
        "spec": {"taints": [{"key": "k", "effect": "NoExecute"}]},
    },
}
_KIB = 1024
# Channels of one process share connections to one server, unless they are told not to.
_OF_ITS_OWN = [("grpc.use_local_subchannel_pool", 1)]
# Asks once; raises where there is no good answer.
Ask = Callable[[], Awaitable[None]]


def long_facts() -> dict[str, Any]:
    """A question of about 300 KB, as objects with long annotations make it."""
    notes = {"annotations": {"example.com/notes": "n" * 150 * _KIB}}
    pod, node = FACTS["pod"], FACTS["node"]
    return {
        "pod": pod | {"metadata": pod["metadata"] | notes},
        "node": node | {"metadata": node["metadata"] | notes},
    }


class _NotGoodError(Exception):
    """An answer of another status."""


class Web:
    """Asks one port over HTTP, in a session that says which connection it goes by."""

    def __init__(self, session: aiohttp.ClientSession, port: int, access: Access | None) -> None:
        """`access`: None where the port is not secured."""
        self._session = session
        self._url = f"http{'s' if access else ''}://127.0.0.1:{port}"
        self._tls = access.tls if access else True
        self._headers = bearer(access.token) if access else {}

    def get(self, path: str) -> Ask:
        """Fetch a page."""
        return lambda: self._fetch("GET", path)

    def decide(self, facts: dict[str, Any]) -> Ask:
        """Have it decided about what the question brings."""
        return lambda: self._fetch("POST", "/v1/decisions", facts)

    def look_up(self) -> Ask:
        """Ask about pods of the cluster, each time another, which there is none of."""
        numbers = itertools.count()
        path = "/v1/namespaces/default/pods/healthy-{}/decision"
        return lambda: self._fetch("GET", path.format(next(numbers)), good=404)

    def introduce(self, tokens: list[str]) -> Ask:
        """Have it decided, each time with a good token that was not shown before."""
        return lambda: self._fetch("POST", "/v1/decisions", FACTS, headers=bearer(tokens.pop()))

    async def _fetch(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        good: int = 200,
        headers: dict[str, str] | None = None,
    ) -> None:
        asked = self._session.request(
            method, self._url + path, json=body, headers=headers or self._headers, ssl=self._tls
        )
        async with asked as answer:
            text = await answer.text()
            if answer.status != good:
                raise _NotGoodError(f"{answer.status} {text[:80]}")


class Rpc:
    """Asks one port over gRPC."""

    def __init__(self, port: int, access: Access | None) -> None:
        """`access`: None where the port is not secured."""
        self._target = f"127.0.0.1:{port}"
        self._roots = Path(access.ca).read_bytes() if access else None
        self._metadata = (
            [("authorization", bearer(access.token)["Authorization"])] if access else []
        )
        node = core.Node(
            metadata=core.ObjectMeta(name="n"),
            spec=core.NodeSpec(taints=[core.Taint(key="k", effect="NoExecute")]),
        )
        self._asked = pb.DecideRequest(pod=core.Pod(metadata=core.ObjectMeta(name="p")), node=node)

    def kept(self) -> Ask:
        """By a connection that is kept."""
        channel = self._channel()
        return lambda: self._decide(channel)

    async def new(self) -> None:
        """By a connection that is made for it."""
        async with self._channel() as channel:
            await self._decide(channel)

    def _channel(self) -> grpc.aio.Channel:
        if self._roots is None:
            return grpc.aio.insecure_channel(self._target, _OF_ITS_OWN)
        credentials = grpc.ssl_channel_credentials(self._roots)
        return grpc.aio.secure_channel(self._target, credentials, _OF_ITS_OWN)

    async def _decide(self, channel: grpc.aio.Channel) -> None:
        stub = EvictionDecisionServiceStub(channel)
        await stub.Decide(self._asked, metadata=self._metadata)
