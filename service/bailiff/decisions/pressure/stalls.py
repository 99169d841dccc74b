"""Signals of stalls and of swap, which no kubelet has.

Source: the kernel's PSI (Documentation/accounting/psi.rst), as the summary hands it on: PSIStats
and SwapStats in k8s.io/kubelet, pkg/apis/stats/v1alpha1/types.go (KEP-4205, KEP-2400).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from bailiff.decisions.pressure.extensions import StallWindow
from bailiff.decisions.pressure.observed import Observation, as_int64
from bailiff.decisions.pressure.signals import CPU, IO, MEMORY, Signal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bailiff.kinds.stats import (
        MemoryStats,
        NodeStats,
        PodStats,
        StallAverages,
        StallInformation,
        StallStats,
    )

# A stall is told in percent with two decimals: all of the time is so many hundredths of a percent.
ALL_OF_THE_TIME = 10_000


class _Stall(NamedTuple):
    resource: str
    some: Signal
    full: Signal


_STALLS = (
    _Stall(MEMORY, Signal.MEMORY_SOME, Signal.MEMORY_FULL),
    _Stall(IO, Signal.IO_SOME, Signal.IO_FULL),
    _Stall(CPU, Signal.CPU_SOME, Signal.CPU_FULL),
)
_FULL = frozenset(one.full for one in _STALLS)


def observe_extras(node: NodeStats, window: StallWindow) -> Iterator[Observation]:
    """What a summary says of swap and of stalls; what is missing is left out.

    Args:
        node: what was measured of it.
        window: over which stalls are averaged.
    """
    swap = node.swap
    if swap is not None and swap.swap_available_bytes is not None:
        left, used = swap.swap_available_bytes, swap.swap_usage_bytes or 0
        yield Observation(
            signal=Signal.SWAP_AVAILABLE,
            available=as_int64(left),
            capacity=as_int64(left + used),
            time=swap.time,
        )
    for stall in _STALLS:
        stats = _of(node, stall.resource)
        if stats is None or stats.psi is None:
            continue
        for signal in (stall.some, stall.full):
            left = ALL_OF_THE_TIME - stalled(stats.psi, signal, window)
            yield Observation(
                signal=signal, available=left, capacity=ALL_OF_THE_TIME, time=stats.time
            )


def stalled(psi: StallInformation | None, signal: Signal, window: StallWindow) -> int:
    """For how much of the time tasks waited, in hundredths of a percent, from 0 to 10,000.

    Args:
        psi: of a node or a pod; None: nothing was measured, which counts as 0.
        signal: some of the tasks, or all of them at once.
        window: over which it is averaged.
    """
    if psi is None:
        return 0
    average = _average(psi.full if signal in _FULL else psi.some, window)
    # Cut before it is rounded: a kubelet may tell numbers of which a hundredfold is infinite.
    return round(min(max(average, 0.0), 100.0) * 100)


def stall_of(pod: PodStats, signal: Signal, window: StallWindow) -> int:
    """The same of a pod, for the resource of a signal."""
    stats = _of(pod, signal.resource)
    return stalled(None if stats is None else stats.psi, signal, window)


def _of(measured: NodeStats | PodStats, resource: str) -> StallStats | MemoryStats | None:
    match resource:
        case "memory":
            return measured.memory
        case "io":
            return measured.io
        case _:
            return measured.cpu


def _average(averages: StallAverages, window: StallWindow) -> float:
    match window:
        case StallWindow.TEN_SECONDS:
            return averages.avg10
        case StallWindow.MINUTE:
            return averages.avg60
        case StallWindow.FIVE_MINUTES:
            return averages.avg300
