"""Claims, their templates and classes, and the pods that use them, on an API server."""

from __future__ import annotations

import pytest

from bailiff import cluster as k8s
from bailiff.cluster import PatchType
from tests.harness.api import PODS, Bench, version_of
from tests.harness.device_objects import (
    CLAIMS,
    CLASSES,
    DRIVER,
    TEMPLATES,
    allocation,
    claim,
    names,
    write_claim,
)
from tests.harness.objects import container

pytestmark = pytest.mark.parity


async def test_a_claim_is_allocated_and_reserved(bench: Bench) -> None:
    cluster, namespace = bench.cluster, bench.namespace
    made = await cluster.create(CLAIMS, claim(), namespace)
    exactly = made["spec"]["devices"]["requests"][0]["exactly"]
    assert (exactly["allocationMode"], exactly["count"]) == ("ExactCount", 1)
    assert "generation" not in made["metadata"]
    consumer = {"resource": "pods", "name": "a", "uid": "1"}
    with pytest.raises(k8s.InvalidError):
        await write_claim(bench, "gpu", reservedFor=[consumer])
    tolerations = [{"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 10}]
    given = allocation("pool", tolerations=tolerations)
    after = await write_claim(bench, "gpu", allocation=given, reservedFor=[consumer])
    assert after["status"] == {"allocation": given, "reservedFor": [consumer]}
    with pytest.raises(k8s.InvalidError) as caught:
        await write_claim(bench, "gpu", allocation=allocation("other"))
    assert names(caught.value, "status.allocation")
    freed = await write_claim(bench, "gpu", allocation=None, reservedFor=None)
    assert not freed.get("status")


async def test_what_is_claimed_is_fixed(bench: Bench) -> None:
    made = await bench.cluster.create(CLAIMS, claim(), bench.namespace)
    with pytest.raises(k8s.InvalidError) as caught:
        await bench.cluster.patch(
            CLAIMS,
            "gpu",
            bench.namespace,
            {"spec": {"devices": {"requests": []}}},
            patch_type=PatchType.MERGE,
        )
    assert names(caught.value, "spec")
    now = await bench.cluster.get(CLAIMS, "gpu", bench.namespace)
    assert version_of(now) == version_of(made)


async def test_users_of_a_claim_merge_by_uid(bench: Bench) -> None:
    await bench.cluster.create(CLAIMS, claim(), bench.namespace)
    one = {"resource": "pods", "name": "a", "uid": "1"}
    await write_claim(bench, "gpu", allocation=allocation("pool"), reservedFor=[one])
    other = one | {"name": "b", "uid": "2"}
    patch = {"status": {"reservedFor": [other]}}
    after = await bench.cluster.patch(CLAIMS, "gpu", bench.namespace, patch, subresource="status")
    users = sorted(user["name"] for user in after["status"]["reservedFor"])
    assert users == ["a", "b"]


async def test_templates_and_classes(bench: Bench, name: str) -> None:
    template = {"metadata": {"name": "gpu"}, "spec": {"spec": claim()["spec"]}}
    made = await bench.cluster.create(TEMPLATES, template, bench.namespace)
    assert made["spec"]["spec"]["devices"]["requests"][0]["exactly"]["count"] == 1
    expression = f'device.driver == "{DRIVER}"'
    body = {
        "metadata": {"name": name},
        "spec": {"selectors": [{"cel": {"expression": expression}}]},
    }
    assert (await bench.cluster.create(CLASSES, body, ""))["metadata"]["generation"] == 1


async def test_a_pod_keeps_its_claims(bench: Bench) -> None:
    claims = [{"name": "gpu", "resourceClaimName": "gpu"}]
    body = {
        "metadata": {"name": "a"},
        "spec": {"containers": [container()], "resourceClaims": claims},
    }
    pod = await bench.cluster.create(PODS, body, bench.namespace)
    assert pod["spec"]["resourceClaims"] == claims
    statuses = [{"name": "gpu", "resourceClaimName": "gpu"}]
    after = await bench.set_status(pod, resourceClaimStatuses=statuses)
    assert after["status"]["resourceClaimStatuses"] == statuses
    after = await bench.set_status(pod, phase="Running")
    assert after["status"]["resourceClaimStatuses"] == statuses
