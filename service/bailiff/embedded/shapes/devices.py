"""Devices, claims on them and taints of them (resource.k8s.io)."""

from __future__ import annotations

from typing import Any

import msgspec

from bailiff.embedded.shapes.base import Condition, Int64, Meta, Object, Shape, Time
from bailiff.embedded.shapes.nodes import Taint
from bailiff.embedded.shapes.pods import (  # noqa: TC001 - msgspec reads the annotations
    Terms,
    Toleration,
)


class Pool(Shape):
    """v1.ResourcePool."""

    name: str = ""
    generation: Int64 = 0
    resource_slice_count: Int64 = 0


class Device(Shape):
    """v1.Device."""

    name: str = ""
    attributes: dict[str, dict[str, Any]] | None = None
    capacity: dict[str, dict[str, Any]] | None = None
    taints: tuple[Taint, ...] = ()
    node_name: str | None = None
    all_nodes: bool | None = None


class SliceSpec(Shape):
    """v1.ResourceSliceSpec."""

    driver: str = ""
    pool: Pool = msgspec.field(default_factory=Pool)
    node_name: str | None = None
    node_selector: Terms | None = None
    all_nodes: bool | None = None
    per_device_node_selection: bool | None = None
    devices: tuple[Device, ...] | None = None
    shared_counters: tuple[dict[str, Any], ...] | None = None


class ResourceSlice(Object):
    """v1.ResourceSlice."""

    spec: SliceSpec = msgspec.field(default_factory=SliceSpec)


class ExactRequest(Shape):
    """v1.ExactDeviceRequest and v1.DeviceSubRequest."""

    name: str = ""
    device_class_name: str = ""
    selectors: tuple[dict[str, Any], ...] = ()
    allocation_mode: str = ""
    count: Int64 = 0
    admin_access: bool | None = None
    tolerations: tuple[Toleration, ...] = ()


class Request(Shape):
    """v1.DeviceRequest."""

    name: str = ""
    exactly: ExactRequest | None = None
    first_available: tuple[ExactRequest, ...] = ()


class Requests(Shape):
    """v1.DeviceClaim."""

    requests: tuple[Request, ...] = ()
    constraints: tuple[dict[str, Any], ...] = ()
    config: tuple[dict[str, Any], ...] = ()


class ClaimSpec(Shape):
    """v1.ResourceClaimSpec."""

    devices: Requests = msgspec.field(default_factory=Requests)


class Result(Shape):
    """v1.DeviceRequestAllocationResult."""

    request: str = ""
    driver: str = ""
    pool: str = ""
    device: str = ""
    admin_access: bool | None = None
    tolerations: tuple[Toleration, ...] = ()
    share_id: str | None = msgspec.field(default=None, name="shareID")


class Results(Shape):
    """v1.DeviceAllocationResult."""

    results: tuple[Result, ...] = ()
    config: tuple[dict[str, Any], ...] = ()


class Allocation(Shape):
    """v1.AllocationResult."""

    devices: Results = msgspec.field(default_factory=Results)
    node_selector: Terms | None = None
    allocation_timestamp: Time | None = None


class Consumer(Shape):
    """v1.ResourceClaimConsumerReference."""

    api_group: str = msgspec.field(default="", name="apiGroup")
    resource: str = ""
    name: str = ""
    uid: str = ""


class DeviceStatus(Shape):
    """v1.AllocatedDeviceStatus."""

    driver: str = ""
    pool: str = ""
    device: str = ""
    share_id: str | None = msgspec.field(default=None, name="shareID")
    conditions: tuple[Condition, ...] = ()


class ClaimStatus(Shape):
    """v1.ResourceClaimStatus."""

    allocation: Allocation | None = None
    reserved_for: tuple[Consumer, ...] = ()
    devices: tuple[DeviceStatus, ...] = ()


class ResourceClaim(Object):
    """v1.ResourceClaim."""

    spec: ClaimSpec = msgspec.field(default_factory=ClaimSpec)
    status: ClaimStatus = msgspec.field(default_factory=ClaimStatus)


class TemplateSpec(Shape):
    """v1.ResourceClaimTemplateSpec."""

    metadata: Meta = msgspec.field(default_factory=Meta)
    spec: ClaimSpec = msgspec.field(default_factory=ClaimSpec)


class ResourceClaimTemplate(Object):
    """v1.ResourceClaimTemplate."""

    spec: TemplateSpec = msgspec.field(default_factory=TemplateSpec)


class ClassSpec(Shape):
    """v1.DeviceClassSpec."""

    selectors: tuple[dict[str, Any], ...] = ()
    config: tuple[dict[str, Any], ...] = ()
    extended_resource_name: str | None = None


class DeviceClass(Object):
    """v1.DeviceClass."""

    spec: ClassSpec = msgspec.field(default_factory=ClassSpec)


class DeviceSelector(Shape):
    """v1beta2.DeviceTaintSelector."""

    driver: str | None = None
    pool: str | None = None
    device: str | None = None


class RuleSpec(Shape):
    """v1beta2.DeviceTaintRuleSpec."""

    device_selector: DeviceSelector | None = None
    taint: Taint = msgspec.field(default_factory=Taint)


class RuleStatus(Shape):
    """v1beta2.DeviceTaintRuleStatus."""

    conditions: tuple[Condition, ...] = ()


class DeviceTaintRule(Object):
    """v1beta2.DeviceTaintRule."""

    spec: RuleSpec = msgspec.field(default_factory=RuleSpec)
    status: RuleStatus = msgspec.field(default_factory=RuleStatus)
