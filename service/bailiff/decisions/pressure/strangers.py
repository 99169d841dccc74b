"""Pods that are measured on a node, and that the API does not tell of: nobody goes for them, yet.

No kubelet measures a pod that it does not know. Whoever looks from outside, or takes its pods from
the API, may: a watch may be behind, and will tell of the pod, which would go first; or it has told
that the pod is gone, and what that uses will be free soon.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from bailiff.decisions.pressure.signals import MEMORY
from bailiff.decisions.pressure.usage import memory_in_use

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from bailiff.decisions.pressure.extensions import MemoryInUse
    from bailiff.decisions.pressure.report import PressureReport
    from bailiff.kinds import Pod
    from bailiff.kinds.stats import PodReference, PodStats

# Seconds for which one is waited for, and all of them together until somebody goes: longer than a
# watch of pods may be dead unnoticed (ClusterSettings.watch_idle_timeout).
_WAITED_FOR = 120.0
# Bytes that are worth a wait: what is left of a pod's cgroup may hold some pages for ever.
_SMALLEST = 2**20
# Seconds after which one that nobody has asked about is one anew, and how many are kept.
_FORGOTTEN = 86400.0
_MOST_KEPT = 1024


class Stranger(NamedTuple):
    """One that uses more memory than somebody who is to go for it.

    Attributes:
        who: as it was measured; the name may be missing.
        used: bytes of memory.
    """

    who: PodReference
    used: int


def strangers(
    report: PressureReport,
    pods: Iterable[Pod],
    measured: Callable[[], Iterable[PodStats]],
    in_use: MemoryInUse,
) -> Iterator[Stranger]:
    """Those that use more memory than somebody who is to go for it.

    Args:
        report: of the round.
        pods: of the node, as the API tells.
        measured: tells what was measured of pods; asked only where somebody goes for memory.
        in_use: what counts as in use.
    """
    least = _least_used(report)
    if least is None:
        return
    uids, names = set[str](), set[tuple[str, str]]()
    for pod in pods:
        meta = pod.metadata
        uids |= {meta.uid, meta.uid_on_node}
        if meta.annotations.config_mirror is not None:
            # No other pod is known by its name, which its successor has as well.
            names.add((meta.namespace, meta.name))
    for one in measured():
        who = one.pod_ref
        if who.uid in uids or (who.namespace, who.name) in names:
            continue
        used = memory_in_use(one.memory, in_use) or 0
        if used > max(least, _SMALLEST):
            yield Stranger(who, used)


def _least_used(report: PressureReport) -> int | None:
    """By one of those who go for memory; None: nobody does."""
    if report.starved is None or report.starved.resource != MEMORY:
        return None
    going = {one.pod for one in report.victims}
    return min((one.used for one in report.candidates if one.pod in going), default=None)


class _Since(NamedTuple):
    """Since when, and when last, somebody has asked about it, by elapsed time."""

    first: float
    last: float


class Strangers:
    """For which of them nobody goes, and for how long."""

    def __init__(self) -> None:
        """None is known yet."""
        # By UID.
        self._known: dict[str, _Since] = {}
        # Since when nobody goes, round after round; None: somebody went, or nobody was to go.
        self._waits_since: float | None = None

    def __len__(self) -> int:
        return len(self._known)

    def waited_for(self, found: Iterable[Stranger], elapsed: float) -> Stranger | None:
        """One of them for which nobody goes yet, the largest; None: there is none.

        Args:
            found: in this round, as `strangers` has them.
            elapsed: seconds, by the clock's `elapsed`.
        """
        # A round in which nobody is to go does not ask for any.
        kept = {uid: one for uid, one in self._known.items() if elapsed - one.last < _FORGOTTEN}
        waits = None
        for one in found:
            uid = one.who.uid
            first = kept[uid].first if uid in kept else elapsed
            kept[uid] = _Since(first, elapsed)
            if elapsed - first < _WAITED_FOR and (waits is None or one.used > waits.used):
                waits = one
        self._known = dict(list(kept.items())[-_MOST_KEPT:])
        return self._unless_too_long(waits, elapsed)

    def _unless_too_long(self, waits: Stranger | None, elapsed: float) -> Stranger | None:
        """None as well where others have been waited for: pods that come and go keep nobody."""
        since = elapsed if self._waits_since is None else self._waits_since
        if waits is None or elapsed - since >= _WAITED_FOR:
            self._waits_since = None
            return None
        self._waits_since = since
        return waits


def describe(one: Stranger) -> str:
    """Why nobody goes, for people."""
    who = one.who
    name = f"{who.namespace}/{who.name}" if who.name else "pod"
    return (
        f"{name} ({who.uid}), which the API does not tell of, uses {one.used} bytes of memory: "
        "more than whoever is to go"
    )
