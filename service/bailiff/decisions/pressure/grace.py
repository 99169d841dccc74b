"""How long a pod that goes for pressure may take to end by itself.

Source: synchronize and immediateEvictionGracePeriodSeconds in
pkg/kubelet/eviction/eviction_manager.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bailiff.decisions.pressure.thresholds import Threshold
    from bailiff.kinds import Pod

# The least that a kubelet gives (pkg/kubelet/kubelet_pods.go), and what it gives where time is
# short. A DELETE with 0 is force deletion: the object would go while its containers still run.
LEAST_SECONDS = 1
# For so long a pod that was evicted is waited for after its time to end, so that nobody else goes
# for what is about to be free (podCleanupTimeout).
CLEAN_UP_SECONDS = 30.0
# Of a grace period so much is waited for at most, whatever a pod was given.
_LONGEST_GRACE = 3600.0


def grace_period_seconds(pod: Pod, threshold: Threshold, most: int) -> int:
    """Of a pod that goes for a threshold.

    Args:
        pod: that goes.
        threshold: hard: as little as there is; soft: what the pod asks for.
        most: evictionMaxPodGracePeriod, for soft ones; it may be 0 or negative.
    """
    if threshold.is_hard:
        return LEAST_SECONDS
    own = pod.spec.termination_grace_period_seconds
    return max(LEAST_SECONDS, most if own is None else min(most, own))


def leaves_within(grace_period_seconds: float) -> float:
    """Seconds for which one that was evicted is waited for, by what it was given to end."""
    return min(max(grace_period_seconds, 0.0), _LONGEST_GRACE) + CLEAN_UP_SECONDS
