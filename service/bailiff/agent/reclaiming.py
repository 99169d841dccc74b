"""What the node frees before a pod goes: dead containers, and images that nobody uses.

The rules are the core's (decisions/pressure/garbage*.py); here is who asks the runtime, and does
what they say. CRI does not tell when an image was last used, so all images are looked at every few
minutes, as the kubelet does (pkg/kubelet/images/image_gc_manager.go), and what was seen is kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bailiff.decisions.pressure.layout import ReclaimStep


class Reclaimer(Protocol):
    """Frees the node; raises nothing but what is a fault of ours."""

    async def free(self, steps: Sequence[ReclaimStep]) -> None:
        """Do these steps, in this order, within their time; what fails is told and left."""
        ...
