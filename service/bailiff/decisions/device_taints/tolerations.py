"""Which toleration of an allocated device counts against a taint.

Unlike a pod's, where the first that matches counts, a device's tolerations are taken together: one
without seconds tolerates for ever whatever stands before it, else the fewest seconds count
(pkg/controller/devicetainteviction; matching itself as in staging
k8s.io/dynamic-resource-allocation/resourceclaim/devicetoleration.go).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from bailiff.decisions.tolerations import tolerates
from bailiff.kinds import NO_EXECUTE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bailiff.kinds import DeviceTaint, DeviceToleration


class Tolerated(NamedTuple):
    """What a device's tolerations mean for one taint.

    Attributes:
        seconds: how long it is tolerated, 0 or more; None: for ever.
        place: index of the toleration that counts; None: no toleration matches.
        toleration: the toleration that counts.
    """

    seconds: int | None
    place: int | None = None
    toleration: DeviceToleration | None = None


_NOT_TOLERATED = Tolerated(0)


def device_tolerates(toleration: DeviceToleration, taint: DeviceTaint) -> bool:
    """Whether one toleration matches one taint, whatever its effect.

    As a pod's, but that the operators Lt and Gt are not known for devices, whatever the gates.
    """
    return tolerates(toleration, taint, comparison_operators=False)


def tolerated(tolerations: Iterable[DeviceToleration], taint: DeviceTaint) -> Tolerated:
    """How long a NoExecute taint is tolerated.

    Only tolerations of exactly the effect NoExecute count for eviction: one with an empty effect
    matches, but lets nobody stay.
    """
    found = _NOT_TOLERATED
    for index, toleration in enumerate(tolerations):
        if toleration.effect != NO_EXECUTE or not device_tolerates(toleration, taint):
            continue
        if toleration.toleration_seconds is None:
            return Tolerated(None, index, toleration)
        seconds = max(0, toleration.toleration_seconds)
        if found.seconds is None or found.toleration is None or seconds < found.seconds:
            found = Tolerated(seconds, index, toleration)
    return found
