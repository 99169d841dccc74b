"""Kinds of resource.k8s.io as whole objects, and the least that each must hold."""

from __future__ import annotations

from typing import Any

from bailiff import cluster as k8s
from bailiff.cluster import PatchType, Resource
from tests.harness.api import Bench
from tests.harness.kube.programs import assets, kubernetes_version
from tests.harness.objects import Object, tolerating

GROUP = "resource.k8s.io"
DRIVER = "gpu.example.com"
BROKEN = "example.com/broken"

SLICES: Resource[Object] = Resource(GROUP, "v1", "resourceslices", dict, namespaced=False)
OLD_SLICES: Resource[Object] = Resource(GROUP, "v1beta2", "resourceslices", dict, namespaced=False)
CLAIMS: Resource[Object] = Resource(GROUP, "v1", "resourceclaims", dict)
TEMPLATES: Resource[Object] = Resource(GROUP, "v1", "resourceclaimtemplates", dict)
CLASSES: Resource[Object] = Resource(GROUP, "v1", "deviceclasses", dict, namespaced=False)
# Where they are generally available; before Kubernetes 1.37 they were not.
_HAS_OLD_RULES = assets() is not None and kubernetes_version() < (1, 37)
RULES_VERSION = "v1beta2" if _HAS_OLD_RULES else "v1"
RULES: Resource[Object] = Resource(GROUP, RULES_VERSION, "devicetaintrules", dict, namespaced=False)


def device_taint(effect: str = "NoExecute", **more: str) -> Object:
    """A device taint as JSON."""
    return {"key": BROKEN, "value": "yes", "effect": effect} | more


def patience(seconds: int | None = None) -> Object:
    """A toleration of that taint, for ever if no seconds are given."""
    return tolerating(seconds, BROKEN)


def slice_of(name: str, *taints: Object, **spec: object) -> Object:
    """A slice with devices `gpu-0` and `gpu-1`, the first of which has the taints."""
    first: Object = {"name": "gpu-0"} | ({"taints": list(taints)} if taints else {})
    pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
    devices = [first, {"name": "gpu-1"}]
    given = {"driver": DRIVER, "pool": pool, "nodeName": name, "devices": devices} | spec
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": name},
        "spec": given,
    }


def claim(name: str = "gpu") -> Object:
    """A claim on one device."""
    request = {"name": "one", "exactly": {"deviceClassName": DRIVER}}
    return {"metadata": {"name": name}, "spec": {"devices": {"requests": [request]}}}


def allocation(pool: str, device: str = "gpu-0", **more: object) -> Object:
    """What a scheduler writes into a claim's status."""
    result = {"request": "one", "driver": DRIVER, "pool": pool, "device": device} | more
    return {"devices": {"results": [result]}}


def rule(name: str, effect: str = "NoExecute", **selector: str) -> Object:
    """A rule that taints the devices that it selects."""
    spec = {"deviceSelector": selector, "taint": device_taint(effect)}
    return {
        "apiVersion": f"{GROUP}/{RULES_VERSION}",
        "kind": "DeviceTaintRule",
        "metadata": {"name": name},
        "spec": spec,
    }


def names(error: k8s.StatusError, field: str) -> bool:
    """Whether the refusal is because of a field: its message holds `FIELD: why`."""
    return any(f"{before}{field}: " in str(error) for before in ("invalid: ", "[", ", "))


async def write_claim(bench: Bench, name: str, **status: Any) -> Object:
    """Its status, as a scheduler writes it."""
    return await bench.cluster.patch(
        CLAIMS,
        name,
        bench.namespace,
        {"status": status},
        patch_type=PatchType.MERGE,
        subresource="status",
    )
