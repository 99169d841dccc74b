"""What is read of slices, claims and rules, and of a pod's claims."""

import sys

import pytest

from bailiff.kinds import (
    DecodeError,
    DeviceTaint,
    DeviceTaintRule,
    DeviceTaintSelector,
    DeviceToleration,
    Pod,
    PodResourceClaim,
    PodResourceClaimStatus,
    PodSpec,
    PodStatus,
    ResourceClaim,
    ResourceSlice,
    decode,
)

SLICE = b"""{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "spec": {
  "driver": "gpu.example.com", "nodeName": "n", "sharedCounters": [{"name": "c"}],
  "pool": {"name": "n", "generation": 3, "resourceSliceCount": 1},
  "devices": [{"name": "gpu-0", "attributes": {"model": {"string": "x"}}},
    {"name": "gpu-1", "taints": [{"key": "k", "effect": "NoExecute"}]}]}}"""
CLAIM = b"""{"spec": {"devices": {"requests": []}}, "status": {
  "reservedFor": [{"resource": "pods", "name": "p", "uid": "u"},
    {"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "g", "uid": "v"}],
  "allocation": {"nodeSelector": {}, "devices": {"results": [{"request": "r",
    "driver": "gpu.example.com", "pool": "n", "device": "gpu-0", "adminAccess": true,
    "tolerations": [{"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}]}]}}}}"""
POD = b"""{"spec": {"schedulingGroup": {"podGroupName": "g"}, "resourceClaims": [
    {"name": "a", "resourceClaimName": "c"}, {"name": "b", "resourceClaimTemplateName": "t"}]},
  "status": {"resourceClaimStatuses": [{"name": "b", "resourceClaimName": null}],
    "extendedResourceClaimStatus": {"requestMappings": [], "resourceClaimName": "e"}}}"""


def test_a_slice():
    spec = decode(SLICE, ResourceSlice).spec
    assert (spec.driver, spec.pool.name, spec.pool.generation) == ("gpu.example.com", "n", 3)
    assert [device.name for device in spec.devices] == ["gpu-0", "gpu-1"]
    assert spec.devices[1].taints == (DeviceTaint(key="k", effect="NoExecute"),)


def test_a_claim():
    status = decode(CLAIM, ResourceClaim).status
    assert status.allocation is not None
    (result,) = status.allocation.devices.results
    assert (result.driver, result.pool, result.device) == ("gpu.example.com", "n", "gpu-0")
    tolerating = DeviceToleration(operator="Exists", effect="NoExecute", toleration_seconds=5)
    assert result.tolerations == (tolerating,)
    assert [one.api_group for one in status.reserved_for] == ["", "scheduling.k8s.io"]


@pytest.mark.parametrize("written", [b"{}", b'{"status":null}', b'{"status":{"allocation":null}}'])
def test_a_claim_that_is_not_allocated(written):
    assert decode(written, ResourceClaim).status.allocation is None


@pytest.mark.parametrize(
    ("written", "selector"),
    [
        (b"{}", None),
        (b'{"deviceSelector": null}', None),
        (b'{"deviceSelector": {}}', DeviceTaintSelector()),
        (b'{"deviceSelector": {"driver": null}}', DeviceTaintSelector()),
        (b'{"deviceSelector": {"driver": ""}}', DeviceTaintSelector(driver="")),
    ],
)
def test_no_selector_is_not_an_empty_one(written, selector):
    assert decode(b'{"spec":%s}' % written, DeviceTaintRule).spec.device_selector == selector


def test_a_pods_claims():
    pod = decode(POD, Pod)
    assert pod.spec.resource_claims == (
        PodResourceClaim(name="a", resource_claim_name="c"),
        PodResourceClaim(name="b", resource_claim_template_name="t"),
    )
    assert pod.status.resource_claim_statuses == (PodResourceClaimStatus(name="b"),)
    assert pod.status.extended_resource_claim_status is not None
    assert pod.status.extended_resource_claim_status.resource_claim_name == "e"
    assert pod.spec.scheduling_group is not None
    assert pod.spec.scheduling_group.pod_group_name == "g"


def test_a_pod_without_claims_pays_for_no_more_than_the_fields():
    one, other = decode(b'{"spec":{},"status":{}}', Pod), decode(b'{"spec":{},"status":{}}', Pod)
    assert one.spec.resource_claims is other.spec.resource_claims
    assert one.status.resource_claim_statuses is other.status.resource_claim_statuses
    for kind in (PodSpec, PodStatus):
        word = 8
        assert sys.getsizeof(kind()) <= word * (len(kind.__struct_fields__) + 2)


@pytest.mark.parametrize(
    ("kind", "written", "path"),
    [
        (ResourceSlice, b'{"spec":{"devices":{}}}', "$.spec.devices"),
        (
            ResourceSlice,
            b'{"spec":{"devices":[{"taints":[{"timeAdded":"soon"}]}]}}',
            "$.spec.devices[0].taints[0].timeAdded",
        ),
        (
            ResourceSlice,
            b'{"spec":{"pool":{"generation":9223372036854775808}}}',
            "$.spec.pool.generation",
        ),
        (ResourceClaim, b'{"status":{"allocation":[]}}', "$.status.allocation"),
        (DeviceTaintRule, b'{"spec":{"deviceSelector":"all"}}', "$.spec.deviceSelector"),
    ],
)
def test_what_is_wrong_is_named(kind, written, path):
    with pytest.raises(DecodeError) as caught:
        decode(written, kind)
    assert caught.value.path == path
