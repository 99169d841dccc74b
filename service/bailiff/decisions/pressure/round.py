"""One round of the eviction manager as a pure function: the whole node is judged at once.

Source: synchronize in pkg/kubelet/eviction/eviction_manager.go. The steps of `plan` are its steps.
What the kubelet does on the way (reclaim, kill) is told instead; after a reclaim the same round is
planned again with the summary that was read afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from bailiff.decisions.pressure.choosing import Choice, Outside, Starved, Victim, choose
from bailiff.decisions.pressure.container_fs import with_container_fs
from bailiff.decisions.pressure.layout import Layout, ReclaimStep, reclaim_steps
from bailiff.decisions.pressure.limits import over_their_limits, with_limits
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
    cools_down,
    first_observed,
    last_eviction,
    merged,
)
from bailiff.decisions.pressure.ranking import Ranking, rank
from bailiff.decisions.pressure.signals import MEMORY_SIGNALS, ORDER, Signal
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


class DryRun(NamedTuple):
    """What would be, were a threshold not one that only tells.

    Attributes:
        threshold: that is met, its grace period over.
        victims: who would go; empty: nobody may.
    """

    threshold: Threshold
    victims: tuple[Victim, ...]


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
    """Plan a round. The numbers are those of the steps in docs/pressure.md."""
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
    return _act(facts, outcome, [one.threshold for one in fresh])


def _act(facts: RoundFacts, so_far: RoundPlan, fresh: Sequence[Threshold]) -> RoundPlan:
    limited = with_limits(facts.pods, facts.settings)
    stats = _stats(facts) if limited or fresh else {}
    # 9. Pods that are over a limit of their own; then nobody else goes in this round.
    victims = over_their_limits(limited, stats, facts.settings, facts.layout)
    so_far = replace(so_far, victims=victims)
    if _go(facts, victims) or not fresh:
        return so_far
    dry = [_dry_run(facts, one, so_far, stats) for one in fresh if one.dry_run]
    so_far = replace(so_far, dry_runs=tuple(dry))
    acting = [one for one in fresh if not one.dry_run and not _is_set_aside(facts, one)]
    if not acting:
        return so_far
    if cools_down(so_far.state, facts.settings.cool_down_nanoseconds, facts.now):
        return replace(so_far, cools_down=True)
    # 10. Memory first, then in the order of Signal; hard before soft.
    starved = min(acting, key=_urgency)
    # 11. is the Event that so_far.starved makes; 12. what the node can free without any pod.
    steps = reclaim_steps(starved.signal, facts.layout)
    if steps and _is_relieved(facts):
        return replace(so_far, starved=starved, reclaim=steps, relieved=True)
    # 13. The first pod by rank that is not critical.
    ranking, choice = _choose(facts, starved, so_far, stats)
    waits = bool(steps) and facts.reclaims and facts.reclaimed is None
    chosen = () if waits else _besides(victims, choice.victims)
    return replace(
        so_far,
        starved=starved,
        reclaim=steps,
        ranking=ranking,
        victims=(*victims, *chosen),
        releasing=choice.releasing,
        waits_for_reclaim=waits,
        ends_first=choice.ends_first,
        state=_with_eviction(facts, so_far.state) if chosen else so_far.state,
    )


def _choose(
    facts: RoundFacts, starved: Threshold, so_far: RoundPlan, stats: Mapping[str, PodStats]
) -> tuple[Ranking, Choice]:
    extensions = facts.settings.extensions
    ranking = rank(starved.signal, facts.layout, facts.pods, stats, extensions)
    what = Starved(starved, so_far.observations[starved.signal])
    return ranking, choose(ranking, what, stats, facts.settings, facts.now, facts.outside)


def _dry_run(
    facts: RoundFacts, threshold: Threshold, so_far: RoundPlan, stats: Mapping[str, PodStats]
) -> DryRun:
    return DryRun(threshold, _choose(facts, threshold, so_far, stats)[1].victims)


def _is_set_aside(facts: RoundFacts, threshold: Threshold) -> bool:
    """The node would be freed first, which it cannot be, see Outside."""
    if facts.outside is None or not facts.outside.cannot_free:
        return False
    return bool(reclaim_steps(threshold.signal, facts.layout))


def _go(facts: RoundFacts, victims: Iterable[Victim]) -> bool:
    """Whether one of them goes: none does whom a policy holds since an earlier round."""
    held = frozenset() if facts.outside is None else facts.outside.held
    return any(one.pod.metadata.uid not in held for one in victims)


def _besides(held: Iterable[Victim], chosen: Iterable[Victim]) -> tuple[Victim, ...]:
    """Those that are not among the held ones."""
    uids = {one.pod.metadata.uid for one in held}
    return tuple(one for one in chosen if one.pod.metadata.uid not in uids)


def _with_eviction(facts: RoundFacts, state: PressureState) -> PressureState:
    """A cool-down begins, where there is one."""
    if not facts.settings.cool_down_nanoseconds:
        return state
    return replace(state, last_eviction_at=facts.now)


def stats_by_uid(stats: Iterable[PodStats]) -> dict[str, PodStats]:
    """What was measured of each pod; of two entries for one the last counts (cachedStatsFunc)."""
    return {one.pod_ref.uid: one for one in stats}


def _stats(facts: RoundFacts) -> dict[str, PodStats]:
    return stats_by_uid(facts.summary.pods if facts.pod_stats is None else facts.pod_stats())


def _is_fresh(
    one: ThresholdState,
    observations: Mapping[Signal, Observation],
    last: Mapping[Signal, datetime | None],
) -> bool:
    seen = observations.get(one.threshold.signal)
    return seen is not None and is_newer(seen, last)


def _measured(observations: Mapping[Signal, Observation]) -> tuple[SignalState, ...]:
    return tuple(SignalState(signal=one.signal, time=one.time) for one in observations.values())


def _urgency(threshold: Threshold) -> tuple[bool, int, bool]:
    signal = threshold.signal
    return signal not in MEMORY_SIGNALS, ORDER[signal], not threshold.is_hard


def _is_relieved(facts: RoundFacts) -> bool:
    """Reclaim helps only if no threshold at all is met any more, whatever its grace period."""
    if facts.reclaimed is None or facts.reclaimed.summary is None:
        return False
    acting = [one for one in facts.settings.thresholds if not one.dry_run]
    thresholds = with_container_fs(acting, facts.layout, first_round=False)
    after = observe(facts.reclaimed.summary, facts.metering)
    return not met(thresholds, after, reclaimed=True)
