"""Devices, who has them, and their taints (k8s.io/api/resource/v1/types.go, KEP-4381, KEP-5055).

The shape is that of v1 and v1beta2. DeviceTaintRule is of v1 since Kubernetes 1.37.
"""

from __future__ import annotations

from bailiff.kinds.meta import Int64, KubernetesObject, ObjectMeta, Time, Value
from bailiff.kinds.taint import Taint, Toleration
from bailiff.kinds.texts import DriverName, LabelName, ObjectName


class DeviceTaint(Taint, frozen=True):
    """A device's mark that repels pods; fields as a node's.

    Attributes:
        key: its name.
        value: told apart by tolerations with the operator Equal.
        effect: `None`, `NoSchedule` or `NoExecute`. Only NoExecute evicts.
        time_added: when it came to the device; tolerated seconds are counted from here. The API
            server fills it in.
    """


class DeviceToleration(Toleration, frozen=True):
    """An allocation's leave to ignore matching device taints; fields as a pod's.

    Attributes:
        key: of the taint; empty matches any.
        operator: `Equal` (also when empty) compares values, `Exists` does not look at them.
        value: of the taint, for Equal.
        effect: of the taint. An empty one matches any, but counts for no eviction.
        toleration_seconds: how long the taint is tolerated; absent for ever, zero and less not at
            all.
    """


class Device(Value, frozen=True):
    """One device of a slice.

    Attributes:
        name: unique in its pool.
        taints: its marks, as its driver set them.
    """

    name: LabelName = ""
    taints: tuple[DeviceTaint, ...] = ()


class ResourcePool(Value, frozen=True):
    """The pool a slice belongs to.

    Attributes:
        name: unique among the pools of its driver.
        generation: only the slices with the highest one present count.
    """

    name: ObjectName = ""
    generation: Int64 = 0


class ResourceSliceSpec(Value, frozen=True):
    """What a slice publishes.

    Attributes:
        driver: the driver that publishes it.
        pool: the pool it is a part of.
        node_name: the node whose devices these are; empty where they are not of one node. It cannot
            be changed. No decision looks at it: it tells who published what evicts.
        devices: the devices.
    """

    driver: DriverName = ""
    pool: ResourcePool = ResourcePool()
    node_name: ObjectName = ""
    devices: tuple[Device, ...] = ()


class ResourceSlice(KubernetesObject, frozen=True):
    """A part of a pool of devices; hand over the whole object, what is not needed is ignored.

    Attributes:
        metadata: its identity.
        spec: its devices.
    """

    metadata: ObjectMeta = ObjectMeta()
    spec: ResourceSliceSpec = ResourceSliceSpec()


class DeviceRequestAllocationResult(Value, frozen=True):
    """One device that was allocated to a claim.

    Attributes:
        driver: of the device.
        pool: of the device.
        device: its name.
        tolerations: the taints that the claim puts up with on this device, copied from its request
            when it was allocated.
    """

    driver: DriverName = ""
    pool: ObjectName = ""
    device: LabelName = ""
    tolerations: tuple[DeviceToleration, ...] = ()


class DeviceAllocationResult(Value, frozen=True):
    """The devices that were allocated to a claim.

    Attributes:
        results: one entry a device; a device may occur twice, with adminAccess.
    """

    results: tuple[DeviceRequestAllocationResult, ...] = ()


class AllocationResult(Value, frozen=True):
    """What was allocated to a claim.

    Attributes:
        devices: the devices.
    """

    devices: DeviceAllocationResult = DeviceAllocationResult()


class ResourceClaimConsumerReference(Value, frozen=True):
    """Who may use an allocated claim.

    Attributes:
        api_group: of the consumer's kind; empty for pods.
        resource: `pods` or `podgroups`.
        name: the consumer's name, in the claim's namespace.
        uid: the consumer's identity.
    """

    api_group: str = ""
    resource: str = ""
    name: str = ""
    uid: str = ""


class ResourceClaimStatus(Value, frozen=True):
    """What became of a claim.

    Attributes:
        allocation: its devices; absent until it is allocated.
        reserved_for: who may use them.
    """

    allocation: AllocationResult | None = None
    reserved_for: tuple[ResourceClaimConsumerReference, ...] = ()


class ResourceClaim(KubernetesObject, frozen=True):
    """A claim of devices; hand over the whole object, what is not needed is ignored.

    Attributes:
        metadata: its identity; the owner that controls it is the pod it was made for.
        status: its devices and consumers.
    """

    metadata: ObjectMeta = ObjectMeta()
    status: ResourceClaimStatus = ResourceClaimStatus()


class DeviceTaintSelector(Value, frozen=True):
    """Which devices a rule taints: those that match all that is given; all, if nothing is.

    Attributes:
        driver: of the device.
        pool: of the device.
        device: its name.
    """

    driver: DriverName | None = None
    pool: ObjectName | None = None
    device: LabelName | None = None


class DeviceTaintRuleSpec(Value, frozen=True):
    """What a rule does.

    Attributes:
        device_selector: the devices; absent selects none.
        taint: what they are tainted with.
    """

    device_selector: DeviceTaintSelector | None = None
    taint: DeviceTaint = DeviceTaint()


class Condition(Value, frozen=True):
    """One condition of an object (metav1.Condition).

    Attributes:
        type: which condition, as `EvictionInProgress`.
        status: `True`, `False` or `Unknown`.
        observed_generation: the generation of the object that it was written for.
        last_transition_time: when it changed.
        reason: why, for programs.
        message: why, for people.
    """

    type: str = ""
    status: str = ""
    observed_generation: Int64 = 0
    last_transition_time: Time | None = None
    reason: str = ""
    message: str = ""


class DeviceTaintRuleStatus(Value, frozen=True):
    """What became of a rule.

    Attributes:
        conditions: `EvictionInProgress` tells how far the eviction is.
    """

    conditions: tuple[Condition, ...] = ()


class DeviceTaintRule(KubernetesObject, frozen=True):
    """A taint that an administrator puts on devices; hand over the whole object.

    Attributes:
        metadata: its identity.
        spec: devices and taint.
        status: how far it is.
    """

    metadata: ObjectMeta = ObjectMeta()
    spec: DeviceTaintRuleSpec = DeviceTaintRuleSpec()
    status: DeviceTaintRuleStatus = DeviceTaintRuleStatus()
