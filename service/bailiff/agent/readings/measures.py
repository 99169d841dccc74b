"""What was read of a cgroup as the parts of a summary; None where nothing of a part was measured.

Source: cadvisorInfoToCPUandMemoryStats and its neighbours in pkg/kubelet/stats/helper.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.agent.readings.cgroup import NO_LIMIT, UNKNOWN, left
from bailiff.kinds.stats import CpuStats, MemoryStats, StallStats, SwapStats

if TYPE_CHECKING:
    from datetime import datetime

    from bailiff.agent.readings.cgroup import MemoryUse
    from bailiff.kinds.stats import StallInformation


def memory_stats(
    use: MemoryUse, limit: int | None, psi: StallInformation | None, now: datetime
) -> MemoryStats | None:
    """Memory.

    Args:
        use: of the cgroup.
        limit: what it may use, in bytes; without one nothing is called available.
        psi: how long its tasks waited for memory.
        now: when.
    """
    if use == UNKNOWN:
        return None
    available = left(limit, use.working_set)
    return MemoryStats(
        time=now,
        available_bytes=None if available == NO_LIMIT else available,
        usage_bytes=use.usage,
        working_set_bytes=use.working_set,
        rss_bytes=use.rss,
        psi=psi,
    )


def cpu_stats(rate: int | None, psi: StallInformation | None, now: datetime) -> CpuStats | None:
    """The CPU: how much is in use, in billionths of one, and how long tasks waited for it."""
    if rate is None and psi is None:
        return None
    return CpuStats(time=now, usage_nano_cores=rate, psi=psi)


def io_stats(psi: StallInformation | None, now: datetime) -> StallStats | None:
    """Input and output: how long tasks waited for it."""
    return None if psi is None else StallStats(time=now, psi=psi)


def swap_stats(used: int | None, available: int | None, now: datetime) -> SwapStats | None:
    """Swap, in bytes."""
    if used is None:
        return None
    return SwapStats(time=now, swap_usage_bytes=used, swap_available_bytes=available)
