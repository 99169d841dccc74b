"""The limits beyond which objects are left out are those of a real API server, exactly.

Where one of them grows with a release of Kubernetes a test here fails, before the worker leaves
out what that release stores.
"""

from __future__ import annotations

import contextlib
from typing import Any

import pytest

from bailiff.cluster import NODES, InvalidError, NotFoundError, PatchType
from bailiff.cluster.limits import (
    MAX_ANNOTATIONS,
    MAX_DEVICE_TAINTS,
    MAX_DEVICES,
    MAX_RESERVED_FOR,
    MAX_RESULTS,
    MAX_RULE_CONDITIONS,
)
from bailiff.kinds import LABEL_ZONE
from tests.harness.device_objects import (
    CLAIMS,
    DRIVER,
    RULES,
    SLICES,
    claim,
    device_taint,
    rule,
    slice_of,
    write_claim,
)

pytestmark = pytest.mark.kube_apiserver


@pytest.fixture
async def create(bench):
    """Create a slice or a rule for the time of a test."""
    made = []

    async def _create(resource, body):
        made.append((resource, body["metadata"]["name"]))
        return await bench.cluster.create(resource, body)

    yield _create
    for resource, name in made:
        with contextlib.suppress(NotFoundError):
            await bench.cluster.delete(resource, name)


def devices(number: int) -> list[dict[str, Any]]:
    return [{"name": f"gpu-{index}"} for index in range(number)]


def taints(number: int) -> list[dict[str, str]]:
    return [device_taint("NoSchedule", key=f"example.com/t{index}") for index in range(number)]


async def test_devices_of_a_slice(bench, create):
    name = bench.namespace
    await create(SLICES, slice_of(name, devices=devices(MAX_DEVICES)))
    with pytest.raises(InvalidError, match="devices"):
        await create(SLICES, slice_of(f"{name}-b", devices=devices(MAX_DEVICES + 1)))


async def test_taints_of_a_device(bench, create):
    name = bench.namespace
    await create(SLICES, slice_of(name, *taints(MAX_DEVICE_TAINTS)))
    with pytest.raises(InvalidError, match="taints"):
        await create(SLICES, slice_of(f"{name}-b", *taints(MAX_DEVICE_TAINTS + 1)))


async def test_generations_are_not_negative(bench, create):
    pool = {"name": bench.namespace, "generation": -1, "resourceSliceCount": 1}
    with pytest.raises(InvalidError, match="generation"):
        await create(SLICES, slice_of(bench.namespace, pool=pool))


async def test_results_of_a_claim(bench):
    await bench.cluster.create(CLAIMS, claim(), bench.namespace)

    def allocated(number: int) -> dict[str, Any]:
        result = {"request": "one", "driver": DRIVER, "pool": "p"}
        results = [result | {"device": f"gpu-{index}"} for index in range(number)]
        return {"devices": {"results": results}}

    with pytest.raises(InvalidError, match="results"):
        await write_claim(bench, "gpu", allocation=allocated(MAX_RESULTS + 1))
    await write_claim(bench, "gpu", allocation=allocated(MAX_RESULTS))


async def test_consumers_of_a_claim(bench):
    await bench.cluster.create(CLAIMS, claim(), bench.namespace)
    result = {"request": "one", "driver": DRIVER, "pool": "p", "device": "gpu-0"}
    allocation = {"devices": {"results": [result]}}

    def reserved(number: int) -> list[dict[str, str]]:
        return [{"resource": "pods", "name": f"p{i}", "uid": f"u{i}"} for i in range(number)]

    await write_claim(bench, "gpu", allocation=allocation, reservedFor=reserved(MAX_RESERVED_FOR))
    with pytest.raises(InvalidError, match="reservedFor"):
        await write_claim(bench, "gpu", reservedFor=reserved(MAX_RESERVED_FOR + 1))


async def test_conditions_of_a_rule(bench, create):
    name = bench.namespace
    await create(RULES, rule(name, "None"))

    async def write(number: int) -> None:
        made = {
            "status": "True",
            "reason": "R",
            "message": "",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }
        conditions = [made | {"type": f"T{index}"} for index in range(number)]
        body = {"status": {"conditions": conditions}}
        await bench.cluster.patch(
            RULES, name, "", body, patch_type=PatchType.MERGE, subresource="status"
        )

    await write(MAX_RULE_CONDITIONS)
    with pytest.raises(InvalidError, match="conditions"):
        await write(MAX_RULE_CONDITIONS + 1)


async def test_annotations_and_the_zone_of_a_node(bench):
    node = await bench.node()

    async def write(**metadata: Any) -> None:
        body = {"metadata": metadata}
        await bench.cluster.patch(NODES, node, "", body, patch_type=PatchType.MERGE)

    # Keys count, too, so it takes a little less.
    await write(annotations={"bailiff.dev/acknowledged-taints": "x" * (MAX_ANNOTATIONS - 1000)})
    with pytest.raises(InvalidError, match="annotations"):
        await write(annotations={"bailiff.dev/acknowledged-taints": "x" * MAX_ANNOTATIONS})
    await write(labels={LABEL_ZONE: "z" * 63})
    with pytest.raises(InvalidError, match="label"):
        await write(labels={LABEL_ZONE: "z" * 64})
