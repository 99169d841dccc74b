"""The worker and the taints of devices on an API server, the same on both."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from bailiff.decisions.device_taints import STATUS_PERIOD
from tests.harness.api import uid_of
from tests.harness.device_objects import (
    BROKEN,
    DRIVER,
    GROUP,
    RULES,
    RULES_VERSION,
    device_taint,
    patience,
)
from tests.harness.objects import KEY, taint
from tests.harness.working import (
    EVENTS,
    deletions,
    devices_of,
    is_going,
    messages,
    outlast,
    running_worker,
    until,
)

if TYPE_CHECKING:
    from bailiff.worker import Worker
    from tests.harness.api import Bench
    from tests.harness.clocks import JumpingClock
    from tests.harness.gpus import Gpus

# Seconds after which a rule's status is written again at the latest.
NEXT_STATUS = STATUS_PERIOD.total_seconds()
REASON = "DeviceTaintManagerEviction"


async def test_a_slice_s_taint_evicts_with_condition_event_and_metric(
    bench: Bench, gpus: Gpus, device_worker: Worker
) -> None:
    pod = await gpus.pod("plain")
    await gpus.pod("stoic", patience())
    await gpus.taint(device_taint())
    await until(lambda: is_going(bench, "plain"))
    found = await bench.get("plain")
    mark = next(c for c in found["status"]["conditions"] if c["type"] == "DisruptionTarget")
    assert (mark["status"], mark["reason"]) == ("True", "DeletionByDeviceTaintManager")
    assert mark["message"] == "Device Taint manager: deleting due to NoExecute taint"
    await until(lambda: messages(bench, pod, REASON))
    (message,) = await messages(bench, pod, REASON)
    why = f"taint {BROKEN}=yes:NoExecute of device {DRIVER}/{gpus.name}/gpu-0 is not tolerated"
    assert message.startswith(f"Marking for deletion Pod {bench.namespace}/plain: {why}")
    listing = await bench.cluster.list(EVENTS, namespace=bench.namespace)
    about = [one for one in listing.items if one["involvedObject"]["uid"] == uid_of(pod)]
    assert {one["source"]["component"] for one in about} == {"device-taint-eviction-controller"}
    assert deletions(device_worker) == {"node-taints": 0, "device-taints": 1}
    assert not await is_going(bench, "stoic")


async def test_seconds_are_counted_from_time_added(
    bench: Bench, gpus: Gpus, device_worker: Worker
) -> None:
    await gpus.pod("patient", patience(3))
    began = time.time()
    await gpus.taint(device_taint())
    await until(lambda: is_going(bench, "patient"))
    # The API server writes timeAdded, in whole seconds.
    assert time.time() - began > 2
    # Seconds that have passed already are not given again.
    await gpus.pod("late", patience(600))
    long_ago = (datetime.now(UTC) - timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    await gpus.taint(device_taint(timeAdded=long_ago))
    await until(lambda: is_going(bench, "late"))


async def test_a_rule_evicts_and_tells_how_far_it_is(
    bench: Bench, gpus: Gpus, device_worker: Worker, clock: JumpingClock
) -> None:
    await gpus.pod("plain")
    await gpus.pod("patient", patience(600))
    await gpus.pod("stoic", patience())
    made = await gpus.rule()
    await until(gpus.condition)
    first = await gpus.condition()
    assert (first["status"], first["reason"]) == ("True", "PodsPendingEviction")
    assert first["message"] == "2 pods need to be evicted in 1 namespace."
    assert first["observedGeneration"] == made["metadata"]["generation"]
    await until(lambda: is_going(bench, "plain"))
    clock.skip(600)
    await until(lambda: is_going(bench, "patient"))
    clock.skip(NEXT_STATUS)
    await until(gpus.completed)
    last = await gpus.condition()
    assert last["status"] == "False"
    assert last["message"] == "2 pods evicted since starting the controller."
    assert not await is_going(bench, "stoic")
    managers = {
        entry["manager"]: (entry["operation"], entry["apiVersion"])
        for entry in (await bench.cluster.get(RULES, gpus.name))["metadata"]["managedFields"]
        if entry.get("subresource") == "status"
    }
    written = ("Apply", f"{GROUP}/{RULES_VERSION}")
    assert managers == {"device-taint-eviction-controller": written}


async def test_a_rule_without_effect_reports_numbers_and_evicts_nothing(
    bench: Bench, gpus: Gpus, device_worker: Worker, clock: JumpingClock
) -> None:
    await gpus.pod("plain")
    await until(lambda: len(devices_of(device_worker).index.claims))
    await gpus.rule("None")
    await until(gpus.condition)
    found = await gpus.condition()
    assert (found["status"], found["reason"]) == ("False", "NoEffect")
    assert found["message"].startswith(
        "2 published devices selected. 1 allocated device selected. "
        "1 pod would be evicted in 1 namespace if the effect was NoExecute."
    )
    await outlast(bench, clock, 1)
    assert not await is_going(bench, "plain")


@pytest.mark.parametrize("by", ["slice", "rule"])
async def test_taking_the_taint_away_in_time_cancels(
    bench: Bench, gpus: Gpus, device_worker: Worker, clock: JumpingClock, by: str
) -> None:
    pod = await gpus.pod("patient", patience(600))
    await (gpus.taint(device_taint()) if by == "slice" else gpus.rule())
    await until(lambda: uid_of(pod) in {one.uid for one in device_worker.pending})
    if by == "slice":
        await gpus.taint()
    else:
        await bench.cluster.delete(RULES, gpus.name, "")
    await until(lambda: messages(bench, pod, REASON))
    (message,) = await messages(bench, pod, REASON)
    assert message.startswith("Cancelling deletion of Pod ")
    await outlast(bench, clock, 600)
    assert not await is_going(bench, "patient")


async def test_a_restart_in_the_middle_keeps_the_deadline_and_the_rule_s_status(
    bench: Bench, gpus: Gpus, as_worker, clock: JumpingClock
) -> None:
    pod = await gpus.pod("patient", patience(600))
    async with running_worker(as_worker, devices=True, clock=clock) as worker:
        await gpus.rule()
        await until(lambda: uid_of(pod) in {one.uid for one in worker.pending})
        (first,) = worker.pending
        await until(gpus.condition)
    assert (await gpus.condition())["reason"] == "PodsPendingEviction"
    async with running_worker(as_worker, devices=True, clock=clock) as worker:
        await until(lambda: uid_of(pod) in {one.uid for one in worker.pending})
        (second,) = worker.pending
        assert second.deadline == first.deadline
        assert not await is_going(bench, "patient")
        clock.skip(600)
        await until(lambda: is_going(bench, "patient"))
        clock.skip(NEXT_STATUS)
        await until(gpus.completed)


async def test_both_systems_at_once_the_earlier_wins_and_both_are_told(
    bench: Bench, gpus: Gpus, device_worker: Worker
) -> None:
    pod = await gpus.pod("plain", patience(600))
    await gpus.taint(device_taint())
    await until(lambda: uid_of(pod) in {one.uid for one in device_worker.pending})
    await bench.taint(gpus.node, taint(KEY))
    await until(lambda: is_going(bench, "plain"))
    await until(lambda: messages(bench, pod))
    (message,) = await messages(bench, pod)
    assert f"taint {KEY}:NoExecute is not tolerated" in message
    assert f"taint {BROKEN}=yes:NoExecute of device" in message
