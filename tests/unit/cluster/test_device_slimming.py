"""Slices and claims share what they have in common, and lose nothing that a rule reads."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

from bailiff.cluster.slimming import slimmer_for
from bailiff.kinds import LABELS_NOT_KEPT, ResourceClaim, ResourceSlice, decode

TAINT = {"key": "broken", "effect": "NoExecute", "timeAdded": "2026-01-01T00:00:00Z"}


def slice_of(name: str, devices: list[dict[str, Any]]) -> ResourceSlice:
    body = {
        "metadata": {
            "name": name,
            "uid": f"uid-{name}",
            "resourceVersion": "1",
            "labels": {"app": name},
            "ownerReferences": [{"kind": "Node", "name": name, "uid": name, "controller": True}],
        },
        "spec": {"driver": "gpu.example.com", "pool": {"name": name}, "devices": devices},
    }
    return decode(json.dumps(body).encode(), ResourceSlice)


def claim_of(name: str) -> ResourceClaim:
    toleration = {"key": "broken", "operator": "Exists", "effect": "NoExecute"}
    result = {"driver": "gpu.example.com", "pool": "n1", "device": "gpu-0"}
    body = {
        "metadata": {
            "name": name,
            "namespace": "some-namespace",
            "uid": f"uid-{name}",
            "labels": {"app": name},
            "ownerReferences": [{"kind": "Pod", "name": name, "uid": name, "controller": True}],
        },
        "status": {
            "allocation": {"devices": {"results": [result | {"tolerations": [toleration]}]}},
            "reservedFor": [{"resource": "pods", "name": name, "uid": name}],
        },
    }
    return decode(json.dumps(body).encode(), ResourceClaim)


def plain(count: int) -> list[dict[str, Any]]:
    attributes = {"model": {"string": "h" * 40}}
    return [{"name": f"gpu-{n}", "attributes": attributes, "taints": []} for n in range(count)]


def test_devices_without_taints_are_shared_by_slices_and_all_keep_their_names_and_taints() -> None:
    slim = slimmer_for(ResourceSlice)
    devices = [*plain(2), {"name": "gpu-9", "taints": [TAINT]}]
    first, second = slim(slice_of("n1", devices)), slim(slice_of("n2", devices))
    assert first.spec.devices[0] is second.spec.devices[0]
    assert first.spec == slice_of("n1", devices).spec
    assert first.metadata.labels is LABELS_NOT_KEPT
    assert (first.metadata.name, first.metadata.uid) == ("n1", "uid-n1")


def test_a_slice_of_128_devices_without_taints_stays_small() -> None:
    slim = slimmer_for(ResourceSlice)
    slim(slice_of("first", plain(128)))
    tracemalloc.start()
    try:
        kept = [slim(slice_of(f"n{n}", plain(128))) for n in range(50)]
        used, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert used / len(kept) < 2500


def test_claims_share_what_is_alike_and_keep_who_owns_and_uses_them() -> None:
    slim = slimmer_for(ResourceClaim)
    first, second = slim(claim_of("a")), slim(claim_of("b"))
    one, other = (c.status.allocation.devices.results[0] for c in (first, second))  # type: ignore[union-attr]  # made allocated
    assert one.tolerations is other.tolerations
    assert (one.driver, one.pool) == ("gpu.example.com", "n1")
    assert one.pool is other.pool
    before = claim_of("a")
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
