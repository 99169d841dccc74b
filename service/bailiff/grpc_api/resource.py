"""Kubernetes objects of devices from protobuf to `kinds`."""

from __future__ import annotations

from typing import TypedDict

from bailiff.decisions import MAX_CLAIMS, MAX_RULES, MAX_SLICES
from bailiff.grpc_api.meta import read_condition, read_metadata, read_time
from bailiff.grpc_api.wire import (
    Interned,
    WireMessage,
    check_number,
    parse,
    read_all,
    read_within,
    wire_class,
)
from bailiff.kinds import (
    AllocationResult,
    Device,
    DeviceAllocationResult,
    DeviceRequestAllocationResult,
    DeviceTaint,
    DeviceTaintRule,
    DeviceTaintRuleSpec,
    DeviceTaintRuleStatus,
    DeviceTaintSelector,
    DeviceToleration,
    ResourceClaim,
    ResourceClaimConsumerReference,
    ResourceClaimStatus,
    ResourcePool,
    ResourceSlice,
    ResourceSliceSpec,
)
from bailiff.v1 import resource_pb2

_ResourceSlice = wire_class(resource_pb2.ResourceSlice)
_ResourceSliceSpec = wire_class(resource_pb2.ResourceSliceSpec)
_ResourcePool = wire_class(resource_pb2.ResourcePool)
_Device = wire_class(resource_pb2.Device)
_DeviceTaint = wire_class(resource_pb2.DeviceTaint)
_ResourceClaim = wire_class(resource_pb2.ResourceClaim)
_ResourceClaimStatus = wire_class(resource_pb2.ResourceClaimStatus)
_AllocationResult = wire_class(resource_pb2.AllocationResult)
_DeviceAllocationResult = wire_class(resource_pb2.DeviceAllocationResult)
_Result = wire_class(resource_pb2.DeviceRequestAllocationResult)
_DeviceToleration = wire_class(resource_pb2.DeviceToleration)
_Consumer = wire_class(resource_pb2.ResourceClaimConsumerReference)
_DeviceTaintRule = wire_class(resource_pb2.DeviceTaintRule)
_DeviceTaintRuleSpec = wire_class(resource_pb2.DeviceTaintRuleSpec)
_DeviceTaintSelector = wire_class(resource_pb2.DeviceTaintSelector)
_DeviceTaintRuleStatus = wire_class(resource_pb2.DeviceTaintRuleStatus)


class DeviceObjects(TypedDict):
    """What a question brings of devices; keyword arguments of the core's facts."""

    resource_claims: tuple[ResourceClaim, ...]
    resource_slices: tuple[ResourceSlice, ...]
    device_taint_rules: tuple[DeviceTaintRule, ...]


def brings_devices(request: WireMessage) -> bool:
    """Whether a question has anything of devices."""
    return bool(request.resource_claims or request.resource_slices or request.device_taint_rules)


def read_devices(request: WireMessage) -> DeviceObjects:
    """What a question brings of devices.

    Raises:
        MalformedError: a message is none.
        FieldError: a value out of bounds, or too many objects.
    """
    claims, slices = request.resource_claims, request.resource_slices
    rules = request.device_taint_rules
    check_number("resource_claims", claims, MAX_CLAIMS)
    check_number("resource_slices", slices, MAX_SLICES)
    check_number("device_taint_rules", rules, MAX_RULES)
    return {
        "resource_claims": tuple(read_all("resource_claims", read_claim, claims)),
        "resource_slices": tuple(read_all("resource_slices", read_slice, slices)),
        "device_taint_rules": tuple(read_all("device_taint_rules", read_rule, rules)),
    }


def read_slice(data: bytes) -> ResourceSlice:
    """A ResourceSlice.

    Raises:
        MalformedError: it, or a message in it, is none.
        FieldError: a value out of bounds.
    """
    message = parse(_ResourceSlice, data)
    return ResourceSlice(
        metadata=read_metadata(message.metadata),
        spec=read_within("spec", _convert_slice_spec, message.spec),
    )


def read_claim(data: bytes) -> ResourceClaim:
    """A ResourceClaim; errors as `read_slice`."""
    message = parse(_ResourceClaim, data)
    return ResourceClaim(
        metadata=read_metadata(message.metadata),
        status=read_within("status", _convert_claim_status, message.status),
    )


