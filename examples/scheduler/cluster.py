"""What a scheduler needs of the API server: to follow objects, and to bind pods to nodes."""

from __future__ import annotations

import asyncio
import json
import logging
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple, Self

import httpx2

Object = dict[str, Any]

log = logging.getLogger(__name__)
# Seconds after which a watch is opened anew, and before whoever failed tries again.
_WATCH, _PAUSE = 300, 1.0
_GONE, _CONFLICT = 404, 409


class Access(NamedTuple):
    """How to reach the API server; in a pod these are files of its service account."""

    server: str
    token_file: Path | None
    ca_file: Path | None


class News(NamedTuple):
    """What a watch tells: all objects that there are, or one that has come, changed or gone."""

    kind: str
    objects: list[Object]


class Cluster:
    """An API server."""

    def __init__(self, access: Access) -> None:
        """Nothing is asked yet."""
        self._access = access
        context = ssl.create_default_context(cafile=access.ca_file)
        self._client = httpx2.AsyncClient(base_url=access.server, verify=context, timeout=30.0)

    async def __aenter__(self) -> Self:
        """Connections are made when something is asked."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def follow(self, path: str, selector: str = "") -> AsyncIterator[News]:
        """A collection, for ever: first LISTED, then ADDED, MODIFIED and DELETED; then anew.

        Args:
            path: of the collection, as `/api/v1/nodes`.
            selector: of fields, as `spec.nodeName=`.
        """
        while True:
            try:
                async for news in self._once(path, {"fieldSelector": selector} if selector else {}):
                    yield news
            except (httpx2.HTTPError, json.JSONDecodeError) as error:
                log.warning("%s: %s", path, error)
                await asyncio.sleep(_PAUSE)

    async def _once(self, path: str, query: dict[str, str]) -> AsyncIterator[News]:
        response = await self._client.get(path, params=query, headers=self._headers())
        response.raise_for_status()
        listed = response.json()
        yield News("LISTED", listed["items"])
        more = {"watch": "true", "timeoutSeconds": str(_WATCH)}
        since = {"resourceVersion": listed["metadata"]["resourceVersion"]}
        watch = self._client.stream(
            "GET", path, params=query | more | since, headers=self._headers(), timeout=2 * _WATCH
        )
        async with watch as events:
            events.raise_for_status()
            async for line in events.aiter_lines():
                event = json.loads(line)
                if event["type"] == "ERROR":  # as when the version is too old: list again
                    return
                yield News(event["type"], [event["object"]])

    async def bind(self, pod: Object, node: str) -> bool:
        """Put a pod on a node; whether it is there now.

        Raises:
            httpx2.HTTPError: nobody can tell: try again.
        """
        meta = pod["metadata"]
        body = {
            "apiVersion": "v1",
            "kind": "Binding",
            # With the UID, so that a later pod of the same name is not bound.
            "metadata": {"name": meta["name"], "uid": meta["uid"]},
            "target": {"apiVersion": "v1", "kind": "Node", "name": node},
        }
        path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}/binding"
        response = await self._client.post(path, json=body, headers=self._headers())
        if response.status_code in (_GONE, _CONFLICT):
            return False
        response.raise_for_status()
        return True

    def _headers(self) -> dict[str, str]:
        """Read each time: the kubelet renews the token of a pod."""
        if self._access.token_file is None:
            return {}
        return {"Authorization": f"Bearer {self._access.token_file.read_text().strip()}"}
