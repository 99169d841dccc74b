"""Who goes of those that were ranked: the first, or as many as it takes to free what is missing.

Source: synchronize in pkg/kubelet/eviction/eviction_manager.go, which takes one pod a round. That
it may be as many as are needed, less what pods free that are ending anyway, is ours
(extensions.ReleaseTarget), as KillAndEvictPods of Koordinator does.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from bailiff.decisions.pressure.grace import grace_period_seconds
from bailiff.decisions.pressure.messages import Told, pressure_message
from bailiff.kinds.meta import INT64_MAX
from bailiff.kinds.quantity import NANO

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from bailiff.decisions.pressure.local_storage import StorageLimit
    from bailiff.decisions.pressure.observed import Observation
    from bailiff.decisions.pressure.ranking import Candidate, Ranking
    from bailiff.decisions.pressure.settings import PressureSettings
    from bailiff.decisions.pressure.signals import Signal
    from bailiff.decisions.pressure.thresholds import Threshold
    from bailiff.kinds import Pod
    from bailiff.kinds.stats import PodStats

# A pod that takes longer to end is no help against what is low now, and one that should have been
# gone for so long hangs: both are candidates as any other, as upstream has all that are ending.
_SOON = timedelta(seconds=60)
_OVERDUE = timedelta(seconds=30)
# So much less time is not worth a request, which would take some of it.
_NO_TIME_WON = timedelta(seconds=2)
# Seconds; in a longer grace period nobody is hastened.
_LONGEST_GRACE = 10**9


class Victim(NamedTuple):
    """A pod that goes.

    Attributes:
        pod: which.
        cause: the signal or the storage limit, as the metric kubelet_evictions names it.
        grace_period_seconds: that it is given, at least 1.
        told: what is written with it.
        disrupts: it gets the condition DisruptionTarget; not for a limit of its own.
    """

    pod: Pod
    cause: Signal | StorageLimit
    grace_period_seconds: int
    told: Told
    disrupts: bool


class Choice(NamedTuple):
    """Who goes.

    Attributes:
        victims: in the order of their ranks.
        releasing: what pods that are ending free of the signal, in its unit; counted only where
            there is a release target.
        ends_first: nobody goes, since the first by rank is about to be gone.
    """

    victims: tuple[Victim, ...]
    releasing: int = 0
    ends_first: bool = False


class DryRun(NamedTuple):
    """What would be, were a threshold not one that only tells.

    Attributes:
        threshold: that is met, its grace period over.
        victims: who would go; empty: nobody may.
    """

    threshold: Threshold
    victims: tuple[Victim, ...]


class Outside(NamedTuple):
    """That whoever carries the round out does so from outside the node, by the API server.

    A kubelet ends a pod's containers by itself. From outside a pod that is being deleted can be
    given less time, and that is all: one that is not gone when it should be hangs, and to wait for
    it would keep all others.

    Attributes:
        now: in UTC, by the wall clock, which is what the API server's instants go by.
        held: UIDs of pods that were chosen before and do not go, as where a policy holds them.
        refused: UIDs of pods whose eviction was refused a moment ago; others go in their place.
        set_aside: UIDs of pods that do not go for limits of their own now; by rank they may.
        only_without_reclaim: nobody goes for anything that the node would be freed for first, since
            that is under way, or cannot be done; other thresholds do not wait for it.
        aside: signals for which nobody goes now, as of disks that stand still; conditions go on.
        hard_only: nobody goes for a soft threshold, since somebody is leaving for one.
    """

    now: datetime
    held: frozenset[str] = frozenset()
    refused: frozenset[str] = frozenset()
    set_aside: frozenset[str] = frozenset()
    only_without_reclaim: bool = False
    aside: frozenset[Signal] = frozenset()
    hard_only: bool = False


class Starved(NamedTuple):
    """What a round acts upon.

    Attributes:
        threshold: that is met.
        seen: what is left of its signal.
    """

    threshold: Threshold
    seen: Observation

    @property
    def missing(self) -> int:
        """So much has to be freed until the threshold is over, in the unit of its signal."""
        amount = self.threshold.amount(self.seen.capacity, reclaimed=True)
        return -(-amount // NANO) - self.seen.available

    @property
    def is_over_for_kubelet(self) -> bool:
        """Nothing but `stopAt` keeps it met: no kubelet would evict anybody for it."""
        kubelet = replace(self.threshold, stop_at=None)
        return self.seen.available * NANO >= kubelet.amount(self.seen.capacity, reclaimed=True)


def choose(
    ranking: Ranking,
    starved: Starved,
    stats: Mapping[str, PodStats],
    settings: PressureSettings,
    now: datetime,
    outside: Outside | None = None,
) -> Choice:
    """Who goes; nobody who is critical.

    Args:
        ranking: all pods of the node.
        starved: what is low.
        stats: what was measured of the pods, by UID.
        settings: with the release target.
        now: in UTC.
        outside: the pods are evicted from outside the node; None: by its kubelet.
    """
    now = now if outside is None else outside.now
    target = settings.extensions.release_target
    ranked = tuple(zip(ranking.pods, ranking.candidates, strict=True))
    able = [(pod, one) for pod, one in ranked if not one.critical]
    if starved.is_over_for_kubelet:
        able = [(pod, one) for pod, one in able if _may_help(one)]
    if outside is not None:
        able = [(pod, one) for pod, one in able if not _is_out(pod, one, outside)]
    if target is None:
        first = tuple(_victim(pod, starved, stats, settings) for pod, _ in able[:1])
        if outside is not None and any(is_nearly_gone(*one, now) for one in _given(first)):
            return Choice((), ends_first=True)
        return Choice(first)
    ending = [one for pod, one in ranked if _ends_soon(pod, now)]
    staying = [(pod, one) for pod, one in able if not _ends_soon(pod, now)]
    if outside is not None:
        # Who is ending is not to be given more time than it has.
        staying = [
            (pod, one)
            for pod, one in staying
            if not is_nearly_gone(pod, _grace(pod, starved, settings), now)
        ]
    # More than there can be is told as the most that an answer holds.
    releasing = min(sum(one.used for one in ending), INT64_MAX)
    if starved.threshold.signal.is_stall:
        # Time is nothing that pods give back: one goes, and is waited for.
        going = [] if ending else [pod for pod, _ in staying[:1]]
    else:
        going = _enough(staying, starved.missing - releasing, target.at_most)
    return Choice(tuple(_victim(pod, starved, stats, settings) for pod in going), releasing)


def _enough(able: Iterable[tuple[Pod, Candidate]], missing: int, at_most: int) -> list[Pod]:
    """The first that together free what is missing; who frees nothing stays."""
    going: list[Pod] = []
    for pod, one in able:
        if missing <= 0 or len(going) == at_most:
            break
        if not _may_help(one):
            continue
        going.append(pod)
        missing -= one.used
        if not one.measured:
            # What it frees nobody knows: who else has to go is seen when it is gone.
            break
    return going


def _may_help(one: Candidate) -> bool:
    """It uses something of what is missing, or nobody knows what it uses.

    Who uses nothing would go as first of its rank, be made anew by its DaemonSet, and go again.
    """
    return not one.measured or one.used > 0


def _ends_soon(pod: Pod, now: datetime) -> bool:
    """It is being deleted, and gone within a minute; see ObjectMeta for the instant."""
    at = pod.metadata.deletion_timestamp
    # As differences: at the ends of time there is no sum.
    return at is not None and at - now <= _SOON and now - at < _OVERDUE


def _is_out(pod: Pod, one: Candidate, outside: Outside) -> bool:
    """Its eviction was refused, it hangs, or frees nothing: to choose it would keep all others."""
    is_refused = pod.metadata.uid in outside.refused
    return is_refused or hangs(pod, outside.now) or _ends_unbegun(pod, one)


def _ends_unbegun(pod: Pod, one: Candidate) -> bool:
    """It is being deleted, and has never begun to run."""
    is_ending = pod.metadata.deletion_timestamp is not None
    return is_ending and pod.status.phase == "Pending" and not one.measured


def hangs(pod: Pod, now: datetime) -> bool:
    """It should have been gone for so long that nobody waits for it any more."""
    at = pod.metadata.deletion_timestamp
    return at is not None and now - at >= _OVERDUE


def _given(victims: Iterable[Victim]) -> Iterable[tuple[Pod, int]]:
    return ((one.pod, one.grace_period_seconds) for one in victims)


def is_nearly_gone(pod: Pod, grace_period_seconds: int, now: datetime) -> bool:
    """It is being deleted, and to give it this grace period would win no time.

    Args:
        pod: whom it concerns.
        grace_period_seconds: that it would be given.
        now: in UTC, by the wall clock.
    """
    at = pod.metadata.deletion_timestamp
    given = timedelta(seconds=min(grace_period_seconds, _LONGEST_GRACE))
    return at is not None and at - now <= given + _NO_TIME_WON


def _grace(pod: Pod, starved: Starved, settings: PressureSettings) -> int:
    most = settings.max_pod_grace_period_seconds
    return grace_period_seconds(pod, starved.threshold, most)


def _victim(
    pod: Pod, starved: Starved, stats: Mapping[str, PodStats], settings: PressureSettings
) -> Victim:
    threshold, seen = starved
    grace = _grace(pod, starved, settings)
    measured = stats.get(pod.metadata.uid)
    told = pressure_message(pod, measured, threshold, seen, settings.extensions)
    return Victim(pod, threshold.signal, grace, told, disrupts=True)
