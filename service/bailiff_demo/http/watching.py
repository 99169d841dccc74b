"""Watches: a stream of changes as lines of JSON."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from starlette.responses import Response, StreamingResponse

from bailiff_demo.errors import ApiError
from bailiff_demo.http.answers import Answers, encode
from bailiff_demo.objects import clone
from bailiff_demo.store import Record

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bailiff_demo.http.reading import Query
    from bailiff_demo.resources import Resource
    from bailiff_demo.selectors import Selection
    from bailiff_demo.settings import DemoSettings
    from bailiff_demo.store import Change, Store
    from bailiff_demo.watch import Watch

_INITIAL_END = {"k8s.io/initial-events-end": "true"}
# The initial state is sent in portions of this many objects.
_PORTION = 500


class WatchStream:
    """One client's watch."""

    def __init__(
        self,
        store: Store,
        settings: DemoSettings,
        resource: Resource,
        query: Query,
        answers: Answers,
    ) -> None:
        self._store = store
        self._settings = settings
        self._resource = resource
        self._query = query
        self._answers = answers

    def response(self) -> Response:
        """Changes until the client leaves, the time is up or the watch is ended."""
        headers = {"cache-control": "no-cache, private"}
        return StreamingResponse(self._lines(), 200, headers, "application/json")

    async def _lines(self) -> AsyncIterator[bytes]:
        """A version that is too old is told in an ERROR line, as kube-apiserver does."""
        try:
            start, initial = self._begin()
            with self._store.watch(self._resource, start) as watch:
                for portion in self._initial(start, initial):
                    yield portion
                async for line in self._changes(watch):
                    yield line
        except ApiError as error:
            yield encode({"type": "ERROR", "object": error.status()}) + b"\n"

    def _begin(self) -> tuple[int, list[Record]]:
        """From which version on, and the state that is told before."""
        query = self._query
        state_first = query.initial_events or (query.initial_events is None and not query.version)
        if not state_first:
            return query.version or self._store.version, []
        records = self._store.bucket(self._resource).records(query.selection.namespace)
        return self._store.version, [r for r in records if query.selection.matches(r.object)]

    def _initial(self, version: int, records: list[Record]) -> list[bytes]:
        lines = [self._line("ADDED", record) for record in records]
        if self._query.initial_events and self._query.bookmarks:
            lines.append(self._bookmark(version, _INITIAL_END))
        # Even of nothing: the client shall see at once that the watch has begun.
        starts = range(0, max(len(lines), 1), _PORTION)
        return [b"".join(lines[start : start + _PORTION]) for start in starts]

    async def _changes(self, watch: Watch) -> AsyncIterator[bytes]:
        loop = asyncio.get_running_loop()
        lasts = min(
            self._query.timeout or self._settings.watch_seconds, self._settings.watch_seconds
        )
        end = loop.time() + lasts
        # However often something changes that this one does not see.
        bookmark_at = loop.time() + self._settings.bookmark_seconds
        while not watch.ended:
            try:
                async with asyncio.timeout_at(min(end, bookmark_at)):
                    await watch.wait()
            except TimeoutError:
                if self._query.bookmarks and watch.caught_up:
                    yield self._bookmark(self._store.version, {})
                if loop.time() >= end:
                    return
                bookmark_at = loop.time() + self._settings.bookmark_seconds
            while changes := watch.read():
                yield b"".join(line for change in changes if (line := self._seen(change)))

    def _seen(self, change: Change) -> bytes:
        seen = _as_seen(change, self._query.selection)
        fresh = change.record.version > (self._query.version or 0)
        return self._line(*seen) if seen is not None and fresh else b""

    def _line(self, kind: str, record: Record) -> bytes:
        return encode({"type": kind, "object": self._answers.one(record)}) + b"\n"

    def _bookmark(self, version: int, annotations: dict[str, str]) -> bytes:
        mark = self._answers.bookmark(version, annotations)
        return encode({"type": "BOOKMARK", "object": mark}) + b"\n"


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
    last["metadata"]["resourceVersion"] = str(change.record.version)
    return "DELETED", Record(change.record.key, change.record.version, last)
