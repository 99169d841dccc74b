"""Which nodes of the demo have a kubelet that can be asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff_demo.objects import labels_of

if TYPE_CHECKING:
    from bailiff_demo.objects import JsonObject

# Whoever acts on the pressure of some nodes only can select them by it.
LABEL, MEASURES = "demo.bailiff.dev/kubelet", "measures"


def measures(node: JsonObject) -> bool:
    """Whether its kubelet measures, and leaves pressure to others: it publishes no condition of it.

    That is how a virtual kubelet is that has no eviction manager. Of other nodes the demo knows no
    measurements, and asking for them finds nobody.
    """
    return labels_of(node).get(LABEL) == MEASURES
