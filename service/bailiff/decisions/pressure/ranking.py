"""Who goes first where a signal is low: one key for each pod, and which part of it decided.

Source: rankMemoryPressure, rankPIDPressure and rankDiskPressureFunc in
pkg/kubelet/eviction/helpers.go. Upstream compares pods two by two; each of its comparisons is that
of one part of the key here, in the same order, so the two orders are the same.
"""

from __future__ import annotations

from enum import StrEnum
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from bailiff.decisions.criticality import is_critical
from bailiff.decisions.decision import ObjectReference, reference_to
from bailiff.decisions.pressure.allocation import as_allocated
from bailiff.decisions.pressure.extensions import NO_EXTENSIONS, PressureExtensions
from bailiff.decisions.pressure.requests import request_of
from bailiff.decisions.pressure.signals import (
    CPU,
    EPHEMERAL_STORAGE,
    INODES,
    MEMORY,
    PIDS,
    Signal,
)
from bailiff.decisions.pressure.usage import used_by
from bailiff.kinds.meta import INT64_MAX, INT64_MIN, Int32, Int64, Value
from bailiff.kinds.quantity import NANO

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bailiff.decisions.pressure.layout import Layout
    from bailiff.kinds import Pod
    from bailiff.kinds.stats import PodStats


class RankKey(StrEnum):
    """The part of the key by which a pod goes before the next."""

    NO_STATS = "NoStats"
    EXCEEDS_REQUEST = "ExceedsRequest"
    PRIORITY = "Priority"
    ORDER = "Order"
    USAGE = "Usage"
    TIE = "Tie"
    LAST = "Last"


class Candidate(Value, frozen=True):
    """A pod that may go, and by what it was ranked.

    Attributes:
        pod: whom it concerns.
        decided_by: the part of the key by which it goes before the next one: `NoStats`,
            `ExceedsRequest`, `Priority`, `Order`, which pods say themselves where that is to
            count, `Usage`; `Tie`: they are equal, and stand as they were told;
            `Last`: there is none after it.
        measured: there are stats of it; pods without go first.
        exceeds_request: it uses more than it has asked for; of processes nobody asks.
        priority: the lower goes first.
        used: what counts of it for the signal, in bytes, inodes or processes; of CPU in billionths
            of one, of the stalls of input and output in hundredths of a percent of the time.
        requested: what it has asked for; of inodes bytes of ephemeral-storage, as upstream has it.
        critical: it never goes for pressure, whatever its place.
    """

    pod: ObjectReference
    decided_by: RankKey
    measured: bool = False
    exceeds_request: bool = False
    priority: Int32 = 0
    used: Int64 = 0
    requested: Int64 = 0
    critical: bool = False


class Ranking(NamedTuple):
    """Pods in the order in which they go.

    Attributes:
        pods: the first to go first, each with the resources that it has been granted.
        candidates: the same, in the same order, with what they were ranked by.
    """

    pods: tuple[Pod, ...]
    candidates: tuple[Candidate, ...]


# Parts of a key, each smaller the sooner the pod goes, as many as _parts says.
_Key = tuple[int, ...]


class _Ranked(NamedTuple):
    key: _Key
    pod: Pod
    used: int
    requested: int
    exceeds: bool


_MEMORY_OR_DISK = (
    RankKey.NO_STATS,
    RankKey.EXCEEDS_REQUEST,
    RankKey.PRIORITY,
    RankKey.ORDER,
    RankKey.USAGE,
)
_PROCESSES = (RankKey.PRIORITY, RankKey.NO_STATS, RankKey.ORDER, RankKey.USAGE)
# What a pod may say of itself, see extensions.py.
_SAYS = {"first": -1, "last": 1}
# Of these a pod asks for an amount; of what it uses of the others all is more than it asked for.
_ASKED_FOR = frozenset({MEMORY, EPHEMERAL_STORAGE, INODES, CPU})


def rank(
    signal: Signal,
    layout: Layout,
    pods: Sequence[Pod],
    stats: Mapping[str, PodStats],
    extensions: PressureExtensions = NO_EXTENSIONS,
) -> Ranking:
    """Rank pods for a signal that is low; pods that are equal stay as they stand.

    What has been granted is looked up here, since a round in which nothing is low ranks nobody.

    Args:
        signal: which.
        layout: of the node's file systems.
        pods: that are on the node.
        stats: what was measured of them, by UID.
        extensions: what counts as in use, and whether pods may say who goes first among equals.
    """
    parts = _PROCESSES if signal.resource == PIDS else _MEMORY_OR_DISK
    granted = map(as_allocated, pods)
    found = [
        _ranked(one, stats.get(one.metadata.uid), signal, layout, extensions) for one in granted
    ]
    found.sort(key=_key)
    candidates = (
        _candidate(one, after, parts, measured=one.pod.metadata.uid in stats)
        for one, after in zip_longest(found, found[1:])
    )
    return Ranking(tuple(one.pod for one in found), tuple(candidates))


def _key(one: _Ranked) -> _Key:
    return one.key


def _ranked(
    pod: Pod,
    stats: PodStats | None,
    signal: Signal,
    layout: Layout,
    extensions: PressureExtensions,
) -> _Ranked:
    priority = pod.spec.priority
    says = 0
    if extensions.order_among_equals:
        says = _SAYS.get(pod.metadata.annotations.evict_among_equals, 0)
    used = 0 if stats is None else used_by(pod, stats, signal, layout, extensions)
    if signal.resource == PIDS:
        key: _Key = (priority, stats is not None, says, -used)
        return _Ranked(key, pod, used, 0, exceeds=False)
    if stats is None:
        return _Ranked((False, False, priority, says, 0), pod, 0, 0, exceeds=False)
    own, taken_off = _requests(pod, signal.resource)
    exceeds = used * NANO > own
    key = (True, not exceeds, priority, says, taken_off - used * NANO)
    return _Ranked(key, pod, used, -(-taken_off // NANO), exceeds)


def _requests(pod: Pod, resource: str) -> tuple[int, int]:
    """What a pod has asked for, and what is taken off its usage for that, in nanos of the unit."""
    if resource not in _ASKED_FOR:
        return 0, 0
    own = request_of(pod, resource)
    if resource == CPU:
        # A summary tells billionths of a CPU, so that is the unit here.
        own *= NANO
    # Upstream takes bytes of disk off a count of inodes, too: of those nobody can ask.
    return own, request_of(pod, EPHEMERAL_STORAGE) if resource == INODES else own


def _candidate(
    one: _Ranked, after: _Ranked | None, parts: Sequence[RankKey], *, measured: bool
) -> Candidate:
    decided = RankKey.LAST if after is None else RankKey.TIE
    for name, mine, others in zip(parts, one.key, after.key if after else (), strict=False):
        if mine != others:
            decided = name
            break
    return Candidate(
        pod=reference_to(one.pod),
        decided_by=decided,
        measured=measured,
        exceeds_request=one.exceeds,
        priority=one.pod.spec.priority,
        used=_told(one.used),
        requested=_told(one.requested),
        critical=is_critical(one.pod),
    )


def _told(number: int) -> int:
    """Beyond what an answer holds, as two parts that are summed may be: the most that it holds."""
    return max(INT64_MIN, min(number, INT64_MAX))
