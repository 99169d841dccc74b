"""Watches: a stream of changes as lines of JSON."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

from bailiff.embedded.errors import ApiError
from bailiff.embedded.http.answer import encode, object_body
from bailiff.embedded.objects import clone
from bailiff.embedded.storage import Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from starlette.types import Receive, Send

    from bailiff.embedded.http.options import Query
    from bailiff.embedded.resources import Resource
    from bailiff.embedded.selectors import Selection
    from bailiff.embedded.settings import EmbeddedSettings
    from bailiff.embedded.storage import Change, Store, Watch

_INITIAL_END = {"k8s.io/initial-events-end": "true"}
# Frames of the initial state are sent in portions of this many objects.
_PORTION = 500


class ObjectFrames:
    """Changes as whole objects."""

    def __init__(self, resource: Resource) -> None:
        self._resource = resource

    def change(self, kind: str, record: Record) -> bytes:
        """One line."""
        body = object_body(self._resource, record)
        return b'{"type":"%s","object":%s}\n' % (kind.encode(), body)

    def bookmark(self, version: int, annotations: dict[str, str]) -> bytes:
        """A line that says: nothing is missing up to this version."""
        meta: dict[str, object] = {"resourceVersion": str(version), "creationTimestamp": None}
        if annotations:
            meta["annotations"] = annotations
        shown = {
            "kind": self._resource.kind,
            "apiVersion": self._resource.api_version,
            "metadata": meta,
        }
        return encode({"type": "BOOKMARK", "object": shown}) + b"\n"


class Frames(Protocol):
    """How changes are written."""

    def change(self, kind: str, record: Record) -> bytes:
        """One line."""
        ...

    def bookmark(self, version: int, annotations: dict[str, str]) -> bytes:
        """A line that says: nothing is missing up to this version."""
        ...


class WatchStream:
    """One client's watch."""

    def __init__(
        self,
        store: Store,
        settings: EmbeddedSettings,
        resource: Resource,
        query: Query,
        frames: Frames,
    ) -> None:
        self._store = store
        self._settings = settings
        self._resource = resource
        self._query = query
        self._frames = frames

    async def run(self, receive: Receive, send: Send) -> None:
        """Send changes until the client leaves, the time is up or the watch is ended.

        A version that is too old is told in an ERROR line, as kube-apiserver does.
        """
        headers = [(b"content-type", b"application/json"), (b"cache-control", b"no-cache, private")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        try:
            await self._watch(receive, send)
        except ApiError as error:
            line = encode({"type": "ERROR", "object": error.status()}) + b"\n"
            await _send(send, line)
        await send({"type": "http.response.body", "body": b""})

    async def _watch(self, receive: Receive, send: Send) -> None:
        start, initial = self._begin()
        with self._store.watch(self._resource, start) as watch:
            gone = asyncio.create_task(_until_gone(receive, watch))
            try:
                await self._send_initial(send, start, initial)
                await self._pump(watch, send)
            finally:
                gone.cancel()
                await asyncio.gather(gone, return_exceptions=True)

    def _begin(self) -> tuple[int, list[Record]]:
        """From which version on, and the state that is told before."""
        query = self._query
        state_first = query.initial_events or (query.initial_events is None and not query.version)
        if not state_first:
            return query.version or self._store.version, []
        records = self._store.bucket(self._resource).records(query.selection.namespace)
        return self._store.version, [r for r in records if query.selection.matches(r.object)]

    async def _send_initial(self, send: Send, version: int, records: list[Record]) -> None:
        for start in range(0, len(records), _PORTION):
            portion = records[start : start + _PORTION]
            await _send(send, b"".join(self._frames.change("ADDED", r) for r in portion))
        if self._query.initial_events and self._query.bookmarks:
            await _send(send, self._frames.bookmark(version, _INITIAL_END))
        else:
            await _send(send, b"")

    async def _pump(self, watch: Watch, send: Send) -> None:
        loop = asyncio.get_running_loop()
        lasts = self._query.timeout or self._settings.watch_seconds
        end = loop.time() + min(lasts, self._settings.watch_seconds)
        while not watch.ended:
            bookmark_at = loop.time() + self._settings.bookmark_seconds
            try:
                async with asyncio.timeout_at(min(end, bookmark_at)):
                    await watch.wait()
            except TimeoutError:
                await self._send_bookmark(watch, send)
                if loop.time() >= end:
                    return
            await self._send_changes(watch, send)

    async def _send_changes(self, watch: Watch, send: Send) -> None:
        while changes := watch.read():
            await _send(send, b"".join(self._lines(changes)))

    def _lines(self, changes: Iterable[Change]) -> Iterator[bytes]:
        for change in changes:
            seen = _as_seen(change, self._query.selection)
            if seen is not None and change.version > (self._query.version or 0):
                yield self._frames.change(*seen)

    async def _send_bookmark(self, watch: Watch, send: Send) -> None:
        if self._query.bookmarks and watch.caught_up:
            await _send(send, self._frames.bookmark(self._store.version, {}))


def _as_seen(change: Change, selection: Selection) -> tuple[str, Record] | None:
    """What a change is to a client that sees only a selection; None for nothing.

    An object that leaves the selection is told as DELETED, in its last selected state.
    """
    before = change.previous is not None and selection.matches(change.previous.object)
    after = change.type != "DELETED" and selection.matches(change.record.object)
    if after:
        return ("MODIFIED" if before else "ADDED"), change.record
    if not before or change.previous is None:
        return None
    if change.type == "DELETED":
        return "DELETED", change.record
    last = clone(change.previous.object)
    last["metadata"]["resourceVersion"] = str(change.version)
    return "DELETED", Record(change.record.key, change.version, last)


async def _until_gone(receive: Receive, watch: Watch) -> None:
    """End the watch when the client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass
    watch.end()


async def _send(send: Send, body: bytes) -> None:
    await send({"type": "http.response.body", "body": body, "more_body": True})
