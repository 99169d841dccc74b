"""How long texts may be: as long as the API server lets them be, and no longer."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import Struct

from bailiff.kinds import (
    DecodeError,
    Device,
    DeviceRequestAllocationResult,
    DeviceTaint,
    DeviceTaintSelector,
    DeviceToleration,
    NodeMeta,
    ObjectMeta,
    OwnerReference,
    Pod,
    PodCondition,
    PodExtendedResourceClaimStatus,
    PodResourceClaim,
    PodResourceClaimStatus,
    PodSchedulingGroup,
    PodSpec,
    PodStatus,
    ResourcePool,
    ResourceSliceSpec,
    Taint,
    Toleration,
    decode,
)

# Kubernetes' own: pkg/apis/core/validation, pkg/apis/resource/validation, apimachinery's
# pkg/util/validation.
LABEL, SUBDOMAIN, KEY = 63, 253, 317
TAINT = {"key": KEY, "value": LABEL, "effect": LABEL}
TOLERATION = TAINT | {"operator": LABEL}
META = {"name": SUBDOMAIN, "namespace": LABEL, "uid": SUBDOMAIN}
BOUNDS: list[tuple[type[Struct], dict[str, int]]] = [
    (ObjectMeta, META),
    (NodeMeta, META),
    (Taint, TAINT),
    (DeviceTaint, TAINT),
    (Toleration, TOLERATION),
    (DeviceToleration, TOLERATION),
    (PodSpec, {"node_name": SUBDOMAIN}),
    (PodResourceClaim, {"name": LABEL, "resource_claim_name": SUBDOMAIN}),
    (PodResourceClaim, {"resource_claim_template_name": SUBDOMAIN}),
    (PodResourceClaimStatus, {"name": LABEL, "resource_claim_name": SUBDOMAIN}),
    (PodExtendedResourceClaimStatus, {"resource_claim_name": SUBDOMAIN}),
    (PodSchedulingGroup, {"pod_group_name": SUBDOMAIN}),
    (Device, {"name": LABEL}),
    (ResourcePool, {"name": SUBDOMAIN}),
    (ResourceSliceSpec, {"driver": LABEL}),
    (DeviceRequestAllocationResult, {"driver": LABEL, "pool": SUBDOMAIN, "device": LABEL}),
    (DeviceTaintSelector, {"driver": LABEL, "pool": SUBDOMAIN, "device": LABEL}),
]
FIELDS = [(kind, name, most) for kind, bounds in BOUNDS for name, most in bounds.items()]


@pytest.mark.parametrize(("kind", "name", "most"), FIELDS)
def test_what_the_api_server_allows_is_read_and_no_more(
    kind: type[Any], name: str, most: int
) -> None:
    written = {field.name: field.encode_name for field in msgspec.structs.fields(kind)}[name]
    fits, too_long = "x" * most, "x" * (most + 1)
    assert getattr(decode(msgspec.json.encode({written: fits}), kind), name) == fits
    with pytest.raises(DecodeError, match=f"length <= {most}") as refused:
        decode(msgspec.json.encode({written: too_long}), kind)
    assert refused.value.path == f"$.{written}"


LONG = "x" * 10_000


@pytest.mark.parametrize(
    "value",
    [
        PodStatus(phase=LONG),
        PodCondition(type=LONG, status=LONG, reason=LONG, message=LONG),
        OwnerReference(api_version=LONG, kind=LONG, name=LONG, uid=LONG),
        ObjectMeta(resource_version=LONG, labels={LONG: LONG}),
        Pod(),
        DeviceTaintSelector(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_the_api_server_does_not_bound_is_not_bound_here(value: Struct) -> None:
    assert decode(msgspec.json.encode(value), type(value)) == value
