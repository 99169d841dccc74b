"""What was measured long ago counts as not measured, each part of it for itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from bailiff.agent.reading import Reading, ReadingError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from bailiff.agent.reading import Source
    from bailiff.agent.standing import Standing
    from bailiff.clock import Clock
    from bailiff.decisions.pressure.facts import FileSystemLayout
    from bailiff.kinds import Pod
    from bailiff.kinds.stats import NodeStats

_DISKS = "disks"


class Aging:
    """A source, without what stands still in it; see Source.

    By our own time since it last moved, and not by the difference of two clocks. A disk that is not
    measured any more keeps nobody who goes for memory.
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
        self._standing = standing
        self._clock = clock
        # When each part was measured, and since when we have known that, by elapsed time.
        self._seen: dict[str, tuple[datetime | None, float]] = {}

    async def read(self, pods: Sequence[Pod]) -> Reading:
        """See Source.

        Raises:
            ReadingError: nothing could be measured, or the memory is old.
        """
        return self._without_old(await self._source.read(pods))

    async def read_anew(self, pods: Sequence[Pod]) -> Reading:
        """See Source.

        Raises:
            ReadingError: as of `read`.
        """
        return self._without_old(await self._source.read_anew(pods))

    def layout(self) -> FileSystemLayout | None:
        """See Source."""
        return self._source.layout()

    def has_gone(self, uid: str) -> bool | None:
        """See Source."""
        return self._source.has_gone(uid)

    def _without_old(self, reading: Reading) -> Reading:
        node = reading.node
        age = self._age("memory", None if node.memory is None else node.memory.time)
        if age > self._stale_after:
            raise ReadingError("stale", f"nothing new was measured for {age:.0f} s")
        return reading._replace(node=self._without_old_disks(node))

    def _without_old_disks(self, node: NodeStats) -> NodeStats:
        images = None if node.runtime is None else node.runtime.image_fs
        ages = {
            "nodefs": self._age("nodefs", None if node.fs is None else node.fs.time),
            "imagefs": self._age("imagefs", None if images is None else images.time),
        }
        old = {which: age for which, age in ages.items() if age > self._stale_after}
        told = (f"{which} stands still for {age:.0f} s" for which, age in old.items())
        self._standing.complain(_DISKS, ", ".join(told))
        if "nodefs" in old:
            node = replace(node, fs=None)
        return replace(node, runtime=None) if "imagefs" in old else node

    def _age(self, part: str, measured: datetime | None) -> float:
        """Seconds since it last moved; what has no time is new each time."""
        elapsed = self._clock.elapsed()
        last, since = self._seen.get(part, (None, elapsed))
        if measured is None or measured != last:
            since = elapsed
        self._seen[part] = measured, since
        return elapsed - since
