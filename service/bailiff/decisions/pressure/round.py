"""One round of the eviction manager as a pure function: the whole node is judged at once.

Source: synchronize in pkg/kubelet/eviction/eviction_manager.go. The steps of `plan` are its steps.
What the kubelet does on the way (reclaim, kill) is told instead; after a reclaim the same round is
planned again with the summary that was read afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from bailiff.decisions.pressure.acting import act
from bailiff.decisions.pressure.choosing import DryRun, Outside, Victim
from bailiff.decisions.pressure.container_fs import with_container_fs
from bailiff.decisions.pressure.layout import Layout, ReclaimStep
from bailiff.decisions.pressure.observations import (
    AS_THE_KUBELET,
    Metering,
    is_newer,
    met,
    observe,
)
from bailiff.decisions.pressure.observed import Observation
from bailiff.decisions.pressure.progress import (
    after_grace,
    carried_over,
    conditions_seen,
    first_observed,
    last_eviction,
    merged,
)
from bailiff.decisions.pressure.ranking import Ranking
from bailiff.decisions.pressure.signals import Signal
from bailiff.decisions.pressure.state import PressureState, SignalState
from bailiff.decisions.pressure.thresholds import Threshold

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from bailiff.decisions.pressure.settings import PressureSettings
    from bailiff.decisions.pressure.state import ThresholdState
    from bailiff.kinds import Pod
    from bailiff.kinds.stats import PodStats, Summary


class Reclaimed(NamedTuple):
    """That the node-level reclaim steps of this round have been done.

    Attributes:
        summary: read afterwards; None: it could not be read, so nothing is known to have helped.
    """

    summary: Summary | None


class RoundFacts(NamedTuple):
    """What a round is planned from.

    Attributes:
        settings: thresholds and what else is configured.
        layout: of the node's file systems.
        summary: of the node.
        pods: that are on the node and have not finished, terminating ones included.
        state: what the last round has left.
        now: in UTC.
        metering: how the summary is read.
        reclaims: whoever asks does the reclaim steps, so that nobody goes before they are done.
        reclaimed: set when the round is planned again after its reclaim steps.
        pod_stats: tells what was measured of the pods, asked only where that may matter; None: the
            summary does.
        outside: whoever carries the round out does so from outside the node; None: its kubelet.
    """

    settings: PressureSettings
    layout: Layout
    summary: Summary
    pods: Sequence[Pod]
    state: PressureState
    now: datetime
    metering: Metering = AS_THE_KUBELET
    reclaims: bool = False
    reclaimed: Reclaimed | None = None
    pod_stats: Callable[[], Iterable[PodStats]] | None = None
    outside: Outside | None = None


class RoundPlan(Struct, frozen=True):
    """What a round comes to.

    Attributes:
        conditions: of the node that hold, in the order of CONDITIONS.
        observations: what was available, by signal.
        thresholds: those that count, met or not.
        starved: the threshold that is acted upon; None: nothing is.
        reclaim: what the node is to free before any pod goes, in this order.
        relieved: that was done, and no threshold is met any more.
        ranking: of the pods for the starved resource; None: nobody was ranked.
        victims: who goes: one pod by rank, or all that are over a limit of their own.
        releasing: what pods that are ending free, where that counts.
        cools_down: nobody goes by rank, since somebody has just gone.
        dry_runs: what thresholds that only tell would have come to.
        waits_for_reclaim: nobody goes before the reclaim steps are done.
        ends_first: nobody goes, since the first by rank is about to be gone.
        state: for the next round.
    """

    conditions: tuple[str, ...]
    observations: Mapping[Signal, Observation]
    thresholds: tuple[Threshold, ...]
    state: PressureState
    starved: Threshold | None = None
    reclaim: tuple[ReclaimStep, ...] = ()
    relieved: bool = False
    ranking: Ranking | None = None
    victims: tuple[Victim, ...] = ()
    releasing: int = 0
    cools_down: bool = False
    dry_runs: tuple[DryRun, ...] = ()
    waits_for_reclaim: bool = False
    ends_first: bool = False


def plan(facts: RoundFacts) -> RoundPlan:
    """Plan a round. The numbers are those of the steps in docs/pressure/round.md."""
    settings, state, now = facts.settings, facts.state, facts.now
    # 1. Nothing to watch.
    if not settings.thresholds and not settings.local_storage_capacity_isolation:
        return RoundPlan((), {}, (), state)
    # 2. What the layout of the file systems makes of the thresholds.
    first = not state.started
    thresholds = with_container_fs(settings.thresholds, facts.layout, first_round=first)
    # 3. What is available.
    observations = observe(facts.summary, facts.metering)
    # 4. Met now, or met before and not yet over by its minimum reclaim.
    before = carried_over(state, thresholds)
    set_now = {one.identity: one for one in thresholds}
    going_on = [set_now[which] for which, one in before.items() if one.acted_upon]
    below = merged(met(thresholds, observations), met(going_on, observations, reclaimed=True))
    # 5. Since when without a break.
    observed = first_observed(below, before, now)
    # 6. Conditions of the node, whatever the grace periods.
    told = [one for one in below if not one.dry_run]
    seen = conditions_seen(told, state, settings.transition_period_nanoseconds, now)
    # 7. Those whose grace period is over.
    observed = after_grace(observed, now)
    # 8. Of those the ones that were measured since the last round.
    last = state.last_times
    fresh = [one for one in observed if one.acted_upon and _is_fresh(one, observations, last)]
    outcome = RoundPlan(
        tuple(one.type for one in seen if one.held),
        observations,
        thresholds,
        PressureState(
            thresholds=observed,
            conditions=seen,
            signals=_measured(observations),
            started=True,
            last_eviction_at=last_eviction(state, settings.cool_down_nanoseconds, now),
        ),
    )
    return act(facts, outcome, [one.threshold for one in fresh])


def _is_fresh(
    one: ThresholdState,
    observations: Mapping[Signal, Observation],
    last: Mapping[Signal, datetime | None],
) -> bool:
    seen = observations.get(one.threshold.signal)
    return seen is not None and is_newer(seen, last)


def _measured(observations: Mapping[Signal, Observation]) -> tuple[SignalState, ...]:
    return tuple(SignalState(signal=one.signal, time=one.time) for one in observations.values())