def read_rule(data: bytes) -> DeviceTaintRule:
    """A DeviceTaintRule; errors as `read_slice`."""
    message = parse(_DeviceTaintRule, data)
    return DeviceTaintRule(
        metadata=read_metadata(message.metadata),
        spec=read_within("spec", _convert_rule_spec, message.spec),
        status=read_within("status", _convert_rule_status, message.status),
    )


def _convert_slice_spec(data: bytes) -> ResourceSliceSpec:
    spec = parse(_ResourceSliceSpec, data)
    return ResourceSliceSpec(
        driver=spec.driver,
        pool=read_within("pool", _pool, spec.pool),
        devices=tuple(read_all("devices", _device, spec.devices)),
    )


def _convert_pool(data: bytes) -> ResourcePool:
    pool = parse(_ResourcePool, data)
    return ResourcePool(name=pool.name, generation=pool.generation)


def _convert_device(data: bytes) -> Device:
    device = parse(_Device, data)
    return Device(name=device.name, taints=tuple(read_all("taints", _taint, device.taints)))


def _convert_taint(data: bytes) -> DeviceTaint:
    taint = parse(_DeviceTaint, data)
    has_time = taint.HasField("time_added")
    return DeviceTaint(
        key=taint.key,
        value=taint.value,
        effect=taint.effect,
        time_added=read_time(taint.time_added, "time_added") if has_time else None,
    )


def _convert_claim_status(data: bytes) -> ResourceClaimStatus:
    status = parse(_ResourceClaimStatus, data)
    return ResourceClaimStatus(
        allocation=read_within("allocation", _convert_allocation, status.allocation)
        if status.HasField("allocation")
        else None,
        reserved_for=tuple(read_all("reserved_for", _consumer, status.reserved_for)),
    )


def _convert_allocation(data: bytes) -> AllocationResult:
    allocation = parse(_AllocationResult, data)
    return AllocationResult(devices=read_within("devices", _convert_devices, allocation.devices))


def _convert_devices(data: bytes) -> DeviceAllocationResult:
    devices = parse(_DeviceAllocationResult, data)
    return DeviceAllocationResult(results=tuple(read_all("results", _result, devices.results)))


def _convert_result(data: bytes) -> DeviceRequestAllocationResult:
    result = parse(_Result, data)
    return DeviceRequestAllocationResult(
        driver=result.driver,
        pool=result.pool,
        device=result.device,
        tolerations=tuple(read_all("tolerations", _toleration, result.tolerations)),
    )


def _convert_toleration(data: bytes) -> DeviceToleration:
    toleration = parse(_DeviceToleration, data)
    has_seconds = toleration.HasField("toleration_seconds")
    return DeviceToleration(
        key=toleration.key,
        operator=toleration.operator,
        value=toleration.value,
        effect=toleration.effect,
        toleration_seconds=toleration.toleration_seconds if has_seconds else None,
    )


def _convert_consumer(data: bytes) -> ResourceClaimConsumerReference:
    consumer = parse(_Consumer, data)
    return ResourceClaimConsumerReference(
        api_group=consumer.api_group,
        resource=consumer.resource,
        name=consumer.name,
        uid=consumer.uid,
    )


def _convert_rule_spec(data: bytes) -> DeviceTaintRuleSpec:
    spec = parse(_DeviceTaintRuleSpec, data)
    return DeviceTaintRuleSpec(
        device_selector=read_within("device_selector", _convert_selector, spec.device_selector)
        if spec.HasField("device_selector")
        else None,
        taint=read_within("taint", _taint, spec.taint),
    )


def _convert_selector(data: bytes) -> DeviceTaintSelector:
    selector = parse(_DeviceTaintSelector, data)
    return DeviceTaintSelector(
        driver=_given(selector, "driver"),
        pool=_given(selector, "pool"),
        device=_given(selector, "device"),
    )


def _given(message: WireMessage, name: str) -> str | None:
    return getattr(message, name) if message.HasField(name) else None


def _convert_rule_status(data: bytes) -> DeviceTaintRuleStatus:
    status = parse(_DeviceTaintRuleStatus, data)
    conditions = read_all("conditions", read_condition, status.conditions)
    return DeviceTaintRuleStatus(conditions=tuple(conditions))


# What a list holds is interned even where it seldom repeats: a list of empty entries, of which a
# request can hold millions, must cost little.
_pool = Interned(_convert_pool)
_device = Interned(_convert_device)
_taint = Interned(_convert_taint)
_result = Interned(_convert_result)
_toleration = Interned(_convert_toleration)
_consumer = Interned(_convert_consumer)
