"""What pods' local volumes take: walked through now and then, apart from all other readings.

Source: volumeStatCalculator in pkg/kubelet/server/stats, which goes through them every
`volumeStatsAggPeriod`, and metricsDu in pkg/volume. Where the kubelet has set project quotas for
volumes it asks the file system instead (fsquota); that is not done here.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import asdict

from bailiff.agent.readings.disk_usage import BOUNDS, Bounds, Walk, never
from bailiff.agent.readings.file_systems import file_system, taken
from bailiff.agent.readings.volumes import Volume, find_volumes
from bailiff.kinds.stats import VolumeStats

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from datetime import datetime

# Seconds after which a volume may be measured again. Whoever goes on with it once a minute, as the
# kubelet by default (volumeStatsAggPeriod), does so a little earlier or later.
_PERIOD = 50.0
# Seconds in which most volumes are measured; larger ones are, one at a time, in what time is left.
_SLICE = 0.2


class VolumeUse(NamedTuple):
    """What was measured of one.

    Attributes:
        stats: as a summary tells it; numbers are None where it could not be measured in full.
        on_disk: it is on the file system of the kubelet's folder, and not in memory.
    """

    stats: VolumeStats
    on_disk: bool


class PodVolumes(NamedTuple):
    """What was measured of those of a pod.

    Attributes:
        names: of all that it has.
        uses: by name, of those that have been measured.
    """

    names: frozenset[str]
    uses: Mapping[str, VolumeUse]

    @property
    def is_complete(self) -> bool:
        """Whether all of them have been measured in full."""
        used = (self.uses[name].stats.used_bytes for name in self.names if name in self.uses)
        return len(self.uses) == len(self.names) and None not in used


_NONE_YET = PodVolumes(frozenset(), {})


class VolumeUses:
    """Of all pods of a node. `measure` may run in another thread than `of`."""

    def __init__(
        self, pods: str, bounds: Bounds = BOUNDS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Nothing was measured yet.

        Args:
            pods: the kubelet's folder of pods, as this process sees it.
            bounds: of one volume.
            clock: in seconds, never stepped.
        """
        self._pods = pods
        self._bounds = bounds
        self._clock = clock
        # An entry is replaced, never changed, since another thread may read it.
        self._of: dict[str, PodVolumes] = {}
        self._measured: dict[str, float] = {}
        # Those that took longer than a slice, by their paths; the walk is that of the first.
        self._large: dict[str, Volume] = {}
        self._walk: Walk | None = None

    def of(self, uid: str) -> PodVolumes | None:
        """What was measured of a pod's volumes; None: which it has is not known."""
        return self._of.get(uid)

    def are_there(self, uid: str) -> bool:
        """Whether a pod has any, as they lie there now."""
        return bool(find_volumes(self._pods, uid))

    def measure(
        self,
        uids: Collection[str],
        seconds: float,
        now: datetime,
        stopped: Callable[[], bool] = never,
    ) -> None:
        """Go on measuring for a while.

        The volume that was measured the longest time ago is next. One that does not fit in a slice
        goes on in the next calls, of whose time large ones have half, and what is left.

        Args:
            uids: of the pods that there are; all others are forgotten.
            seconds: that this may take; a folder with very many files takes some more.
            now: for what is measured.
            stopped: asked now and then; once it says so nothing more is measured.
        """
        end = self._clock() + seconds
        volumes = self._look(uids)
        self._go_on(end - seconds / 2, now, stopped)
        for volume in self._due(volumes):
            if self._clock() >= end or stopped():
                return
            self._begin(volume, end, now, stopped)
        while self._large and self._clock() < end and not stopped():
            self._go_on(end, now, stopped)

    def _look(self, uids: Collection[str]) -> list[Volume]:
        """All volumes that there are. What is known of others is forgotten."""
        found: list[Volume] = []
        for uid in uids:
            volumes = find_volumes(self._pods, uid)
            if volumes is None:
                self._of.pop(uid, None)
                continue
            found += volumes
            names = frozenset(one.name for one in volumes)
            uses = self._of.get(uid, _NONE_YET).uses
            left = {name: use for name, use in uses.items() if name in names}
            self._of[uid] = PodVolumes(names, left)
        self._forget(set(uids), {one.path for one in found})
        return found

    def _forget(self, uids: set[str], paths: set[str]) -> None:
        for uid in self._of.keys() - uids:
            del self._of[uid]
        self._measured = {path: at for path, at in self._measured.items() if path in paths}
        first = next(iter(self._large), None)
        self._large = {path: one for path, one in self._large.items() if path in paths}
        if first not in self._large:
            self._walk = None

    def _due(self, volumes: Sequence[Volume]) -> list[Volume]:
        before, last = self._clock() - _PERIOD, self._measured
        due = [
            one
            for one in volumes
            if one.path not in self._large and last.get(one.path, before) <= before
        ]
        return sorted(due, key=lambda one: last.get(one.path, -1.0))

    def _begin(
        self, volume: Volume, end: float, now: datetime, stopped: Callable[[], bool]
    ) -> None:
        walk = Walk(volume.path, self._bounds, self._clock)
        if walk.go_on(min(end, self._clock() + _SLICE), stopped):
            self._keep(volume, walk, now, stopped)
            return
        if not self._large:
            self._walk = walk
        self._large[volume.path] = volume

    def _go_on(self, until: float, now: datetime, stopped: Callable[[], bool]) -> None:
        volume = next(iter(self._large.values()), None)
        if volume is None:
            return
        walk = self._walk or Walk(volume.path, self._bounds, self._clock)
        self._walk = walk
        if walk.go_on(until, stopped):
            del self._large[volume.path]
            self._walk = None
            self._keep(volume, walk, now, stopped)

    def _keep(self, volume: Volume, walk: Walk, now: datetime, stopped: Callable[[], bool]) -> None:
        if stopped():
            return
        self._measured[volume.path] = self._clock()
        counted = taken(file_system(volume.path, now), walk.usage, now)
        stats = VolumeStats(name=volume.name, **asdict(counted))
        use = VolumeUse(stats, on_disk=walk.device in (None, volume.parent))
        of_pod = self._of[volume.uid]
        self._of[volume.uid] = of_pod._replace(uses={**of_pod.uses, volume.name: use})
