"""Which plan of a round counts, where there is more than one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bailiff.agent.departures import LEAVES
from bailiff.agent.judge import Circumstances, oldest
from bailiff.clock import Moment
from bailiff.decisions.pressure.findings import went_by_rank
from bailiff.decisions.pressure.signals import MEMORY_SIGNALS

if TYPE_CHECKING:
    from bailiff.agent.departures import Departures
    from bailiff.agent.evictions import Evictions
    from bailiff.agent.judge import Judged
    from bailiff.agent.parts import Parts
    from bailiff.agent.reading import Reading
    from bailiff.clock import SteadyTime


class Planner:
    """Plans rounds: what one threshold waits for keeps no harder one, and no other resource.

    All of it raises FactsError where the configuration is one that no kubelet starts with.
    """

    def __init__(
        self, parts: Parts, departures: Departures, evictions: Evictions, steady: SteadyTime
    ) -> None:
        """Prepare.

        Args:
            parts: of the rounds.
            departures: knows who is leaving.
            evictions: knows whose eviction was refused.
            steady: as rounds count time.
        """
        self._parts = parts
        self._departures = departures
        self._evictions = evictions
        self._steady = steady

    def plan(
        self, reading: Reading, again: Reading | None = None, *, apart: bool = False
    ) -> Judged:
        """The plan that is to count; to be asked once a round.

        Args:
            reading: what was measured.
            again: what was measured after the reclaim steps; None: they have not been done.
            apart: for all but what the node would be freed for first, where somebody goes for it.
        """
        judged = self.preview(reading, again, apart=apart)
        why = self._parts.judge.why_it_waits(judged, self._parts.clock.elapsed())
        if not why:
            return judged
        # A pod that has ended uses its memory for a moment only; for the rest nobody waits.
        others = self.preview(reading, again, apart=apart, aside=MEMORY_SIGNALS)
        # What is freed apart is under way.
        is_of_use = bool(others.victims) if apart else _does_something(others)
        return others if is_of_use else judged.waiting(why, look_soon=True)

    def preview(
        self,
        reading: Reading,
        again: Reading | None = None,
        *,
        apart: bool = False,
        **only: Any,  # noqa: ANN401 - of Circumstances
    ) -> Judged:
        """The same, but for pods that the API does not tell of; changes nothing."""
        if apart:
            others = self._in_time(reading, again, only_without_reclaim=True, **only)
            if others.victims:
                return others
        return self._in_time(reading, again, **only)

    def _in_time(self, reading: Reading, again: Reading | None, **only: Any) -> Judged:  # noqa: ANN401 - as above
        """Not for a soft threshold while somebody leaves for one."""
        judge, circumstances = self._parts.judge, self._circumstances()._replace(**only)
        judged = judge.judge(reading, circumstances, again)
        if not _has_time(judged) or not self._departures.are_under_way():
            return judged
        hard = judge.judge(reading, circumstances._replace(hard_only=True), again)
        return hard if _does_something(hard) else judged.waiting(LEAVES)

    def _circumstances(self) -> Circumstances:
        parts = self._parts
        moment = Moment(self._steady.now(), parts.clock.elapsed())
        return Circumstances(
            node=parts.facts.node,
            pods=oldest(parts.facts.pods),
            configuration=parts.facts.configuration,
            moment=moment,
            wall=parts.clock.now(),
            found_layout=parts.source.layout(),
            refused=self._evictions.refused.now(),
            set_aside=self._evictions.set_aside_now(),
        )


def _does_something(judged: Judged) -> bool:
    """Somebody goes, or the node is freed."""
    return bool(judged.victims or judged.report.reclaim)


def _has_time(judged: Judged) -> bool:
    """Whether somebody goes by rank for a soft threshold."""
    return not judged.is_hard and any(went_by_rank(found) for _, found in judged.victims)
