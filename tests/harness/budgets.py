"""PodDisruptionBudgets, pods that they guard, and evictions through the API.

No disruption controller runs: the tests write what it would.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from bailiff.cluster import PatchType, Request
from tests.harness.api import BUDGETS, PODS
from tests.harness.objects import condition

if TYPE_CHECKING:
    from tests.harness.api import Bench
    from tests.harness.objects import Object

LABELS = {"app": "web"}


async def running(bench: Bench, name: str = "a", *, ready: bool = True) -> Object:
    """A pod that runs on a node, and is ready or not."""
    pod = await bench.pod(name, node=await bench.node(), labels=LABELS)
    status = condition("Ready", "True" if ready else "False")
    return await bench.set_status(pod, phase="Running", conditions=[status])


async def budget(bench: Bench, name: str = "web", policy: str = "", **status: Any) -> Object:
    """A budget over the pods, with the status that a disruption controller would have written."""
    spec: Object = {"selector": {"matchLabels": LABELS}, "minAvailable": 1}
    if policy:
        spec["unhealthyPodEvictionPolicy"] = policy
    made = await bench.cluster.create(
        BUDGETS, {"metadata": {"name": name}, "spec": spec}, bench.namespace
    )
    counted = {"observedGeneration": 1, "expectedPods": 1, "currentHealthy": 1, "desiredHealthy": 1}
    body = {"status": counted | {"disruptionsAllowed": 0} | status}
    merge = PatchType.MERGE
    await bench.cluster.patch(
        BUDGETS, name, bench.namespace, body, patch_type=merge, subresource="status"
    )
    return made


async def evict(bench: Bench, name: str = "a", **options: Any) -> Object:
    """Evict a pod: the answer's Status."""
    query = {"dryRun": "All"} if options.pop("dry", False) else {}
    body: Object = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
    if options:
        body["deleteOptions"] = options
    path = PODS.path(bench.namespace, name, "eviction")
    request = Request("POST", path, query, json.dumps(body).encode())
    answer: Object = json.loads(await bench.cluster.send(request))
    return answer


async def status_of(bench: Bench, name: str = "web") -> Object:
    """The status of a budget."""
    found = await bench.cluster.get(BUDGETS, name, bench.namespace)
    status: Object = found["status"]
    return status


async def is_spared(bench: Bench, name: str = "a") -> bool:
    """Nothing tells of an eviction."""
    pod = await bench.get(name)
    kinds = {one["type"] for one in pod["status"].get("conditions", [])}
    return "deletionTimestamp" not in pod["metadata"] and "DisruptionTarget" not in kinds
