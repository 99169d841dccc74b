"""Slices, claims, rules and pods in few words. What is not said does not matter to the test."""

from datetime import UTC, datetime, timedelta

from bailiff.decisions.device_taints import DeviceTaintIndex
from bailiff.kinds import (
    AllocationResult,
    Device,
    DeviceAllocationResult,
    DeviceRequestAllocationResult,
    DeviceTaint,
    DeviceTaintRule,
    DeviceTaintRuleSpec,
    DeviceTaintSelector,
    DeviceToleration,
    ObjectMeta,
    OwnerReference,
    Pod,
    PodExtendedResourceClaimStatus,
    PodResourceClaim,
    PodResourceClaimStatus,
    PodSchedulingGroup,
    PodSpec,
    PodStatus,
    ResourceClaim,
    ResourceClaimConsumerReference,
    ResourceClaimStatus,
    ResourcePool,
    ResourceSlice,
    ResourceSliceSpec,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
DRIVER, POOL = "gpu.example.com", "pool"


def at(seconds):
    return NOW + timedelta(seconds=seconds)


def taint(key="k", effect="NoExecute", added=0, value=""):
    time = None if added is None else at(added)
    return DeviceTaint(key=key, value=value, effect=effect, time_added=time)


def tolerating(seconds=None, **wanted):
    return DeviceToleration(
        **{"operator": "Exists", "effect": "NoExecute", "toleration_seconds": seconds, **wanted}
    )


def slice_of(name="s", generation=1, pool=POOL, uid="", node_name="", **devices):
    """`a=(taint(),)` publishes device a with one taint."""
    return ResourceSlice(
        metadata=ObjectMeta(name=name, uid=uid or f"{name}-1"),
        spec=ResourceSliceSpec(
            driver=DRIVER,
            pool=ResourcePool(name=pool, generation=generation),
            node_name=node_name,
            devices=tuple(Device(name=one, taints=taints) for one, taints in devices.items()),
        ),
    )


def rule(name="r", effect="NoExecute", added=0, uid="", generation=1, selector=None, **selected):
    """Without `selected` it selects every device; `selector=False` none."""
    chosen = DeviceTaintSelector(**selected) if selector is None else None
    return DeviceTaintRule(
        metadata=ObjectMeta(name=name, uid=uid or f"{name}-1", generation=generation),
        spec=DeviceTaintRuleSpec(
            device_selector=chosen, taint=taint("rule", effect=effect, added=added)
        ),
    )


def on(device="a", *tolerations, pool=POOL):
    return DeviceRequestAllocationResult(
        driver=DRIVER, pool=pool, device=device, tolerations=tolerations
    )


def reserved(pod="p", uid="p-1", **other):
    return ResourceClaimConsumerReference(**{"resource": "pods", "name": pod, "uid": uid, **other})


def claim(name="c", *results, owner=None, reserved_for=None, namespace="default"):
    """Device a is allocated, for pod p, unless said otherwise; None: nothing is."""
    devices = DeviceAllocationResult(results=results or (on(),))
    unallocated = results == (None,)
    return ResourceClaim(
        metadata=ObjectMeta(
            name=name,
            namespace=namespace,
            uid=f"{name}-1",
            owner_references=(owner,) if owner else (),
        ),
        status=ResourceClaimStatus(
            allocation=None if unallocated else AllocationResult(devices=devices),
            reserved_for=(reserved(),) if reserved_for is None else reserved_for,
        ),
    )


def owned_by(uid="p-1", *, controller=True, **other):
    return OwnerReference(uid=uid, controller=controller, **other)


def using(*claims, name="p", uid="p-1", node="node", namespace="default", **status):
    """A pod with these entries in `spec.resourceClaims`; a string is the claim's name."""
    entries = tuple(
        PodResourceClaim(name=one, resource_claim_name=one) if isinstance(one, str) else one
        for one in claims
    )
    group = status.pop("group", None)
    deleted = status.pop("deletion_timestamp", None)
    return Pod(
        metadata=ObjectMeta(name=name, namespace=namespace, uid=uid, deletion_timestamp=deleted),
        spec=PodSpec(
            node_name=node,
            resource_claims=entries,
            scheduling_group=PodSchedulingGroup(pod_group_name=group) if group else None,
        ),
        status=PodStatus(**{"phase": "Running", **status}),
    )


def from_template(name="t"):
    return PodResourceClaim(name=name, resource_claim_template_name="template")


def made(claim_name, name="t"):
    return PodResourceClaimStatus(name=name, resource_claim_name=claim_name)


def extended(claim_name):
    return PodExtendedResourceClaimStatus(resource_claim_name=claim_name)


def index_of(*objects):
    index = DeviceTaintIndex()
    for one in objects:
        add(index, one)
    return index


def add(index, one):
    match one:
        case ResourceSlice():
            return index.apply_slice(one)
        case ResourceClaim():
            return index.apply_claim(one)
        case DeviceTaintRule():
            return index.apply_rule(one)
        case _:
            return index.apply_pod(one)
