"""The worker of these tests has the chart's rights, and admission holds it to its work."""

from __future__ import annotations

import pytest

from bailiff.cluster import AdmissionDeniedError, ForbiddenError
from bailiff.worker.systems.node_taints.annotator import ANNOTATION
from tests.harness.api import NODES, PODS
from tests.harness.objects import condition, taint

pytestmark = pytest.mark.kube_apiserver


async def test_the_worker_may_annotate_a_node_and_not_taint_it(as_worker, bench):
    node = await bench.node()
    await as_worker.patch(NODES, node, "", {"metadata": {"annotations": {ANNOTATION: "x"}}})
    with pytest.raises(AdmissionDeniedError, match="the spec of a node"):
        await as_worker.patch(NODES, node, "", {"spec": {"taints": [taint("evil")]}})


async def test_the_worker_may_not_write_pods(as_worker, bench):
    await bench.pod("web")
    with pytest.raises(ForbiddenError, match="cannot patch"):
        await as_worker.patch(PODS, "web", bench.namespace, {"metadata": {"labels": {"a": "b"}}})
    address = {"status": {"podIP": "10.9.9.9", "podIPs": [{"ip": "10.9.9.9"}]}}
    with pytest.raises(AdmissionDeniedError, match="the status of a pod"):
        await as_worker.patch(PODS, "web", bench.namespace, address, subresource="status")


async def test_what_is_very_large_is_still_annotated_and_evicted(as_worker, bench):
    """Expressions of admission have a budget, and an object that exceeds it is refused."""
    node = await bench.node()
    marks = {f"example.com/{n}": "x" * 1200 for n in range(200)}
    for manager in range(40):
        label = {"metadata": {"labels": {f"example.com/{manager}": "x"}}}
        await bench.cluster.patch(NODES, node, "", label, field_manager=f"manager-{manager}")
    images = [
        {"names": [f"{'i' * 200}:{n}-{k}" for k in range(5)], "sizeBytes": n} for n in range(500)
    ]
    await bench.cluster.patch(NODES, node, "", {"metadata": {"annotations": marks}})
    await bench.cluster.patch(NODES, node, "", {"status": {"images": images}}, subresource="status")
    await as_worker.patch(NODES, node, "", {"metadata": {"annotations": {ANNOTATION: "x"}}})
    pod = await bench.pod("web", annotations=marks, node=node)
    conditions = [condition(f"example.com/{n}", message="m" * 1000) for n in range(100)]
    await bench.set_status(pod, phase="Running", conditions=conditions)
    going = condition("DisruptionTarget", reason="DeletionByTaintManager")
    await as_worker.patch(
        PODS, "web", bench.namespace, {"status": {"conditions": [going]}}, subresource="status"
    )
