"""When a kubelet looks at memory before its next round is due.

Source: linuxMemoryThresholdNotifier and windowsMemoryThresholdNotifier in pkg/kubelet/eviction. On
Linux the kernel tells when the memory in use crosses a mark, with cgroups v1 alone; on Windows the
kubelet looks every 10 s at what may still be committed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.decisions.pressure.observations import memory_measured
from bailiff.decisions.pressure.observed import as_int64
from bailiff.decisions.pressure.signals import MEMORY_SIGNALS, Signal
from bailiff.kinds.quantity import NANO

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bailiff.decisions.pressure.thresholds import Threshold
    from bailiff.kinds.stats import NodeStats

# Bytes by which further marks follow one that evicts. What the kernel counts lags behind what is in
# use, by 256 KiB for each processor in the one number and by as much as came within two seconds in
# the other (memcg_stock and flush_memcg_stats_ratelimited in mm/memcontrol.c): a mark may be told
# of while there is no reason for a round yet, and then nobody would look again for ten seconds.
_FURTHER = tuple(step << 20 for step in (0, 1, 4, 16, 64, 256))
# Seconds: how often the mark is set anew on Linux, and how often is looked on Windows.
REFRESH_SECONDS = 10


def usage_mark(threshold: Threshold, node: NodeStats) -> int | None:
    """The bytes in use, page cache included, at which the kernel is to tell (UpdateThreshold).

    The kernel counts page cache that it may drop at once, the working set does not: so that comes
    on top of what may be in use.

    Args:
        threshold: of `memory.available` or `allocatableMemory.available`.
        node: what was measured of it.

    Returns:
        None where something of it was not measured: then the last mark stays.
    """
    memory = memory_measured(threshold.signal, node)
    if memory is None:
        return None
    left, used, usage = memory.available_bytes, memory.working_set_bytes, memory.usage_bytes
    if left is None or used is None or usage is None:
        return None
    capacity = as_int64(left + used)
    # Quantities are whole here: a threshold's part of a byte rounds what is left of them up.
    mark = (capacity + as_int64(usage - used)) * NANO - threshold.amount(capacity)
    return -(-mark // NANO)


def usage_marks(thresholds: Iterable[Threshold], node: NodeStats) -> dict[Signal, tuple[int, ...]]:
    """The marks that are still to be reached, by signal of memory, in rising order.

    A mark that has been passed tells of nothing but that memory has become free. Each is followed
    by some that are a little further on. A signal of which nothing was measured, or that has no
    threshold that evicts, is left out.

    Args:
        thresholds: all that are set.
        node: what was measured of it.
    """
    found: dict[Signal, set[int]] = {}
    for one in thresholds:
        if one.signal not in MEMORY_SIGNALS or one.dry_run:
            continue
        mark, memory = usage_mark(one, node), memory_measured(one.signal, node)
        if mark is None or memory is None or memory.usage_bytes is None:
            continue
        marks = found.setdefault(one.signal, set())
        marks |= {mark + step for step in _FURTHER if mark + step > memory.usage_bytes}
    return {signal: tuple(sorted(marks)) for signal, marks in found.items()}


def marks_for_pods(marks: Mapping[Signal, tuple[int, ...]], node: NodeStats) -> tuple[int, ...]:
    """The same as marks in what all pods together use, where the node's own cgroup has none.

    So it is with the root of cgroup v2. What runs beside the pods is taken to stay as it is until
    the marks are set anew.

    Args:
        marks: as of `usage_marks`.
        node: what was measured of it.
    """
    pods = memory_measured(Signal.ALLOCATABLE_MEMORY_AVAILABLE, node)
    found = set(marks.get(Signal.ALLOCATABLE_MEMORY_AVAILABLE, ()))
    whole = node.memory
    if pods is None or whole is None or pods.usage_bytes is None or whole.usage_bytes is None:
        return tuple(sorted(found))
    beside = whole.usage_bytes - pods.usage_bytes
    found |= {one - beside for one in marks.get(Signal.MEMORY_AVAILABLE, ())}
    return tuple(sorted(one for one in found if one > pods.usage_bytes))


def commit_is_low(threshold: Threshold, commit_limit: int, commit_total: int) -> bool:
    """Whether a Windows node is to be looked at now (checkMemoryUsage).

    Met at the threshold itself, too, where a round is met below it: to look once too often costs
    a look.

    Args:
        threshold: of memory.
        commit_limit: bytes that may be committed in all.
        commit_total: bytes that are.
    """
    amount = threshold.amount(as_int64(commit_limit))
    return (commit_limit - commit_total) * NANO <= -(-amount // NANO) * NANO
