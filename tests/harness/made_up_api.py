"""An API server that keeps what it is asked to do, and a runtime that stops containers."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from bailiff.cluster import NotFoundError, UnreachableError
from bailiff.kinds.pod import Pod

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from bailiff.actions.ports import Mark
    from bailiff.decisions import EventNote, EvictionTerms
    from bailiff.kinds import PodCondition


def gone(name: str = "hog") -> NotFoundError:
    """What the API server says of a pod that it does not have."""
    details = {"name": name, "kind": "pods"}
    return NotFoundError("no such pod", status=404, reason="NotFound", details=details)


class MadeUpApi:
    """What the API server was asked to do.

    Attributes:
        done: each write, in order.
        fails: raised by each write, or what makes that of a pod's name; None: it is carried out.
        takes: seconds for each write.
        cuts: so many of the next writes meet a connection that was cut.
    """

    def __init__(self, when_deleted: Callable[[Pod], None]) -> None:
        self._when_deleted = when_deleted
        self.done: list[tuple[str, str]] = []
        self.events: list[tuple[str, str]] = []
        self.fails: Exception | Callable[[str], Exception] | None = None
        self.takes = 0.0
        self.cuts = 0

    async def _write(self, what: str, of: str) -> None:
        if self.cuts:
            self.cuts -= 1
            raise UnreachableError("connection reset by peer")
        await asyncio.sleep(self.takes)
        if self.fails is not None:
            raise self.fails if isinstance(self.fails, Exception) else self.fails(of)
        self.done.append((what, of))

    async def set_status(self, pod: Pod, terms: EvictionTerms, now: datetime) -> Pod:
        await self._write("status", pod.metadata.name)
        return pod

    async def current(self, pod: Pod) -> Pod:
        await self._write("look", pod.metadata.name)
        return pod

    async def set_phase(self, pod: Pod, terms: EvictionTerms) -> None:
        await self._write("phase", pod.metadata.name)

    async def delete(self, pod: Pod, grace_period_seconds: int | None) -> None:
        await self._write(f"delete in {grace_period_seconds}", pod.metadata.name)
        self._when_deleted(pod)

    async def record(self, pod: Pod, note: EventNote, now: datetime, component: str) -> None:
        await self._write("event", pod.metadata.name)
        self.events.append((note.reason, pod.metadata.name))

    async def report(self, about: Any, note: EventNote, now: datetime, component: str) -> None:
        await self._write("event", about.name)
        self.events.append((note.reason, about.name))

    async def write(self, resource: Any, body: dict[str, Any], **how: Any) -> None:
        await self._write("conditions", body["metadata"]["name"])

    async def mark(self, pod: Pod, mark: Mark, now: datetime) -> None: ...

    async def reset_condition(self, pod: Pod, condition: PodCondition, now: datetime) -> None:
        await self._write("reset", pod.metadata.name)

    async def try_delete(self, pod: Pod) -> None: ...

    async def evict(self, pod: Pod, grace_period_seconds: int | None = None) -> None: ...

    async def try_evict(self, pod: Pod) -> None: ...

    def backoff(self) -> float:
        return 0.0

    @property
    def deleted(self) -> list[str]:
        return [of for what, of in self.done if what.startswith("delete")]


class MadeUpStopper:
    """Stops containers, so that they use nothing."""

    def __init__(self, stop: Callable[[str], object]) -> None:
        self._stop = stop
        self.stopped: list[tuple[str, int]] = []
        self.runs_nothing: set[str] = set()

    async def stop(self, pod: Pod, grace_period_seconds: int) -> bool | None:
        if pod.metadata.name in self.runs_nothing:
            return None
        self.stopped.append((pod.metadata.name, grace_period_seconds))
        self._stop(pod.metadata.name)
        return True
