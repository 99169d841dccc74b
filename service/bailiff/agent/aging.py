"""What was measured long ago, each part of it for itself: nobody goes by it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from bailiff.agent.reading import Reading, ReadingError
from bailiff.decisions.pressure.signals import FILE_SYSTEMS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from datetime import datetime

    from bailiff.agent.reading import Source
    from bailiff.agent.standing import Standing
    from bailiff.clock import Clock
    from bailiff.decisions.pressure.facts import FileSystemLayout
    from bailiff.kinds import Pod
    from bailiff.kinds.stats import NodeStats, PodStats

# Seconds after which nobody goes by what was measured of a disk, though a kubelet may be slow.
_ACTS_WITHIN = 30.0
# Seconds after which a disk has been measured since somebody left, whatever the clocks say.
_LAGS_FOR = 60.0


class Aging:
    """A source that says what stands still in it; see Source.

    By our own time since it last moved, and not by the difference of two clocks. A disk that stands
    still keeps nobody who goes for memory, and the node's conditions stay as they were.
    """

    def __init__(
        self, source: Source, stale_after: float, standing: Standing, clock: Clock
    ) -> None:
        """Prepare.

        Args:
            source: measures.
            stale_after: seconds after which something that has not moved is old.
            standing: is told of disks.
            clock: counts the seconds.
        """
        self._source = source
        self._stale_after = stale_after
        self._acts_within = min(stale_after, _ACTS_WITHIN)
        self._standing = standing
        self._clock = clock
        # When somebody was last known to have left: by the wall clock, and by elapsed time. What an
        # agent of before has gone by is not known.
        self._left_at, self._left_since = clock.now(), clock.elapsed()
        # UIDs of pods that used something at the last look.
        self._there: frozenset[str] = frozenset()
        # When each part was measured, and since when we have known that, by elapsed time.
        self._seen: dict[str, tuple[datetime | None, float]] = {}

    async def read(self, pods: Sequence[Pod]) -> Reading:
        """See Source.

        Raises:
            ReadingError: nothing could be measured, or the memory is old.
        """
        self._look_who_left(pods)
        return self._with_old(await self._source.read(pods))

    async def read_anew(self, pods: Sequence[Pod]) -> Reading:
        """See Source.

        Raises:
            ReadingError: as of `read`.
        """
        self._look_who_left(pods)
        return self._with_old(await self._source.read_anew(pods))

    @property
    def disks_lag(self) -> bool:
        """See Source."""
        return self._source.disks_lag

    def layout(self) -> FileSystemLayout | None:
        """See Source."""
        return self._source.layout()

    def there(self, uids: Collection[str]) -> frozenset[str]:
        """See Source."""
        return self._source.there(uids)

    def has_gone(self, uid: str) -> bool | None:
        """See Source."""
        return self._source.has_gone(uid)

    def _with_old(self, reading: Reading) -> Reading:
        node = reading.node
        age = self._age("memory", None if node.memory is None else node.memory.time)
        if age > self._stale_after:
            raise ReadingError("stale", f"nothing new was measured for {age:.0f} s")
        ages = {which: self._age(which, at) for which, at in _disks(node)}
        old = {which: age for which, age in ages.items() if age > self._stale_after}
        told = (f"{which} stands still for {age:.0f} s" for which, age in old.items())
        self._standing.complain("disks", ", ".join(told))
        slow = {which for which, age in ages.items() if age > self._acts_within}
        aside = slow | self._of_before(node)
        signals = (one for which in aside for one in FILE_SYSTEMS[which])
        reading = reading._replace(aside=frozenset(signals))
        if not slow:
            return reading
        return reading._replace(pods=partial(_without_disks, reading.pods))

    def _look_who_left(self, pods: Sequence[Pod]) -> None:
        """By one measurement one pod goes: once somebody has left a disk is to be measured anew."""
        if not self._source.disks_lag:
            return
        there = self._source.there(self._there | {one.metadata.uid for one in pods})
        if self._there - there:
            self._left_at, self._left_since = self._clock.now(), self._clock.elapsed()
        self._there = there

    def _of_before(self, node: NodeStats) -> set[str]:
        """Disks that were measured before somebody left; for a minute, in case clocks were set."""
        elapsed = self._clock.elapsed() - self._left_since
        if not self._source.disks_lag or elapsed > _LAGS_FOR:
            return set()
        return {which for which, at in _disks(node) if at is not None and at <= self._left_at}

    def _age(self, part: str, measured: datetime | None) -> float:
        """Seconds since it last moved; what has no time is new each time."""
        elapsed = self._clock.elapsed()
        last, since = self._seen.get(part, (None, elapsed))
        if measured is None or measured != last:
            since = elapsed
        self._seen[part] = measured, since
        return elapsed - since


def _without_disks(pods: Callable[[], Sequence[PodStats]]) -> Sequence[PodStats]:
    """What is measured of pods, but for what they have on disks that stand still."""
    return tuple(
        replace(
            one,
            containers=tuple(replace(each, rootfs=None, logs=None) for each in one.containers),
            volume=(),
            ephemeral_storage=None,
        )
        for one in pods()
    )


def _disks(node: NodeStats) -> Iterator[tuple[str, datetime | None]]:
    """When each was measured."""
    runtime = node.runtime
    images = None if runtime is None else runtime.image_fs
    layers = None if runtime is None else runtime.container_fs
    for which, disk in (("nodefs", node.fs), ("imagefs", images), ("containerfs", layers)):
        yield which, None if disk is None else disk.time
