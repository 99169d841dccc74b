"""What no kubelet does, each a setting that is off by default; see docs/pressure/extensions.md.

Koordinator, Katalyst and Crane have some of it, under names and defaults of their own.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from msgspec import Meta, field

from bailiff.decisions.pressure.signals import Signal
from bailiff.kinds.kubelet_configuration import Statements
from bailiff.kinds.meta import Time, Value
from bailiff.kinds.stats import Count

_Signals = Annotated[tuple[Signal, ...], Meta(max_length=32)]


class MemoryInUse(StrEnum):
    """What counts as memory in use, of a node and of its pods.

    WORKING_SET: what the kubelet counts: page cache that was used lately is in use.
    RSS: anonymous memory alone: all page cache counts as free, and so do tmpfs and what the kernel
    keeps for itself, which nobody can free.
    MEM_AVAILABLE: of the node what its kernel estimates (MemAvailable in /proc/meminfo), which
    whoever asks has to tell; of pods RSS, since a kernel estimates nothing of them.
    """

    WORKING_SET = "WorkingSet"
    RSS = "RSS"
    MEM_AVAILABLE = "MemAvailable"


class MemoryAvailable(Value, frozen=True, forbid_unknown_fields=True):
    """What a node's kernel estimates to be available, see MemAvailable in proc(5).

    Attributes:
        available_bytes: which is told in kB in /proc/meminfo.
        time: when it was read; absent: it counts as new.
    """

    available_bytes: Count
    time: Time | None = None


class StallWindow(StrEnum):
    """Over which time a stall is averaged."""

    TEN_SECONDS = "10s"
    MINUTE = "60s"
    FIVE_MINUTES = "300s"


class ReleaseTarget(Value, frozen=True, forbid_unknown_fields=True):
    """Evict what has to be freed, in place of one pod a round.

    Attributes:
        at_most: so many pods in a round, from 1 to 100.
    """

    at_most: Annotated[int, Meta(ge=1, le=100)] = 10


class PressureExtensions(Value, frozen=True, forbid_unknown_fields=True):
    """Settings that no kubelet has.

    Attributes:
        eviction_hard: amounts of signals that no kubelet has, beyond which pods go at once:
            `swap.available` as a quantity or percentage; `memory.psi.some`, `memory.psi.full` and
            those of `io` and `cpu` as the percentage of the time for which tasks may wait.
        eviction_soft: the same, beyond which pods go after a grace period.
        eviction_soft_grace_period: for how long a soft threshold has to be met, by signal.
        stall_window: over which time stalls are averaged.
        dry_run_hard: signals whose hard thresholds only tell who would go. That of
            `memory.available` speaks for `allocatableMemory.available`, too.
        dry_run_soft: signals whose soft thresholds only tell who would go.
        stop_at: by signal, what has to be available until nobody goes any more, once somebody has;
            of a stall the percentage of the time. As evictionMinimumReclaim, but the whole amount.
        release_target: evict what has to be freed; absent: one pod a round.
        cool_down: for so long after an eviction by rank nobody else goes by rank, as `30s`.
        order_among_equals: pods that say so by the annotation `bailiff.dev/evict-among-equals` go
            `first` or `last` of those that are equal by all but what they use.
        memory_in_use: `WorkingSet`, `RSS` or `MemAvailable`.
        subtract_huge_pages: memory that the node has set aside for huge pages is not available.
            From 1.37 on the kubelet takes it off itself, and it is not taken off again.
    """

    eviction_hard: Statements = field(default_factory=dict)
    eviction_soft: Statements = field(default_factory=dict)
    eviction_soft_grace_period: Statements = field(default_factory=dict)
    stall_window: StallWindow = StallWindow.TEN_SECONDS
    dry_run_hard: _Signals = ()
    dry_run_soft: _Signals = ()
    stop_at: Statements = field(default_factory=dict)
    release_target: ReleaseTarget | None = None
    cool_down: Annotated[str, Meta(max_length=64)] | None = None
    order_among_equals: bool = False
    memory_in_use: MemoryInUse = MemoryInUse.WORKING_SET
    subtract_huge_pages: bool = False


NO_EXTENSIONS = PressureExtensions()
