"""Pods that a kubelet measures, and of which the API does not tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.decisions.pressure.signals import MEMORY
from bailiff.decisions.pressure.usage import memory_in_use

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bailiff.cluster.kubelets import MeasuredNode
    from bailiff.decisions.pressure.extensions import MemoryInUse
    from bailiff.decisions.pressure.report import PressureReport
    from bailiff.kinds import Pod


def strangers(
    report: PressureReport,
    pods: Iterable[Pod],
    measured: MeasuredNode,
    in_use: MemoryInUse,
) -> Iterator[str]:
    """UIDs of those that use more memory than somebody who is to go for it.

    The watch of pods may be behind. Then it will tell of the pod, which would go first; or it has
    told that the pod is gone, and what that uses will be free soon.

    Args:
        report: of the round.
        pods: of the node, as the API tells.
        measured: what the kubelet has told; its pods are read only where somebody goes.
        in_use: what counts as in use.
    """
    least = _least_used(report)
    if least is None:
        return
    uids, names = set(), set()
    for pod in pods:
        uids.add(pod.metadata.uid)
        names.add((pod.metadata.namespace, pod.metadata.name))
    for one in measured.pods:
        who = one.pod_ref
        # A static pod has another UID in the API, and the same name.
        if who.uid in uids or (who.namespace, who.name) in names:
            continue
        if (memory_in_use(one.memory, in_use) or 0) > least:
            yield who.uid


def _least_used(report: PressureReport) -> int | None:
    """By one of those who go for memory; None: nobody does."""
    if report.starved is None or report.starved.resource != MEMORY:
        return None
    going = {one.pod for one in report.victims}
    return min((one.used for one in report.candidates if one.pod in going), default=None)
