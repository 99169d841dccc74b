"""What a round does about thresholds that are met: somebody goes, or the node is freed first.

Source: synchronize in pkg/kubelet/eviction/eviction_manager.go, from the local storage eviction on.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from msgspec.structs import replace

from bailiff.decisions.pressure.choosing import (
    Choice,
    DryRun,
    Starved,
    Victim,
    choose,
    hangs,
    is_nearly_gone,
)
from bailiff.decisions.pressure.container_fs import with_container_fs
from bailiff.decisions.pressure.grace import LEAST_SECONDS
from bailiff.decisions.pressure.layout import reclaim_steps
from bailiff.decisions.pressure.limits import over_their_limits, with_limits
from bailiff.decisions.pressure.observations import met, observe
from bailiff.decisions.pressure.progress import cools_down
from bailiff.decisions.pressure.ranking import Ranking, rank
from bailiff.decisions.pressure.signals import MEMORY_SIGNALS, ORDER

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from bailiff.decisions.pressure.round import RoundFacts, RoundPlan
    from bailiff.decisions.pressure.state import PressureState
    from bailiff.decisions.pressure.thresholds import Threshold
    from bailiff.kinds import Pod
    from bailiff.kinds.stats import PodStats


def act(facts: RoundFacts, so_far: RoundPlan, fresh: Sequence[Threshold]) -> RoundPlan:
    """Steps 9 to 13 of a round, see `plan`.

    Args:
        facts: of the round.
        so_far: what it has come to.
        fresh: thresholds that are met, their grace periods over, by what was measured anew.
    """
    limited = [
        one for one in with_limits(facts.pods, facts.settings) if not _is_passed_over(facts, one)
    ]
    stats = _stats(facts) if limited or fresh else {}
    # 9. Pods that are over a limit of their own; then nobody else goes in this round.
    victims = over_their_limits(limited, stats, facts.settings, facts.layout)
    so_far = replace(so_far, victims=victims)
    if _go(facts, victims) or not fresh:
        return so_far
    dry = [_dry_run(facts, one, so_far, stats) for one in fresh if one.dry_run]
    so_far = replace(so_far, dry_runs=tuple(dry))
    acting = [one for one in fresh if not one.dry_run and not _is_left_out(facts, one)]
    if not acting:
        return so_far
    if cools_down(so_far.state, facts.settings.cool_down_nanoseconds, facts.now):
        return replace(so_far, cools_down=True)
    # 10. Memory first, then in the order of Signal; hard before soft.
    in_order = iter(sorted(acting, key=_urgency))
    first = _act_upon(facts, so_far, next(in_order), stats)
    if facts.outside is None:
        return first
    # A kubelet stays with the first. Where nobody can go for that the next is not to wait for it.
    for planned in chain((first,), (_act_upon(facts, so_far, one, stats) for one in in_order)):
        if _comes_to_something(planned, victims):
            return planned
    return first


def _comes_to_something(planned: RoundPlan, held: Collection[Victim]) -> bool:
    """Somebody goes for what is starved, or the node is freed, or who ends is waited for.

    No hard threshold waits for one that goes for a soft one, and has its time.
    """
    if len(planned.victims) > len(held) or planned.relieved or planned.waits_for_reclaim:
        return True
    is_hard = planned.starved is not None and planned.starved.is_hard
    return is_hard and (bool(planned.releasing) or planned.ends_first)


def _act_upon(
    facts: RoundFacts, so_far: RoundPlan, starved: Threshold, stats: Mapping[str, PodStats]
) -> RoundPlan:
    victims = so_far.victims
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


def _is_passed_over(facts: RoundFacts, pod: Pod) -> bool:
    """It does not go for a limit of its own, see Outside: chosen again it would keep all others."""
    outside = facts.outside
    if outside is None:
        return False
    ends = pod.is_terminating and (
        hangs(pod, outside.now) or is_nearly_gone(pod, LEAST_SECONDS, outside.now)
    )
    return ends or pod.metadata.uid in outside.set_aside


def _is_left_out(facts: RoundFacts, threshold: Threshold) -> bool:
    """Nobody goes for it at the moment, see Outside."""
    outside = facts.outside
    if outside is None:
        return False
    if threshold.signal in outside.aside or (outside.hard_only and not threshold.is_hard):
        return True
    is_freed_for = outside.only_without_reclaim and reclaim_steps(threshold.signal, facts.layout)
    return bool(is_freed_for)


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
