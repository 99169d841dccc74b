"""Shadow mode: decide and record, act on nothing, and see who evicts instead.

While the in-tree controller evicts, a worker in shadow mode evicts on paper only. The in-tree
controller is told by the pod condition that it writes, DisruptionTarget with reason
DeletionByTaintManager.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from bailiff.cluster import Changed, Deleted, Replaced
from bailiff.decisions.node_taints import CONDITION

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable
    from datetime import datetime

    from bailiff.cluster import WatchEvent
    from bailiff.decisions import EventNote
    from bailiff.kinds import Node, Pod, PodCondition
    from bailiff.worker.comparison import Comparison
    from bailiff.worker.worker import EventSource


class ShadowActions:
    """Actions that do nothing."""

    def __init__(self, on_due: Callable[[Pod], None]) -> None:
        """Act on paper.

        Args:
            on_due: told of each pod that would have been deleted now.
        """
        self._on_due = on_due

    async def set_condition(
        self,
        pod: Pod,
        condition: PodCondition,  # noqa: ARG002 - the port's
        now: datetime,  # noqa: ARG002 - the port's
    ) -> Pod:
        """See PodActions."""
        return pod

    async def delete(
        self,
        pod: Pod,
        grace_period_seconds: int | None,  # noqa: ARG002 - the port's
    ) -> None:
        """See PodActions."""
        self._on_due(pod)

    async def evict(self, pod: Pod) -> None:
        """See PodActions; what a budget would say is not asked."""
        self._on_due(pod)

    async def record(self, pod: Pod, note: EventNote, now: datetime) -> None:
        """See PodActions."""

    async def annotate(self, node: Node, first_observed: str) -> None:
        """See NodeActions."""


class Watched:
    """The events of pods, with a look at who evicted them on the way."""

    def __init__(self, source: EventSource[Pod], comparison: Comparison) -> None:
        self._source = source
        self._comparison = comparison

    async def events(self) -> AsyncGenerator[WatchEvent[Pod], None]:
        """As the source's."""
        on_evicted = self._comparison.pass_over
        async with contextlib.aclosing(self._source.events()) as events:
            async for event in events:
                yield event
                # After the mirror has taken it in, so that the core is asked with what is now.
                self._note(event, on_evicted)
                if isinstance(event, Replaced):
                    on_evicted = self._comparison.theirs

    def _note(self, event: WatchEvent[Pod], on_evicted: Callable[[Pod], None]) -> None:
        match event:
            case Replaced(items=items):
                for pod in items:
                    if pod.is_terminating and _by_in_tree(pod):
                        on_evicted(pod)
                self._comparison.listed({pod.metadata.uid for pod in items})
            case Changed(object=pod):
                if pod.is_terminating and _by_in_tree(pod):
                    on_evicted(pod)
            case Deleted(object=pod):
                if _by_in_tree(pod):
                    on_evicted(pod)
                self._comparison.left(pod)


def _by_in_tree(pod: Pod) -> bool:
    return any(
        (c.type, c.status, c.reason) == (CONDITION.type, CONDITION.status, CONDITION.reason)
        for c in pod.status.conditions
    )
