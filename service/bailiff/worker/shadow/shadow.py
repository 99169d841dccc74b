"""Shadow mode: decide and record, act on nothing, and see who evicts instead.

While the in-tree controllers evict, a worker in shadow mode evicts on paper only. They are told by
the pod condition that they write, DisruptionTarget with reason DeletionByTaintManager, or
DeletionByDeviceTaintManager where this worker looks at devices too.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from bailiff.cluster import Changed, Deleted, Replaced
from bailiff.decisions import device_taints, node_taints
from bailiff.worker.execute.actions import COMPONENT

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable
    from datetime import datetime

    from bailiff.cluster import Resource, WatchEvent
    from bailiff.decisions import EventNote
    from bailiff.kinds import Condition, DeviceTaintRule, Node, Pod, PodCondition
    from bailiff.worker.mirror.sources import EventSource
    from bailiff.worker.shadow.comparison import Comparison


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

    async def reset_condition(self, pod: Pod, condition: PodCondition, now: datetime) -> None:
        """See PodActions."""

    async def try_delete(self, pod: Pod) -> None:
        """See PodActions."""

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

    async def record(
        self, pod: Pod, note: EventNote, now: datetime, component: str = COMPONENT
    ) -> None:
        """See PodActions."""

    async def annotate(self, node: Node, first_observed: str) -> None:
        """See NodeActions."""

    async def set_rule_condition(
        self, resource: Resource[DeviceTaintRule], rule: DeviceTaintRule, condition: Condition
    ) -> None:
        """See RuleActions."""


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
                    if pod.is_terminating:
                        self._look(pod, on_evicted)
                self._comparison.listed({pod.metadata.uid for pod in items})
            case Changed(object=pod):
                if pod.is_terminating:
                    self._look(pod, on_evicted)
            case Deleted(object=pod):
                self._look(pod, on_evicted)
                self._comparison.left(pod)

    def _look(self, pod: Pod, on_evicted: Callable[[Pod], None]) -> None:
        """Tell of a pod that goes, if an in-tree controller has evicted it."""
        if _has(pod, node_taints.CONDITION):
            on_evicted(pod)
        elif _has(pod, device_taints.CONDITION):
            judged = self._comparison.sees_devices
            (on_evicted if judged else self._comparison.pass_over)(pod)


def _has(pod: Pod, wanted: PodCondition) -> bool:
    return any(
        (c.type, c.status, c.reason) == (wanted.type, wanted.status, wanted.reason)
        for c in pod.status.conditions
    )
