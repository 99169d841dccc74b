"""Which slice is to be held to account for an eviction, where policies bound what slices evict."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from bailiff.decisions.device_taints.findings import PodEviction
    from bailiff.kinds import ResourceSlice


def blamed_slice(
    eviction: PodEviction, slices: Mapping[str, ResourceSlice], node: str, now: datetime
) -> ResourceSlice | None:
    """The slice for whose taint a pod goes; None: no slice's, or an administrator's rule too.

    Of those whose taints are due, one that is of the pod's own node, or of none, comes before one
    of another node: who publishes a slice for another node's pool neither evicts by that alone,
    nor holds up what is due anyway. Otherwise it is the one that was due first.

    Args:
        eviction: why the pod goes.
        slices: by name.
        node: where the pod runs.
        now: the instant to decide for; what is due later is nobody's doing yet.
    """
    due = eviction.due_by(now)
    if any(cause.source.device_taint_rule is not None for cause in due):
        return None
    names = (cause.source.resource_slice for cause in due)
    found = [slices.get(one.name) for one in names if one is not None]
    present = [one for one in found if one is not None]
    own = (one for one in present if one.spec.node_name in ("", node))
    return next(own, present[0] if present else None)
