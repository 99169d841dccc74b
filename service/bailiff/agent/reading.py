"""What was measured for a round, whoever has measured it: the port."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from bailiff.decisions.pressure.extensions import MemoryAvailable
    from bailiff.decisions.pressure.facts import FileSystemLayout
    from bailiff.decisions.pressure.layout import ReclaimStep
    from bailiff.decisions.pressure.signals import Signal
    from bailiff.kinds import Pod
    from bailiff.kinds.stats import NodeStats, PodStats


class ReadingError(Exception):
    """Nothing was measured.

    Attributes:
        reason: in one word, for metrics.
        message: what happened, for people.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


class Reading(NamedTuple):
    """What was measured.

    Attributes:
        node: of the node as a whole.
        pods: tells what was measured of its pods, where somebody needs that; raises ReadingError.
        mem_available: what the kernel estimates; None: it was not asked.
        without_huge_pages: what is set aside for huge pages has been taken off already.
        aside: signals for which nobody goes by it, as of disks that stand still.
    """

    node: NodeStats
    pods: Callable[[], Sequence[PodStats]]
    mem_available: MemoryAvailable | None = None
    without_huge_pages: bool = False
    aside: frozenset[Signal] = frozenset()


class Source(Protocol):
    """Who measures the node."""

    async def read(self, pods: Sequence[Pod]) -> Reading:
        """What is measured now; `pods` are those of the node.

        Raises:
            ReadingError: nothing could be.
        """
        ...

    async def read_anew(self, pods: Sequence[Pod]) -> Reading:
        """What is measured after this was asked, the file systems included.

        Raises:
            ReadingError: nothing could be, or nothing new within a minute.
        """
        ...

    @property
    def disks_lag(self) -> bool:
        """What it says of disks may be of before a pod left that has left."""
        ...

    def layout(self) -> FileSystemLayout | None:
        """Which file systems are one; None: that is to be derived from what was measured."""
        ...

    def there(self, uids: Collection[str]) -> frozenset[str]:
        """Those of these pods that use something yet, as far as is known here."""
        ...

    def has_gone(self, uid: str) -> bool | None:
        """Whether a pod that was there uses nothing any more; None: that is not known here."""
        ...


class Reclaimer(Protocol):
    """Who frees the node before a pod goes."""

    async def free(self, steps: Sequence[ReclaimStep]) -> None:
        """Do these steps, in this order, within two minutes; what fails of them is left.

        Raises:
            ReadingError: what there is to free is not known, so that nobody is to go for it.
        """
        ...
