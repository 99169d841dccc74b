"""Step 9 of a round: pods that are over a limit of their own on the node's disk go, all of them.

Source: localStorageEviction in pkg/kubelet/eviction/eviction_manager.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.decisions.criticality import is_critical
from bailiff.decisions.pressure.choosing import Victim
from bailiff.decisions.pressure.local_storage import excess, has_storage_limit
from bailiff.decisions.pressure.messages import Told

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bailiff.decisions.pressure.layout import Layout
    from bailiff.decisions.pressure.settings import PressureSettings
    from bailiff.kinds import Pod
    from bailiff.kinds.stats import PodStats


def with_limits(pods: Iterable[Pod], settings: PressureSettings) -> list[Pod]:
    """Pods that have limits of their own, where those count."""
    if not settings.local_storage_capacity_isolation:
        return []
    return [pod for pod in pods if has_storage_limit(pod)]


def over_their_limits(
    limited: Iterable[Pod],
    stats: Mapping[str, PodStats],
    settings: PressureSettings,
    layout: Layout,
) -> tuple[Victim, ...]:
    """Those that use more; nobody who is critical.

    Args:
        limited: that have limits.
        stats: what was measured of the pods, by UID; of whom nothing was stays.
        settings: whether limits of sidecars count.
        layout: of the node's file systems, which says what counts.
    """
    found = []
    for pod in limited:
        measured = stats.get(pod.metadata.uid)
        if measured is None:
            continue
        over = excess(
            pod,
            measured,
            dedicated_image_fs=layout.has_dedicated_image_fs,
            limits_sidecars=settings.limits_sidecars,
        )
        if over is not None and not is_critical(pod):
            told = Told(over.message)
            found.append(Victim(pod, over.limit, 1, told, disrupts=False))
    return tuple(found)
