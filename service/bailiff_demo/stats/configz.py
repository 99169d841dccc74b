"""The configuration of a pretended kubelet, as GET /configz tells it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff_demo.objects import clone
from bailiff_demo.stats.annotations import told_configuration

if TYPE_CHECKING:
    from bailiff_demo.objects import JsonObject

# Of the kubelet's fields those that eviction reads: pkg/kubelet/eviction/defaults_linux.go and
# pkg/kubelet/apis/config/v1beta1/defaults.go.
_DEFAULTS: JsonObject = {
    "enforceNodeAllocatable": ["pods"],
    "evictionHard": {
        "imagefs.available": "15%",
        "imagefs.inodesFree": "5%",
        "memory.available": "100Mi",
        "nodefs.available": "10%",
        "nodefs.inodesFree": "5%",
    },
    "evictionPressureTransitionPeriod": "5m0s",
    "mergeDefaultEvictionSettings": False,
    "localStorageCapacityIsolation": True,
}


def configuration_of(node: JsonObject) -> JsonObject:
    """The answer; a field that the node's annotation tells replaces the default as a whole.

    What is in a field is not looked at, so that one can try what nobody should configure.
    """
    return {"kubeletconfig": clone(_DEFAULTS) | told_configuration(node)}
