"""A taint that went and came back counts from its return, whatever the node still says of it."""

from __future__ import annotations

import asyncio
import contextlib
import time

import pytest

from bailiff.cluster import PatchType
from bailiff.worker.systems.node_taints.annotator import ANNOTATION
from tests.harness.api import NODES, uid_of
from tests.harness.kube.webhook import Webhook, in_force, keeping_annotations
from tests.harness.objects import KEY, taint, tolerating
from tests.harness.timed_pods import Witness
from tests.harness.working import outlast, running_worker, until

pytestmark = pytest.mark.kube_apiserver

TOLERATED = 600
# Seconds from a taint to its return: the API server dates edits by the second.
STAYED = 2.0


class Returning:
    """Nodes by what befalls them, one pod on each, and when each was last tainted."""

    def __init__(self, bench) -> None:
        self.bench = bench
        self.nodes: dict[str, str] = {}
        self.pods: dict[str, str] = {}
        self.tainted: dict[str, float] = {}

    async def set_up(self, *fates):
        for fate in fates:
            self.nodes[fate] = await self.bench.node()
            pod = await self.bench.pod(node=self.nodes[fate], tolerations=[tolerating(TOLERATED)])
            self.pods[fate] = uid_of(pod)

    async def taint(self, *fates):
        for fate in fates:
            self.tainted[fate] = time.monotonic()
            await self.bench.taint(self.nodes[fate], taint(KEY))

    async def return_taint(self, *fates):
        for fate in fates:
            await self.bench.taint(self.nodes[fate])
        await self.taint(*fates)

    async def noted(self):
        """Whether each node says since when it is tainted."""
        nodes = [await self.bench.cluster.get(NODES, name) for name in self.nodes.values()]
        return all(ANNOTATION in node["metadata"].get("annotations", {}) for node in nodes)


@contextlib.asynccontextmanager
async def watched(cluster):
    witness = Witness(cluster)
    task = asyncio.create_task(witness.run())
    try:
        yield witness
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_a_taint_that_comes_back_counts_from_its_return(
    bench, cluster, clock, kube_apiserver, as_worker
):
    scene = Returning(bench)
    await scene.set_up("seen", "unseen", "clear denied")
    denied = scene.nodes["clear denied"]
    webhook = Webhook(kube_apiserver.tls, keeping_annotations({denied}))

    async def clear():
        body = {"metadata": {"annotations": {ANNOTATION: None}}}
        await cluster.patch(NODES, denied, "", body, patch_type=PatchType.MERGE, dry_run=True)

    async with (
        webhook.registered(cluster, bench.namespace, "UPDATE", "nodes"),
        watched(cluster) as witness,
    ):
        async with running_worker(as_worker, clock=clock) as worker:
            await until(lambda: worker.mirror.synced)
            await scene.taint(*scene.nodes)
            begun = time.monotonic()
            await until(scene.noted)
            await in_force(clear)
            webhook.denied.clear()
        await asyncio.sleep(begun + STAYED - time.monotonic())
        await scene.return_taint("unseen")
        async with running_worker(as_worker, clock=clock) as worker:
            await until(lambda: worker.mirror.synced)
            await scene.return_taint("seen", "clear denied")
            await until(lambda: webhook.denied[denied])
            # What comes after the taints has been seen, and so have they.
            await outlast(bench, clock, 0)
            # What counted from the first taint is over soon, and long before what counts now.
            clock.skip(TOLERATED - STAYED)
            await until(lambda: set(scene.pods.values()) <= witness.left.keys())
    late = {
        fate: witness.left[uid] - scene.tainted[fate] - STAYED for fate, uid in scene.pods.items()
    }
    assert min(late.values()) >= 0, late
