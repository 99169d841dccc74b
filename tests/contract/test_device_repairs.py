"""What the device-taint-eviction controller gets wrong, row by row: the worker on API servers.

The same rows on virtual time: tests/unit/worker/test_device_repairs.py. A taint without timeAdded,
and an allocation changed in one update, are nothing that an API server lets pass: those rows are
there alone.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from bailiff.decisions import Options
from bailiff.decisions.device_taints import STATUS_PERIOD
from tests.harness.api import PODS, uid_of
from tests.harness.device_objects import (
    CLAIMS,
    SLICES,
    allocation,
    claim,
    device_taint,
    patience,
    slice_of,
    write_claim,
)
from tests.harness.objects import container, pod_object
from tests.harness.working import devices_of, is_going, outlast, running_worker, until

if TYPE_CHECKING:
    from bailiff.worker import Worker
    from tests.harness.api import Bench
    from tests.harness.clocks import JumpingClock
    from tests.harness.gpus import Gpus
    from tests.harness.objects import Object

EXTENDED = "example.com/gpu"


def due(worker: Worker, pod: Object) -> datetime | None:
    """When the worker means to evict a pod; None if it does not."""
    eviction = worker.pending.get(uid_of(pod))
    return None if eviction is None else eviction.deadline


async def reserve(bench: Bench, name: str, pod: Object, allocated: Object) -> None:
    """Give a claim to a pod."""
    consumer = {"resource": "pods", "name": pod["metadata"]["name"], "uid": uid_of(pod)}
    await write_claim(bench, name, allocation=allocated, reservedFor=[consumer])


async def test_level_based_a_claim_that_is_given_up_and_taken_again_counts_as_it_stands(
    bench: Bench, gpus: Gpus, device_worker: Worker
) -> None:
    pod = await gpus.pod("patient", patience(600))
    await gpus.taint(device_taint())
    await until(lambda: due(device_worker, pod))
    await write_claim(bench, "patient", reservedFor=None, allocation=None)
    await until(lambda: due(device_worker, pod) is None)
    # The other device has no taint, the first still has.
    await reserve(bench, "patient", pod, allocation(gpus.name, "gpu-1"))
    # Claims are followed in their order.
    other = await gpus.pod("other", patience(600))
    await until(lambda: due(device_worker, other))
    assert due(device_worker, pod) is None
    await write_claim(bench, "patient", reservedFor=None, allocation=None)
    await reserve(bench, "patient", pod, allocation(gpus.name, tolerations=[patience(900)]))
    await until(lambda: due(device_worker, pod))


async def test_level_based_a_newer_generation_replaces_and_its_end_revives_the_older(
    bench: Bench, gpus: Gpus, device_worker: Worker
) -> None:
    pod = await gpus.pod("patient", patience(600))
    await gpus.taint(device_taint())
    await until(lambda: due(device_worker, pod))
    first = due(device_worker, pod)
    pool = {"name": gpus.name, "generation": 2, "resourceSliceCount": 1}
    newer = slice_of(f"{gpus.name}-newer", nodeName=gpus.name, pool=pool)
    await bench.cluster.create(SLICES, newer, "")
    await until(lambda: due(device_worker, pod) is None)
    await bench.cluster.delete(SLICES, f"{gpus.name}-newer", "")
    await until(lambda: due(device_worker, pod))
    assert due(device_worker, pod) == first


async def test_level_based_a_slice_recreated_for_another_pool_taints_there_alone(
    bench: Bench, gpus: Gpus, device_worker: Worker
) -> None:
    pod = await gpus.pod("patient", patience(600))
    await gpus.taint(device_taint())
    await until(lambda: due(device_worker, pod))
    await bench.cluster.delete(SLICES, gpus.name, "")
    pool = {"name": f"{gpus.name}-other", "generation": 1, "resourceSliceCount": 1}
    await bench.cluster.create(SLICES, slice_of(gpus.name, device_taint(), pool=pool), "")
    await until(lambda: due(device_worker, pod) is None)


async def test_uid_guard_a_pod_recreated_under_the_same_name_is_not_killed(
    bench: Bench, gpus: Gpus, device_worker: Worker, clock: JumpingClock
) -> None:
    old = await gpus.pod("db-0", patience(600))
    await gpus.taint(device_taint())
    await until(lambda: due(device_worker, old))
    await bench.remove("db-0")
    new = await bench.pod("db-0", node=gpus.node)
    await outlast(bench, clock, 600)
    assert uid_of(await bench.get("db-0")) == uid_of(new)
    assert not await is_going(bench, "db-0")


@pytest.mark.parametrize("restored", [False, True], ids=["by default", "setting"])
async def test_ended_pods_are_left_alone_unless_a_setting_says_otherwise(
    bench: Bench, gpus: Gpus, as_worker, restored: bool
) -> None:
    ended = await gpus.pod("ended")
    await bench.set_status(ended, phase="Succeeded")
    await gpus.pod("plain")
    await gpus.taint(device_taint())
    options = Options(evict_ended_pods=restored)
    async with running_worker(as_worker, devices=True, options=options):
        await until(lambda: is_going(bench, "plain"))
        if restored:
            await until(lambda: is_going(bench, "ended"))
    assert await is_going(bench, "ended") == restored


async def test_toleration_seconds_overflow_leads_to_a_far_deadline(
    bench: Bench, gpus: Gpus, device_worker: Worker
) -> None:
    pod = await gpus.pod("patient", patience(9223372037))
    await gpus.taint(device_taint())
    await until(lambda: due(device_worker, pod))
    deadline = due(device_worker, pod)
    assert deadline is not None
    assert deadline > datetime.now(UTC) + timedelta(days=365 * 200)


async def extended_pod(bench: Bench, gpus: Gpus) -> Object:
    """A pod that asks for a device as for memory."""
    wanted = {"requests": {EXTENDED: "1"}, "limits": {EXTENDED: "1"}}
    main = container() | {"resources": wanted}
    body = pod_object("extended", nodeName=gpus.node, containers=[main])
    return await bench.cluster.create(PODS, body, bench.namespace)


@pytest.mark.parametrize("counts", [True, False], ids=["by default", "setting"])
async def test_extended_resource_claims_count_unless_a_setting_says_otherwise(
    bench: Bench, gpus: Gpus, as_worker, clock: JumpingClock, counts: bool
) -> None:
    pod = await extended_pod(bench, gpus)
    mapping = [{"containerName": "main", "resourceName": EXTENDED, "requestName": "one"}]
    told = {"resourceClaimName": "extended", "requestMappings": mapping}
    await bench.set_status(pod, extendedResourceClaimStatus=told)
    await bench.cluster.create(CLAIMS, claim("extended"), bench.namespace)
    await reserve(bench, "extended", pod, allocation(gpus.name))
    await gpus.taint(device_taint())
    options = Options(extended_resource_claims=counts)
    async with running_worker(as_worker, devices=True, clock=clock, options=options) as worker:
        if counts:
            await until(lambda: is_going(bench, "extended"))
        else:
            await until(lambda: devices_of(worker).ready)
            await outlast(bench, clock, 1)
    assert await is_going(bench, "extended") == counts


async def test_rule_status_follows_when_somebody_else_deletes_a_pending_pod(
    bench: Bench, gpus: Gpus, device_worker: Worker, clock: JumpingClock
) -> None:
    pod = await gpus.pod("patient", patience(600))
    await gpus.rule()

    async def reason(wanted: str) -> bool:
        return (await gpus.condition()).get("reason") == wanted

    await until(lambda: reason("PodsPendingEviction"))
    await bench.remove("patient")
    await until(lambda: due(device_worker, pod) is None)
    clock.skip(STATUS_PERIOD.total_seconds())
    await until(lambda: reason("NotStarted"))
    assert (await gpus.condition())["status"] == "False"
