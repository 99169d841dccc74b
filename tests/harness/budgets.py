"""PodDisruptionBudgets, and pods that they guard.

No disruption controller runs: the tests write what it would.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bailiff.cluster import PatchType
from tests.harness.api import BUDGETS
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
