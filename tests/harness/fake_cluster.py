"""A cluster that answers list and watch as a test scripts it, without HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeAlias

from bailiff.cluster import ClusterSettings, Listing, Request, Resource, Selection
from bailiff.kinds import Pod

# What a watch says next: bytes, a failure, or nothing for so many seconds.
Chunk: TypeAlias = "bytes | Exception | float"


@dataclass
class FakeStream:
    chunks: list[Chunk]

    async def read(self) -> bytes:
        while self.chunks:
            chunk = self.chunks.pop(0)
            if isinstance(chunk, Exception):
                raise chunk
            if isinstance(chunk, bytes):
                return chunk
            await asyncio.sleep(chunk)
        return b""

    async def __aenter__(self) -> FakeStream:
        return self

    async def __aexit__(self, *_: object) -> None:
        return


@dataclass
class FakeCluster:
    """Gives one scripted answer after the other; then every watch lasts for ever.

    Attributes:
        watches: what each watch says.
        lists: what each list answers.
        version: what it is at, or how it fails to say so; the last one stays.
        opening: seconds until a watch is accepted, or refused.
        asked: when, and what.
        about: of which resource and selection a list, or the version, was asked for.
    """

    watches: list[Exception | Sequence[Chunk]]
    lists: list[Exception | Listing[Pod]] = field(default_factory=list)
    version: str | list[str | Exception] = "1000"
    settings: ClusterSettings = ClusterSettings()  # noqa: RUF009 - frozen
    opening: float = 0.0
    asked: list[tuple[float, str]] = field(default_factory=list)
    about: list[tuple[Resource[Any], Selection]] = field(default_factory=list)

    def _note(self, what: str) -> None:
        self.asked.append((asyncio.get_running_loop().time(), what))

    async def list_readable(
        self, resource: Resource[Pod], selection: Selection, each: Callable[[Pod], Pod]
    ) -> Listing[Pod]:
        self._note("list")
        self.about.append((resource, selection))
        answer = self.lists.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return Listing(tuple(map(each, answer.items)), answer.resource_version, answer.unreadable)

    async def current_version(self, resource: Resource[Pod], selection: Selection) -> str:
        self.about.append((resource, selection))
        if isinstance(self.version, str):
            return self.version
        answer = self.version.pop(0) if len(self.version) > 1 else self.version[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def open(self, request: Request) -> FakeStream:
        first = "sendInitialEvents" in request.query
        self._note("all" if first else f"from {request.query['resourceVersion']}")
        assert 300 <= int(request.query["timeoutSeconds"]) <= 600
        await asyncio.sleep(self.opening)
        script = self.watches.pop(0) if self.watches else [1e6]
        if isinstance(script, Exception):
            raise script
        return FakeStream(list(script))

    @property
    def questions(self) -> list[str]:
        return [what for _, what in self.asked]

    @property
    def waits(self) -> list[float]:
        times = [at for at, _ in self.asked]
        return [round(after - before, 6) for before, after in pairwise(times)]
