"""Slices and claims share what they have in common, and lose nothing that a rule reads."""

from __future__ import annotations

import json
import tracemalloc

from bailiff.cluster.slimming import slimmer_for
from bailiff.kinds import LABELS_NOT_KEPT, ResourceClaim, ResourceSlice, decode
from tests.harness.device_objects import allocation, claim, patience, slice_of
from tests.harness.objects import Object

TAINT = {"key": "broken", "effect": "NoExecute", "timeAdded": "2026-01-01T00:00:00Z"}


def metadata_of(name: str, owner: str) -> Object:
    """With what is kept of it, and labels, which are not."""
    owners = [{"kind": owner, "name": name, "uid": name, "controller": True}]
    told = {"name": name, "uid": f"uid-{name}", "resourceVersion": "1"}
    return told | {"labels": {"app": name}, "ownerReferences": owners}


def decoded_slice(name: str, devices: list[Object]) -> ResourceSlice:
    body = slice_of(name, devices=devices) | {"metadata": metadata_of(name, "Node")}
    return decode(json.dumps(body).encode(), ResourceSlice)


def decoded_claim(name: str) -> ResourceClaim:
    status = {
        "allocation": allocation("n1", tolerations=[patience()]),
        "reservedFor": [{"resource": "pods", "name": name, "uid": name}],
    }
    metadata = metadata_of(name, "Pod") | {"namespace": "some-namespace"}
    body = claim(name) | {"metadata": metadata, "status": status}
    return decode(json.dumps(body).encode(), ResourceClaim)


def plain(count: int) -> list[Object]:
    attributes = {"model": {"string": "h" * 40}}
    return [{"name": f"gpu-{n}", "attributes": attributes, "taints": []} for n in range(count)]


def test_devices_without_taints_are_shared_by_slices_and_all_keep_their_names_and_taints() -> None:
    slim = slimmer_for(ResourceSlice)
    devices = [*plain(2), {"name": "gpu-9", "taints": [TAINT]}]
    first, second = slim(decoded_slice("n1", devices)), slim(decoded_slice("n2", devices))
    assert first.spec.devices[0] is second.spec.devices[0]
    assert first.spec == decoded_slice("n1", devices).spec
    assert first.metadata.labels is LABELS_NOT_KEPT
    assert (first.metadata.name, first.metadata.uid) == ("n1", "uid-n1")


def test_a_slice_of_128_devices_without_taints_stays_small() -> None:
    slim = slimmer_for(ResourceSlice)
    slim(decoded_slice("first", plain(128)))
    tracemalloc.start()
    try:
        kept = [slim(decoded_slice(f"n{n}", plain(128))) for n in range(50)]
        used, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert used / len(kept) < 2500


def test_claims_share_what_is_alike_and_keep_who_owns_and_uses_them() -> None:
    slim = slimmer_for(ResourceClaim)
    first, second = slim(decoded_claim("a")), slim(decoded_claim("b"))
    one, other = (c.status.allocation.devices.results[0] for c in (first, second))  # type: ignore[union-attr]  # made allocated
    assert one.tolerations is other.tolerations
    assert (one.driver, one.pool) == ("gpu.example.com", "n1")
    assert one.pool is other.pool
    before = decoded_claim("a")
    assert (first.status, first.metadata.owner_references) == (
        before.status,
        before.metadata.owner_references,
    )
    assert first.metadata.labels is LABELS_NOT_KEPT


def test_a_claim_that_is_not_allocated_is_slimmed_too() -> None:
    body = json.dumps({"metadata": {"name": "a", "labels": {"x": "y"}}}).encode()
    claim = slimmer_for(ResourceClaim)(decode(body, ResourceClaim))
    assert claim.status.allocation is None
    assert claim.metadata.labels is LABELS_NOT_KEPT
