"""resource.k8s.io: devices, claims on them, and taints of them.

v1 and v1beta2 have the same shapes and show the same objects.
"""

from __future__ import annotations

from dataclasses import replace

from bailiff.embedded.resources.resource import Resource

GROUP = "resource.k8s.io"

RESOURCESLICES = Resource(
    group=GROUP,
    plural="resourceslices",
    kind="ResourceSlice",
    namespaced=False,
    generation=True,
    fields=("spec.driver", "spec.nodeName"),
)
RESOURCECLAIMS = Resource(
    group=GROUP,
    plural="resourceclaims",
    kind="ResourceClaim",
    status=True,
    status_keeps_metadata=True,
)
RESOURCECLAIMTEMPLATES = Resource(
    group=GROUP, plural="resourceclaimtemplates", kind="ResourceClaimTemplate"
)
DEVICECLASSES = Resource(
    group=GROUP, plural="deviceclasses", kind="DeviceClass", namespaced=False, generation=True
)
DEVICETAINTRULES = Resource(
    group=GROUP,
    plural="devicetaintrules",
    kind="DeviceTaintRule",
    namespaced=False,
    status=True,
    status_keeps_metadata=True,
    generation=True,
)

_V1 = (
    DEVICECLASSES,
    DEVICETAINTRULES,
    RESOURCECLAIMS,
    RESOURCECLAIMTEMPLATES,
    RESOURCESLICES,
)

DEVICE_RESOURCES: tuple[Resource, ...] = (
    *_V1,
    *(replace(resource, version="v1beta2", storage=resource.id) for resource in _V1),
)
