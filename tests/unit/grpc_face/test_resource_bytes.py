"""Devices as Go marshals them are read as what they are."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bailiff.grpc_api.errors import RefusedError
from bailiff.kinds import (
    AllocationResult,
    Condition,
    Device,
    DeviceAllocationResult,
    DeviceRequestAllocationResult,
    DeviceTaint,
    DeviceTaintRule,
    DeviceTaintRuleSpec,
    DeviceTaintRuleStatus,
    DeviceTaintSelector,
    DeviceToleration,
    ObjectMeta,
    OwnerReference,
    ResourceClaim,
    ResourceClaimConsumerReference,
    ResourceClaimStatus,
    ResourcePool,
    ResourceSlice,
    ResourceSliceSpec,
)
from tests.harness.faces.go_bytes import integer, nested, read, text, time, zero_time

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
TAINT = (text(1, "broken"), text(2, "fan"), text(3, "NoExecute"), time(4, 0))
# Attributes, a node's name, counters: what a driver publishes and no rule reads.
PUBLISHED = nested(2, text(1, "model"), nested(2, text(4, "A100"))) + text(5, "n") + nested(4)


def test_a_slice() -> None:
    data = nested(1, text(1, "s"), text(5, "uid"), zero_time(8)) + nested(
        2,
        text(1, "gpu.example.com"),
        nested(2, text(1, "n"), integer(2, 4), integer(3, 1)),
        text(3, "n"),
        nested(6, text(1, "gpu-0"), PUBLISHED, nested(8, *TAINT), nested(8, text(1, "seen"))),
        nested(6, text(1, "gpu-1"), PUBLISHED),
    )
    assert read(ResourceSlice, data) == ResourceSlice(
        metadata=ObjectMeta(name="s", uid="uid"),
        spec=ResourceSliceSpec(
            driver="gpu.example.com",
            pool=ResourcePool(name="n", generation=4),
            node_name="n",
            devices=(
                Device(
                    name="gpu-0",
                    taints=(
                        DeviceTaint(
                            key="broken", value="fan", effect="NoExecute", time_added=EPOCH
                        ),
                        DeviceTaint(key="seen"),
                    ),
                ),
                Device(name="gpu-1"),
            ),
        ),
    )


def test_a_claim() -> None:
    owner = nested(13, text(1, "Pod"), text(3, "p"), text(4, "u-1"), text(5, "v1"), integer(6, 1))
    result = (
        text(1, "gpu"),
        text(2, "gpu.example.com"),
        text(3, "n"),
        text(4, "gpu-0"),
        integer(5, 1),
        nested(6, text(1, "broken"), text(2, "Exists"), text(3, ""), text(4, ""), integer(5, -1)),
        nested(6, text(1, ""), text(2, "Equal"), text(3, "v"), text(4, "NoExecute")),
    )
    data = (
        nested(1, text(1, "c"), text(3, "shop"), text(5, "uid"), owner)
        + nested(2, nested(1, nested(1, text(1, "gpu"))))
        + nested(
            3,
            nested(1, nested(1, nested(1, *result)), time(5, 9)),
            nested(2, text(1, ""), text(3, "pods"), text(4, "p"), text(5, "u-1")),
        )
    )
    assert read(ResourceClaim, data) == ResourceClaim(
        metadata=ObjectMeta(
            name="c",
            namespace="shop",
            uid="uid",
            owner_references=(
                OwnerReference(api_version="v1", kind="Pod", name="p", uid="u-1", controller=True),
            ),
        ),
        status=ResourceClaimStatus(
            allocation=AllocationResult(
                devices=DeviceAllocationResult(
                    results=(
                        DeviceRequestAllocationResult(
                            driver="gpu.example.com",
                            pool="n",
                            device="gpu-0",
                            tolerations=(
                                DeviceToleration(
                                    key="broken", operator="Exists", toleration_seconds=-1
                                ),
                                DeviceToleration(operator="Equal", value="v", effect="NoExecute"),
                            ),
                        ),
                    )
                )
            ),
            reserved_for=(ResourceClaimConsumerReference(resource="pods", name="p", uid="u-1"),),
        ),
    )


def test_a_claim_that_is_not_allocated_is_told_from_one_without_devices() -> None:
    assert read(ResourceClaim, b"").status.allocation is None
    assert read(ResourceClaim, nested(3, nested(1))).status.allocation == AllocationResult()


def test_a_rule() -> None:
    condition = (text(1, "EvictionInProgress"), text(2, "True"), integer(3, 2), zero_time(4))
    data = (
        nested(1, text(1, "r"), text(5, "uid"), integer(7, 2))
        + nested(2, nested(1, text(2, "gpu.example.com"), text(4, "")), nested(2, *TAINT))
        + nested(3, nested(1, *condition, text(5, "Pending"), text(6, "1 pod")))
    )
    assert read(DeviceTaintRule, data) == DeviceTaintRule(
        metadata=ObjectMeta(name="r", uid="uid", generation=2),
        spec=DeviceTaintRuleSpec(
            device_selector=DeviceTaintSelector(driver="gpu.example.com", device=""),
            taint=DeviceTaint(key="broken", value="fan", effect="NoExecute", time_added=EPOCH),
        ),
        status=DeviceTaintRuleStatus(
            conditions=(
                Condition(
                    type="EvictionInProgress",
                    status="True",
                    observed_generation=2,
                    reason="Pending",
                    message="1 pod",
                ),
            )
        ),
    )


def test_no_selector_is_told_from_an_empty_one() -> None:
    assert read(DeviceTaintRule, b"").spec.device_selector is None
    assert read(DeviceTaintRule, nested(2, nested(1))).spec.device_selector == DeviceTaintSelector()


BAD_UTF8 = nested(1, b"\xff")
FAR = integer(1, 253_402_300_800 + 86_400)


@pytest.mark.parametrize(
    ("data", "path"),
    [
        (b"\xff", ""),
        (nested(1, BAD_UTF8), ""),
        (nested(1, nested(11, BAD_UTF8)), "metadata.labels[0]"),
        (nested(2, BAD_UTF8), "spec"),
        (nested(2, nested(2, BAD_UTF8)), "spec.pool"),
        (nested(2, nested(6), nested(6, BAD_UTF8)), "spec.devices[1]"),
        (nested(2, nested(6, nested(8, BAD_UTF8))), "spec.devices[0].taints[0]"),
        (
            nested(2, nested(6, nested(8, nested(4, FAR)))),
            "spec.devices[0].taints[0].time_added.seconds",
        ),
    ],
)
def test_what_is_wrong_with_a_slice_is_named(data: bytes, path: str) -> None:
    with pytest.raises(RefusedError) as caught:
        read(ResourceSlice, data)
    assert caught.value.path == path


@pytest.mark.parametrize(
    ("data", "path"),
    [
        (nested(3, b"\xff"), "status"),
        (nested(3, nested(1, b"\xff")), "status.allocation"),
        (nested(3, nested(1, nested(1, b"\xff"))), "status.allocation.devices"),
        (
            nested(3, nested(1, nested(1, nested(1, nested(6, BAD_UTF8))))),
            "status.allocation.devices.results[0].tolerations[0]",
        ),
        (nested(3, nested(2), nested(2, BAD_UTF8)), "status.reserved_for[1]"),
    ],
)
def test_what_is_wrong_with_a_claim_is_named(data: bytes, path: str) -> None:
    with pytest.raises(RefusedError) as caught:
        read(ResourceClaim, data)
    assert caught.value.path == path


@pytest.mark.parametrize(
    ("data", "path"),
    [
        (nested(2, nested(1, nested(2, b"\xff"))), "spec.device_selector"),
        (nested(2, nested(2, BAD_UTF8)), "spec.taint"),
        (nested(3, nested(1, BAD_UTF8)), "status.conditions[0]"),
        (nested(3, nested(1, nested(4, FAR))), "status.conditions[0].last_transition_time.seconds"),
    ],
)
def test_what_is_wrong_with_a_rule_is_named(data: bytes, path: str) -> None:
    with pytest.raises(RefusedError) as caught:
        read(DeviceTaintRule, data)
    assert caught.value.path == path
