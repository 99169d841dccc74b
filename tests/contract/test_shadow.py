"""`bailiff worker --shadow` beside a real kube-controller-manager: the report is what happened.

The in-tree controller evicts as it does everywhere; the shadow's requests go by a proxy, which saw
no write.
"""

from __future__ import annotations

import asyncio
import json
import sys
from functools import partial

import pytest

from bailiff.worker.systems.node_taints.annotator import ANNOTATION
from tests.harness.api import NODES, PODS
from tests.harness.between import go_between
from tests.harness.in_tree import evicts, kube_controller_manager
from tests.harness.kube.programs import Program, free_port
from tests.harness.objects import KEY, taint, tolerating
from tests.harness.status import StatusPages
from tests.harness.working import is_going, retolerate, until

pytestmark = [pytest.mark.kube_apiserver, pytest.mark.process]

# Seconds until the timers that upstream does not move; well above the 5 s that count as agreed.
LONG = 8


@pytest.fixture
async def in_tree(api, bench, tmp_path):
    """kube-controller-manager, at work."""
    async with kube_controller_manager(api, tmp_path) as program:
        await evicts(program, bench)
        yield program


class Shadow(StatusPages):
    """The pages of a running shadow."""

    async def looks(self) -> bool:
        """Whether it has taken in what is there."""
        status, body = await self.tells("/v1/shadow")
        return status == 200 and json.loads(body)["since"] is not None

    async def counts(self):
        found = (await self.page("/v1/shadow"))["counts"]
        return {result: count for result, count in found.items() if count}


@pytest.fixture
async def shadow(in_tree, api, tmp_path):
    """`bailiff worker --shadow`, ready, and the proxy that it goes by."""
    port = free_port()
    async with go_between(api, tmp_path) as (proxy, _):
        flags = ["--shadow", f"--status-port={port}"]
        command = [
            "-m",
            "bailiff",
            "worker",
            f"--kubeconfig={proxy.kubeconfig(api.worker_kubeconfig)}",
        ]
        program = Program("shadow", [*command, *flags], tmp_path, executable=sys.executable)
        program.start()
        try:
            shadow = Shadow(port)
            await until(shadow.looks)
            yield shadow, proxy
        finally:
            await asyncio.to_thread(program.stop)


async def test_what_the_in_tree_controller_does_is_reported_as_what_it_is(api, bench, shadow):
    pages, proxy = shadow
    node = await bench.node()
    for name, seconds in {"patient": 3, "shortened": LONG, "lengthened": LONG, "lost": 60}.items():
        await bench.pod(name, node=node, tolerations=[tolerating(seconds)])
    await bench.pod("stoic", node=node, tolerations=[tolerating()])
    await bench.pod("plain", node=node)
    await bench.finished_pod(node=node)
    await bench.taint(node, taint(KEY))
    await until(lambda: is_going(bench, "plain"))
    # Upstream has set its timers. It keeps them, and we do not.
    await asyncio.sleep(1)
    await retolerate(bench, "shortened", 1)
    await retolerate(bench, "lengthened", 3600)
    await bench.cluster.delete(PODS, "lost", bench.namespace)
    for name in ("patient", "lengthened", "shortened"):
        await until(partial(is_going, bench, name))

    async def complete():
        return sum((await pages.counts()).values()) == 5

    await until(complete)
    assert await pages.counts() == {"agreed": 2, "late": 1, "early": 1, "extra": 1}
    told = {
        one["pod"].partition("/")[2]: one
        for one in (await pages.page("/v1/shadow"))["disagreements"]
    }
    reasons = {(one["result"], one["reason"]) for one in told.values()}
    assert reasons == {
        ("late", "TolerationExpired"),
        ("early", "ToleratedUntil"),
        ("extra", "PodFinished"),
    }
    assert told["shortened"]["seconds"] > 5
    # Upstream kept to its 8 s where 3600 were meant by then.
    assert 3500 < told["lengthened"]["seconds"] < 3600
    assert (await pages.tells("/metrics"))[1].count(
        'bailiff_worker_shadow_pods_total{result="'
    ) == 4
    # Nothing was written.
    assert {one.method for one in proxy.asked} == {"GET"}
    found = await bench.cluster.get(NODES, node)
    assert ANNOTATION not in found["metadata"].get("annotations", {})
    assert not await is_going(bench, "stoic")
