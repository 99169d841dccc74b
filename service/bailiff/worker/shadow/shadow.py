"""Shadow mode: decide and record, act on nothing, and see who evicts instead.

While the in-tree controllers evict, a worker in shadow mode evicts on paper only. They are told by
the pod condition that they write, such as DisruptionTarget with reason DeletionByTaintManager.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from bailiff.cluster import Changed, Deleted, Replaced

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from datetime import datetime

    from bailiff.actions.event_bodies import Regarding
    from bailiff.actions.ports import Mark
    from bailiff.cluster import Resource, WatchEvent
    from bailiff.decisions import EventNote, EvictionTerms
    from bailiff.kinds import Pod, PodCondition
    from bailiff.worker.mirror.watching import EventSource
    from bailiff.worker.shadow.comparison import Comparison


class ShadowActions:
    """Actions that do nothing."""

    def __init__(self, comparison: Comparison) -> None:
        """Act on paper; `comparison` is told of each pod that would have been deleted now."""
        self._comparison = comparison

    async def set_status(
        self,
        pod: Pod,
        terms: EvictionTerms,
        now: datetime,  # noqa: ARG002 - the port's
    ) -> Pod:
        """See PodActions. Where the pod is to stay, it has been evicted by that."""
        if not terms.keeps_pod:
            return pod
        self._comparison.ours(pod)
        return replace(pod, status=replace(pod.status, phase=terms.phase))

    async def current(self, pod: Pod) -> Pod:
        """See PodActions."""
        return pod

    async def set_phase(self, pod: Pod, terms: EvictionTerms) -> None:
        """See PodActions."""

    async def mark(self, pod: Pod, mark: Mark, now: datetime) -> None:
        """See PodActions."""

    async def reset_condition(self, pod: Pod, condition: PodCondition, now: datetime) -> None:
        """See PodActions."""

    async def try_delete(self, pod: Pod) -> None:
        """See PodActions."""

    async def try_evict(self, pod: Pod) -> None:
        """See PodActions."""

    async def delete(
        self,
        pod: Pod,
        grace_period_seconds: int | None,  # noqa: ARG002 - the port's
    ) -> None:
        """See PodActions."""
        self._comparison.ours(pod)

    async def evict(
        self,
        pod: Pod,
        grace_period_seconds: int | None = None,  # noqa: ARG002 - the port's
    ) -> None:
        """See PodActions; what a budget would say is not asked."""
        self._comparison.ours(pod)

    def backoff(self) -> float:
        """See Actions. Nothing is sent, so nothing has to wait."""
        return 0.0

    async def record(self, pod: Pod, note: EventNote, now: datetime, component: str) -> None:
        """See PodActions."""

    async def report(
        self, about: Regarding, note: EventNote, now: datetime, component: str
    ) -> None:
        """See ObjectActions."""

    async def write(
        self,
        resource: Resource[Any],
        body: dict[str, Any],
        *,
        field_manager: str,
        apply: bool = False,
        subresource: str = "",
    ) -> None:
        """See ObjectActions."""


class Watched:
    """The events of pods, with a look at who evicted them on the way."""

    def __init__(self, source: EventSource[Pod], comparison: Comparison) -> None:
        self._source = source
        self._comparison = comparison

    async def events(self) -> AsyncGenerator[WatchEvent[Pod], None]:
        """As the source's."""
        listed = False
        async with contextlib.aclosing(self._source.events()) as events:
            async for event in events:
                yield event
                # After the mirror has taken it in, so that the core is asked with what is now.
                self._note(event, judged=listed)
                listed = listed or isinstance(event, Replaced)

    def _note(self, event: WatchEvent[Pod], *, judged: bool) -> None:
        """Who left before the first list had been taken in is passed over, and not judged."""
        match event:
            case Replaced(items=items):
                for pod in items:
                    if pod.is_terminating:
                        self._look(pod, judged=judged)
                self._comparison.listed({pod.metadata.uid for pod in items})
            case Changed(object=pod):
                if pod.is_terminating:
                    self._look(pod, judged=judged)
            case Deleted(object=pod):
                self._look(pod, judged=judged)
                self._comparison.left(pod)

    def _look(self, pod: Pod, *, judged: bool) -> None:
        """Tell of a pod that goes, if an in-tree controller has evicted it."""
        system = self._comparison.system_by_condition(pod)
        if system is None:
            return
        if judged and system.sees:
            self._comparison.theirs(pod)
        else:
            self._comparison.pass_over(pod)
