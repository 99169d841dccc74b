"""The thresholds of the file system of writable layers (containerfs), which nobody can set.

Source: UpdateContainerFsThresholds in pkg/kubelet/eviction/helpers.go (KEP-4191).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from bailiff.decisions.pressure.layout import Layout
from bailiff.decisions.pressure.signals import Signal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bailiff.decisions.pressure.thresholds import Threshold

# A signal of containerfs and its like of the two file systems that it may be on.
_LIKE = {
    Signal.CONTAINERFS_AVAILABLE: (Signal.NODEFS_AVAILABLE, Signal.IMAGEFS_AVAILABLE),
    Signal.CONTAINERFS_INODES_FREE: (Signal.NODEFS_INODES_FREE, Signal.IMAGEFS_INODES_FREE),
}


def with_container_fs(
    thresholds: Sequence[Threshold], layout: Layout, *, first_round: bool
) -> tuple[Threshold, ...]:
    """The thresholds that count: those of containerfs are those of the file system that it is on.

    What is set for containerfs is replaced, or, where the other has no threshold, without effect.

    Args:
        thresholds: as they were set.
        layout: where writable layers are kept.
        first_round: upstream adds what nobody has set from its second round on only.
    """
    if layout is Layout.STRAY:
        return tuple(thresholds)
    own = [one for one in thresholds if one.signal not in _LIKE]
    derived = [
        one
        for signal in _LIKE
        for hard in (True, False)
        if (one := _derived(signal, thresholds, layout, hard=hard)) is not None
    ]
    if first_round:
        was_set = {(one.signal, one.is_hard) for one in thresholds}
        derived = [one for one in derived if (one.signal, one.is_hard) in was_set]
    return (*own, *derived)


def _derived(
    signal: Signal, thresholds: Sequence[Threshold], layout: Layout, *, hard: bool
) -> Threshold | None:
    like = _LIKE[signal][layout is Layout.DEDICATED]
    # The last one counts: a soft threshold without a grace period is hard, and stands after those.
    found = [one for one in thresholds if one.signal is like and one.is_hard is hard]
    return replace(found[-1], signal=signal) if found else None
