"""What a worker finds of who is to go, stepped by hand: nothing runs, nothing is carried out."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

from prometheus_client import CollectorRegistry

from bailiff.decisions import Options
from bailiff.worker import SYSTEMS, Comparison, ShadowActions, Shard, Unopposed, WorkerSettings
from bailiff.worker.lead.sharding import HeldShard
from bailiff.worker.mirror.mirror import Mirror
from bailiff.worker.observe.metrics import WorkerMetrics
from bailiff.worker.systems import MakeSystem, Parts
from bailiff.worker.timers.evaluator import Evaluator
from bailiff.worker.timers.marks import Marks
from bailiff.worker.timers.pending import PendingEvictions
from tests.harness.turns import straight_through

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bailiff.clock import Clock
    from bailiff.cluster import WatchEvent
    from bailiff.kinds import Node, Pod
    from bailiff.worker.execute.outcomes import Outcome
    from bailiff.worker.observe.telling import Teller
    from bailiff.worker.timers.eviction import Eviction

SILENT = Options(explain=False)


class Evaluating:
    """An evaluator with all that it needs.

    Attributes:
        gone_back_on: evictions that were cancelled, and why.
    """

    def __init__(
        self, clock: Clock, options: Options = SILENT, systems: Sequence[MakeSystem] = SYSTEMS
    ) -> None:
        registry, held = CollectorRegistry(), HeldShard((Shard(),))
        self.parts = Parts(
            actions=ShadowActions(Comparison(clock)),
            clock=clock,
            registry=registry,
            metrics=WorkerMetrics(registry),
            settings=WorkerSettings(options=options),
            election=Unopposed(),
            mirror=Mirror(),
            held_shard=held,
            marks=Marks(held),
        )
        self.systems = {one.name: one for one in (make(self.parts) for make in systems)}
        self.mirror, self.marks = self.parts.mirror, self.parts.marks
        self.pending = PendingEvictions(clock, asyncio.Event())
        self.gone_back_on: list[tuple[Eviction, str]] = []
        teller = cast("Teller", self)
        self.evaluator = Evaluator(
            self.systems, self.mirror, self.marks, self.pending, clock, teller, options
        )

    def cancelled(self, eviction: Eviction, why: str) -> None:
        """As the teller is told."""
        self.gone_back_on.append((eviction, why))

    def ended(self, eviction: Eviction, outcome: Outcome) -> None:
        """As the teller is told; nothing is begun here."""

    def tell_node(self, event: WatchEvent[Node]) -> None:
        straight_through(self.mirror.apply_node(event))

    def tell_pod(self, event: WatchEvent[Pod]) -> None:
        straight_through(self.mirror.apply_pod(event))

    def through(self) -> int:
        """Work off all marks; in how many steps."""
        steps = 0
        while self.evaluator.step():
            steps += 1
        return steps
