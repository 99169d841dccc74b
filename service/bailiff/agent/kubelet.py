"""The kubelet of this node: its summary, its pods, its configuration."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

from bailiff.agent.reading import Reading, ReadingError
from bailiff.clock import SteadyTime
from bailiff.cluster.errors import ClusterError
from bailiff.cluster.kubelets.errors import KubeletError
from bailiff.cluster.kubelets.summaries import decode_configuration, decode_summary
from bailiff.cluster.listing import decode_page
from bailiff.cluster.request import Request
from bailiff.kinds import Pod
from bailiff.kinds.decode_errors import DecodeError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from datetime import datetime

    from bailiff.clock import Clock
    from bailiff.cluster.kubelets.summaries import MeasuredNode
    from bailiff.cluster.wire import Wire
    from bailiff.decisions.pressure.facts import FileSystemLayout
    from bailiff.kinds.kubelet_configuration import KubeletConfiguration
    from bailiff.kinds.stats import NodeStats, PodStats

# Seconds. A kubelet that is well answers within one; a round waits for no other.
_TIMEOUT = 5.0
# Seconds for which a clock that was set is one that was set lately; and a step that is none.
_SET_LATELY = 300.0
_RUNS_BESIDE = timedelta(seconds=1)
# It measures file systems every 10 s (cadvisor's housekeeping), so that what it says is up to so
# old, and as much again while it is busy.
_NEW_WITHIN = 60.0
_LOOK_EVERY = 1.0


class Kubelet:
    """What it answers; the errors are ReadingError."""

    def __init__(self, wire: Wire, node: str, clock: Clock) -> None:
        """Prepare.

        Args:
            wire: to it.
            node: the name of the node that it is to be the kubelet of.
            clock: what is newer than what.
        """
        self._wire = wire
        self._node = node
        self._clock = clock
        # By how much the wall clock is ahead of one that nobody sets, and when that has changed.
        self._steady = SteadyTime(clock)
        self._ahead = timedelta()
        self._set_at = float("-inf")

    async def measured(self) -> MeasuredNode:
        """Its summary; takes the right `get` on `nodes/stats`."""
        body = await self._get("/stats/summary")
        with _told():
            return decode_summary(body, self._node)

    async def read(self, pods: Sequence[Pod]) -> Reading:  # noqa: ARG002 - the port's
        """See Source."""
        self._note_clock()
        found = await self.measured()

        def of_pods() -> Sequence[PodStats]:
            with _told():
                return found.pods

        return Reading(found.node, of_pods)

    async def read_anew(self, pods: Sequence[Pod]) -> Reading:
        """See Source. Asked again until the file systems have been measured after now."""
        since = self._clock.now()
        until = self._clock.elapsed() + _NEW_WITHIN
        first = reading = await self.read(pods)
        while True:
            # Where a clock was set lately its times say nothing: it has to tell others.
            is_other = not self._was_set_lately or is_another(reading.node, first.node)
            if is_other and is_measured_after(reading.node, since):
                return reading
            if self._clock.elapsed() >= until:
                raise ReadingError("not_new", "nothing was measured since the node was freed")
            await asyncio.sleep(_LOOK_EVERY)
            reading = await self.read(pods)

    def _note_clock(self) -> None:
        ahead = self._clock.now() - self._steady.now()
        if abs(ahead - self._ahead) > _RUNS_BESIDE:
            self._set_at = self._clock.elapsed()
        self._ahead = ahead

    @property
    def _was_set_lately(self) -> bool:
        """Whether the wall clock was, as far as the last reading has noted."""
        return self._clock.elapsed() - self._set_at < _SET_LATELY

    @property
    def disks_lag(self) -> bool:
        """See Source: whoever waits asks for something new, see Departures."""
        return False

    def layout(self) -> FileSystemLayout | None:
        """See Source: a summary does not say."""
        return None

    def there(self, uids: Collection[str]) -> frozenset[str]:  # noqa: ARG002 - the port's
        """See Source: of none, as of `has_gone`."""
        return frozenset()

    def has_gone(self, uid: str) -> bool | None:  # noqa: ARG002 - the port's
        """See Source: its summary is up to ten seconds old."""
        return None

    async def pods(self) -> Sequence[Pod]:
        """The pods that it runs; takes the right `get` on `nodes/pods`."""
        body = await self._get("/pods")
        try:
            return decode_page(body, Pod).items
        except DecodeError as error:
            raise ReadingError("malformed", f"/pods is no list: {error.reason}") from error

    async def configuration(self) -> KubeletConfiguration:
        """Its own configuration; takes the right `get` on `nodes/configz`."""
        body = await self._get("/configz")
        with _told():
            return decode_configuration(body, self._node)

    async def _get(self, path: str) -> bytes:
        try:
            return await self._wire.send(Request("GET", path), _TIMEOUT)
        except ClusterError as error:
            raise ReadingError("kubelet", f"the kubelet: {error.message}") from error


def is_another(node: NodeStats, before: NodeStats) -> bool:
    """Whether each file system was measured at another time than before."""
    pairs = zip(_disk_times(node), _disk_times(before), strict=True)
    return all(time is None or time != last for time, last in pairs)


def is_measured_after(node: NodeStats, since: datetime) -> bool:
    """Whether the file systems were measured after this instant; no time counts as after.

    It tells times in whole seconds, cut off: one that is later is later in truth.
    """
    return all(time is None or time > since for time in _disk_times(node))


def _disk_times(node: NodeStats) -> tuple[datetime | None, datetime | None]:
    images = None if node.runtime is None else node.runtime.image_fs
    return (
        None if node.fs is None else node.fs.time,
        None if images is None else images.time,
    )


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except KubeletError as error:
        raise ReadingError(error.reason, error.message) from error
