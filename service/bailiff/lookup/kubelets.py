"""What the kubelets of live nodes tell, asked for once by all who ask at the same time."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import TYPE_CHECKING, Protocol

from bailiff.cluster.kubelets import KubeletError, decode_configuration
from bailiff.decisions import NotRead, Why

if TYPE_CHECKING:
    from bailiff.clock import Clock
    from bailiff.cluster.kubelets import SummaryRead
    from bailiff.decisions.seen import Seen
    from bailiff.kinds import Node

# Seconds for which an answer serves others: a kubelet measures every ten.
_FRESH = 1.0
# Seconds for which a kubelet that has not answered is not asked again: it may hang, and then each
# who asks would wait for it, and keep others waiting.
_SPARED = 10.0
# Answers that are kept, since one may be of some MiB, and refusals, which are a sentence.
_MOST, _MOST_REFUSALS = 8, 1000


class KubeletSource(Protocol):
    """Who asks kubelets; see Kubelets."""

    async def summary(self, node: Node) -> SummaryRead:
        """What the kubelet measures, or KubeletError."""
        ...

    async def configuration(self, node: Node) -> bytes:
        """What it runs with, or KubeletError."""
        ...


class KubeletAnswers:
    """Summaries and configurations, or why there are none."""

    def __init__(self, kubelets: KubeletSource, clock: Clock) -> None:
        """Ask nobody yet.

        Args:
            kubelets: how they are asked; bounds in bytes and seconds are its own.
            clock: for how long an answer serves.
        """
        self._kubelets = kubelets
        self._answers = _Kept(clock, _MOST, _FRESH)
        self._refusals = _Kept(clock, _MOST_REFUSALS, _SPARED)
        self._turns: dict[str, _Turn] = {}

    async def of(self, node: Node) -> Seen:
        """The Summary and the KubeletConfiguration of a node, or why they were not read."""
        name = node.metadata.name
        turn = self._turns.setdefault(name, _Turn())
        turn.waiting += 1
        try:
            async with turn.lock:
                known = self._answers.of(name) or self._refusals.of(name)
                return known or await self._asked(node)
        finally:
            turn.waiting -= 1
            if not turn.waiting:
                del self._turns[name]

    async def _asked(self, node: Node) -> Seen:
        found = await self._answer(node)
        kept = self._refusals if isinstance(found, NotRead) else self._answers
        kept.keep(node.metadata.name, found)
        return found

    async def _answer(self, node: Node) -> Seen:
        try:
            summary = (await self._kubelets.summary(node)).measured.summary
            body = await self._kubelets.configuration(node)
            return summary, decode_configuration(body, node.metadata.name)
        except KubeletError as error:
            return NotRead(Why.NOT_ANSWERED, error.message)


class _Turn:
    """Those who ask about one node, one of them at a time."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.waiting = 0


class _Kept:
    """Answers by node, the last ones, each for some seconds."""

    def __init__(self, clock: Clock, most: int, seconds: float) -> None:
        self._clock = clock
        self._most = most
        self._seconds = seconds
        self._kept: OrderedDict[str, tuple[float, Seen]] = OrderedDict()

    def of(self, name: str) -> Seen | None:
        until, found = self._kept.get(name, (0.0, None))
        return found if self._clock.monotonic() < until else None

    def keep(self, name: str, found: Seen) -> None:
        self._kept[name] = self._clock.monotonic() + self._seconds, found
        self._kept.move_to_end(name)
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)
