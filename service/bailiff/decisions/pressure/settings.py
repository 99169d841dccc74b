"""What a round goes by of a node's configuration, once that has been read."""

from __future__ import annotations

from bailiff.decisions.pressure.extensions import NO_EXTENSIONS, PressureExtensions
from bailiff.decisions.pressure.thresholds import Threshold
from bailiff.kinds.meta import Int64, Value

# Where nothing is configured (pkg/kubelet/apis/config/v1beta1/defaults.go).
FIVE_MINUTES = 300 * 10**9


class PressureSettings(Value, frozen=True):
    """What a round goes by.

    Attributes:
        thresholds: as they were set; those of containerfs are derived in each round.
        transition_period_nanoseconds: for so long a condition is reported after there was last
            reason for it.
        max_pod_grace_period_seconds: at most so long a pod may take for a soft threshold.
        local_storage_capacity_isolation: pods' own limits on the node's disk count.
        limits_sidecars: those of sidecars, too, as from Kubernetes 1.37 on.
        windows: memory is what may still be committed.
        extensions: what no kubelet does; their thresholds stand among the others.
        cool_down_nanoseconds: for so long after an eviction by rank there is no other.
    """

    thresholds: tuple[Threshold, ...] = ()
    transition_period_nanoseconds: Int64 = FIVE_MINUTES
    max_pod_grace_period_seconds: Int64 = 0
    local_storage_capacity_isolation: bool = True
    limits_sidecars: bool = False
    windows: bool = False
    extensions: PressureExtensions = NO_EXTENSIONS
    cool_down_nanoseconds: Int64 = 0
