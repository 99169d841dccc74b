"""What hooks work with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from bailiff.decisions.policies import NO_POLICIES, Policies
from bailiff.tracing import NO_TRACER
from bailiff.tracing.decided import decided

if TYPE_CHECKING:
    from collections.abc import Callable

    from bailiff.clock import Clock
    from bailiff.decisions import Answer, Options, Plan, Systems
    from bailiff.lookup import AllNodes, PodGroups, Source
    from bailiff.serving import Threads
    from bailiff.tally import Tally
    from bailiff.tracing import Tracer
    from bailiff.webhooks.hook import ObjectReader
    from bailiff.webhooks.settings import AdmissionSettings

A = TypeVar("A", bound="Answer")


def no_policies() -> Policies:
    """All are off."""
    return NO_POLICIES


@dataclass(frozen=True, kw_only=True)
class HookParts:
    """What each hook may use; a hook takes of it what it needs.

    Attributes:
        settings: how hooks answer.
        clock: for the instant that is decided for, and for deadlines.
        cluster_clock: goes by the API server's, as the worker does; None: there is none to go by.
        systems: who says whether a pod is to be evicted.
        options: how they decide.
        objects: reads the objects of requests.
        threads: where what takes long is done.
        source: live objects of the cluster; None: there is no cluster to read.
        nodes: all of that cluster; None: likewise.
        pod_groups: which of them go whole; None: likewise.
        policies: those in force now.
        tally: counts evictions over time; None: there is no cluster to count in.
        tracer: makes a span of what the core is asked.
    """

    settings: AdmissionSettings
    clock: Clock
    systems: Systems
    options: Options
    objects: ObjectReader
    threads: Threads
    source: Source | None = None
    nodes: AllNodes | None = None
    pod_groups: PodGroups | None = None
    cluster_clock: Clock | None = None
    policies: Callable[[], Policies] = no_policies
    tally: Tally | None = None
    tracer: Tracer = NO_TRACER

    async def carry_out(self, plan: Plan[A], question: str) -> A:
        """The answer that is planned; `question` is what a trace calls it.

        Raises:
            OverloadedError: it takes long, and others do.
        """
        if plan.is_quick:
            return decided(self.tracer, question, plan)
        return await self.threads.run(decided, self.tracer, question, plan, written=plan.told)
