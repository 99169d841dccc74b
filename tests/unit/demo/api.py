"""A small client for the demo cluster, and objects to send it."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import aiohttp

from bailiff_demo import DemoCluster
from bailiff_demo.objects import clone
from bailiff_demo.resources import OWN_RESOURCES
from bailiff_demo.store import key_of

Json = dict[str, Any]

MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
JSON_PATCH = "application/json-patch+json"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
RESOURCE = {resource.plural: resource for resource in OWN_RESOURCES}
PODS = "/api/v1/namespaces/default/pods"
# Longer than anything here takes; a test that waits so long has failed.
PATIENCE = 10


class HandClock:
    """A wall clock that moves only when told; waits stay real."""

    def __init__(self) -> None:
        self.instant = datetime(2026, 1, 1, tzinfo=UTC)

    def now(self) -> datetime:
        return self.instant

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()

    def latest(self) -> datetime:
        return self.now()

    def elapsed(self) -> float:
        return self.monotonic()

    def advance(self, seconds: float) -> None:
        self.instant += timedelta(seconds=seconds)


@dataclass
class Reply:
    status: int
    headers: dict[str, str]
    raw: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.raw)


class Client:
    """Sends requests to one cluster."""

    def __init__(self, cluster: DemoCluster, session: aiohttp.ClientSession) -> None:
        self.cluster = cluster
        self.session = session
        self.bearer = {"authorization": f"Bearer {cluster.token}"}
        self.context = ssl.create_default_context(cadata=cluster.authority)

    async def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        type: str = "",  # noqa: A002 - reads well
        **query: str,
    ) -> Reply:
        kind = {"content-type": type or "application/json"} if body is not None else {}
        headers = self.bearer | kind
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        async with self.session.request(
            method,
            self.cluster.url + path,
            data=None if body is None else data,
            headers=headers | {k: query.pop(k) for k in ("accept",) if k in query},
            params=query,
            ssl=self.context,
        ) as reply:
            lowered = {k.lower(): v for k, v in reply.headers.items()}
            return Reply(reply.status, lowered, await reply.read())

    async def get(self, path: str, **query: str) -> Json:
        return await self._good("GET", path, None, **query)

    async def post(self, path: str, body: Any, **query: str) -> Json:
        return await self._good("POST", path, body, **query)

    async def patch(self, path: str, body: Any, type: str = MERGE, **query: str) -> Json:  # noqa: A002 - reads well
        return await self._good("PATCH", path, body, type=type, **query)

    async def put(self, path: str, body: Any, **query: str) -> Json:
        return await self._good("PUT", path, body, **query)

    async def delete(self, path: str, body: Any = None, **query: str) -> Json:
        return await self._good("DELETE", path, body, **query)

    async def _good(self, method: str, path: str, body: Any, **query: str) -> Json:
        reply = await self.send(method, path, body, **query)
        assert reply.status < 300, reply.raw
        found: Json = reply.body
        return found

    async def refused(self, method: str, path: str, body: Any = None, **query: str) -> Json:
        """The Status of a request that must be refused."""
        reply = await self.send(method, path, body, **query)
        assert reply.status >= 400, reply.raw
        status: Json = reply.body
        assert status["kind"] == "Status"
        assert status["code"] == reply.status
        return status

    @asynccontextmanager
    async def watch(self, path: str, **query: str) -> AsyncIterator[Lines]:
        accept = query.pop("accept", "*/*")
        async with self.session.get(
            self.cluster.url + path,
            params={"watch": "1", **query},
            headers={"accept": accept, **self.bearer},
            ssl=self.context,
        ) as reply:
            assert reply.status == 200
            yield Lines(reply)

    async def until(self, path: str, holds: Callable[[Json], bool]) -> Json:
        """The first state of an object for which something holds."""
        name = path.rpartition("/")[2]
        collection = path.rpartition("/")[0]
        async with (
            asyncio.timeout(PATIENCE),
            self.watch(collection, fieldSelector=f"metadata.name={name}") as lines,
        ):
            while True:
                event = await lines.next()
                if event["type"] != "DELETED" and holds(event["object"]):
                    found: Json = event["object"]
                    return found


class Lines:
    """The events of a watch."""

    def __init__(self, reply: aiohttp.ClientResponse) -> None:
        self._reply = reply

    async def next(self) -> Json:
        async with asyncio.timeout(PATIENCE):
            line = await self._reply.content.readline()
        assert line, "the watch has ended"
        event: Json = json.loads(line)
        return event

    async def take(self, count: int) -> list[tuple[str, str]]:
        """Type and name of the next events."""
        events = [await self.next() for _ in range(count)]
        return [(e["type"], e["object"]["metadata"].get("name", "")) for e in events]

    async def ended(self) -> bool:
        """Whether the stream ends without another line."""
        async with asyncio.timeout(PATIENCE):
            return await self._reply.content.readline() == b""


def put(cluster: DemoCluster, plural: str, obj: Json) -> Json:
    """Put an object there past all rules: as it was given, with a UID and a version."""
    resource = RESOURCE[plural]
    typed = {"apiVersion": resource.api_version, "kind": resource.kind, **clone(obj)}
    old = cluster.store.bucket(resource).get(key_of(typed))
    if old is None:
        return clone(cluster.store.insert(resource, typed).object)  # type: ignore[no-any-return]  # it clones anything
    typed["metadata"].setdefault("uid", old.uid)
    return clone(cluster.store.replace(resource, old, typed).object)  # type: ignore[no-any-return]  # as above


def seen(cluster: DemoCluster, plural: str, namespace: str | None = None) -> list[Json]:
    """All objects of a resource, of one namespace if named, in order."""
    return [r.object for r in cluster.store.bucket(RESOURCE[plural]).records(namespace)]


def pod(name: str = "a", **spec: Any) -> Json:
    containers = [{"name": "c", "image": "example.com/c:1"}]
    return {"metadata": {"name": name}, "spec": {"containers": containers, **spec}}


def node(name: str = "n", **spec: Any) -> Json:
    return {"metadata": {"name": name}, "spec": spec}


def workload(name: str, **spec: Any) -> Json:
    template = {"metadata": {"labels": {"app": name}}, "spec": pod()["spec"]}
    selector = {"matchLabels": {"app": name}}
    return {
        "metadata": {"name": name},
        "spec": {"selector": selector, "template": template, **spec},
    }
