"""A webhook may deny a delete with any code: each is a denial, and each is outlived."""

from __future__ import annotations

import pytest

from tests.harness.api import PODS
from tests.harness.kube.webhook import Webhook, as_if_gone, in_force, with_code
from tests.harness.objects import KEY, taint
from tests.harness.working import is_going, running_worker, skipping, until

pytestmark = pytest.mark.kube_apiserver

DENIALS = {f"denied-{code}": with_code(code) for code in (400, 403, 404, 409, 422, 500)}
AS_IF_GONE = "as-if-gone"
# Seconds; whoever was denied has tried again by then, and what was taken for gone is looked at.
NEXT_TRY = 60


async def test_a_denial_with_any_code_is_outlived(api, bench, clock, kube_apiserver, as_worker):
    def deny(review):
        if review["namespace"] != bench.namespace:
            return None
        name = review["name"]
        return as_if_gone(review) if name == AS_IF_GONE else DENIALS.get(name)

    names = {*DENIALS, AS_IF_GONE}
    node = await bench.node()
    for name in names:
        await bench.pod(name, node=node)
    webhook = Webhook(kube_apiserver.tls, deny)

    async def denied_at_all():
        await bench.cluster.delete(PODS, AS_IF_GONE, bench.namespace, dry_run=True)

    async def all_going():
        return all([await is_going(bench, name) for name in names])

    async with webhook.registered(bench.cluster, bench.namespace, "DELETE", "pods"):
        await in_force(denied_at_all)
        webhook.denied.clear()
        async with running_worker(as_worker, clock=clock):
            await bench.taint(node, taint(KEY))
            await until(lambda: set(webhook.denied) == names)
            assert not any([await is_going(bench, name) for name in names])
            webhook.judge = lambda review: None
            await skipping(clock, NEXT_TRY, all_going)
