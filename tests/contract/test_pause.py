"""The pause in a ConfigMap, on both API servers: by `bailiff pause`, by kubectl, by two at once."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from bailiff.clock import SystemClock
from bailiff.cluster import CONFIG_MAPS, ConflictError, NotFoundError, PatchType
from bailiff.decisions.policies import PauseNotice
from bailiff.worker import PausedAlreadyError, PauseSwitch
from tests.harness.objects import config_map
from tests.harness.pausing import WHOLE, bailiff

NAME = "bailiff-pause"
MOVING = PauseNotice(by="anna", reason="moving", since=datetime(2026, 1, 1, tzinfo=UTC))
SOON = PauseNotice(reason="brief", until=datetime.now(UTC) + timedelta(hours=1))
OVER = PauseNotice(reason="past", until=datetime(2026, 1, 1, tzinfo=UTC))


@pytest.fixture
def switch(cluster, bench):
    return PauseSwitch(cluster, SystemClock(), bench.namespace, NAME)


async def put(bench, **data):
    """As `kubectl create configmap` does."""
    return await bench.cluster.create(WHOLE, config_map(NAME, **data), bench.namespace)


async def data(bench):
    found = await bench.cluster.get(WHOLE, NAME, bench.namespace)
    return found.get("data") or {}


async def test_pause_and_resume(switch):
    assert await switch.read() is None
    await switch.pause(MOVING)
    assert await switch.read() == MOVING
    assert await switch.resume() == MOVING
    assert await switch.read() is None
    assert await switch.resume() is None
    await switch.pause(SOON)
    assert await switch.read() == SOON


async def test_resuming_what_was_never_paused_makes_nothing(switch, bench):
    assert await switch.resume() is None
    with pytest.raises(NotFoundError):
        await data(bench)


async def test_free_text_of_a_person_is_a_pause(switch, bench):
    await put(bench, paused="moving the database, ask Anna")
    assert (await switch.read()).reason == "moving the database, ask Anna"
    assert (await switch.resume()).reason == "moving the database, ask Anna"
    assert await switch.read() is None


async def test_what_else_stands_there_is_left_alone(switch, bench):
    await put(bench, notes="ours", paused="true")
    await switch.pause(MOVING, replace=True)
    assert (await data(bench))["notes"] == "ours"
    await switch.resume()
    assert await data(bench) == {"notes": "ours"}


async def test_a_pause_in_force_is_not_overwritten_unless_wanted(switch):
    await switch.pause(MOVING)
    with pytest.raises(PausedAlreadyError, match="anna"):
        await switch.pause(SOON)
    assert await switch.read() == MOVING
    await switch.pause(SOON, replace=True)
    assert await switch.read() == SOON


async def test_a_pause_that_is_over_is_in_nobodys_way(switch):
    await switch.pause(OVER)
    assert await switch.read() is None
    await switch.pause(MOVING)
    assert await switch.read() == MOVING


async def test_of_many_who_pause_at_once_one_does(cluster, bench):
    switches = [PauseSwitch(cluster, SystemClock(), bench.namespace, NAME) for _ in range(5)]
    pauses = (
        switch.pause(PauseNotice(by=f"person {number}", reason="mine"))
        for number, switch in enumerate(switches)
    )
    results = await asyncio.gather(*pauses, return_exceptions=True)
    refused = [result for result in results if isinstance(result, PausedAlreadyError)]
    assert (results.count(None), len(refused)) == (1, 4)
    winner = results.index(None)
    assert await switches[0].read() == PauseNotice(by=f"person {winner}", reason="mine")


async def test_somebody_faster_is_seen_before_anything_is_written(switch, bench):
    """Between our look and our write the ConfigMap changes, appears, or goes."""
    cluster, look = bench.cluster, switch._get
    interruptions = [
        lambda: put(bench, paused=""),
        lambda: cluster.delete(WHOLE, NAME, bench.namespace),
        lambda: put(bench, other="1"),
        lambda: cluster.patch(
            WHOLE, NAME, bench.namespace, {"data": {"x": "1"}}, patch_type=PatchType.MERGE
        ),
    ]

    async def look_and_be_interrupted():
        found = await look()
        if interruptions:
            await interruptions.pop(0)()
        return found

    switch._get = look_and_be_interrupted
    await switch.pause(MOVING)
    assert interruptions == []
    assert await switch.read() == MOVING
    assert (await data(bench)).keys() == {"paused", "other", "x"}


async def test_whoever_is_always_faster_wins(switch, bench):
    await put(bench)
    look, count = switch._get, 0

    async def look_and_be_interrupted():
        nonlocal count
        found = await look()
        count += 1
        body = {"data": {"x": str(count)}}
        await bench.cluster.patch(
            CONFIG_MAPS, NAME, bench.namespace, body, patch_type=PatchType.MERGE
        )
        return found

    switch._get = look_and_be_interrupted
    with pytest.raises(ConflictError):
        await switch.pause(MOVING)
    assert count == 5


async def test_a_namespace_that_is_not_there_is_named(cluster):
    switch = PauseSwitch(cluster, SystemClock(), "no-such-namespace", NAME)
    assert await switch.read() is None
    with pytest.raises(NotFoundError, match="no-such-namespace"):
        await switch.pause(MOVING)


@pytest.mark.process
async def test_the_commands(api, bench, switch):
    where = ("-n", bench.namespace)
    looked = f"looked at: ConfigMap {bench.namespace}/{NAME}"
    none = f"not paused\n{looked} does not exist\n"
    assert await bailiff(api, "paused", *where) == (0, none)
    gone = "looked at: ConfigMap no-such-namespace/bailiff-pause does not exist, nor does its name"
    assert gone in (await bailiff(api, "paused", "-n", "no-such-namespace"))[1]
    code, said = await bailiff(
        api, "pause", *where, "--reason", "moving", "--by", "anna", "--for", "2h"
    )
    assert code == 0
    said, obeyed_by = said.splitlines(keepends=True)
    assert said.startswith("paused by anna since ")
    assert f"only if their policies name {bench.namespace}/{NAME}" in obeyed_by
    notice = await switch.read()
    assert notice.until - notice.since == timedelta(hours=2)
    assert (await bailiff(api, "paused", *where))[1] == f"{said}{obeyed_by}{looked}\n"
    assert (await bailiff(api, "pause", *where, "--reason", "mine"))[0] == 1
    assert await bailiff(api, "resume", *where) == (0, f"resumed; was {said}{looked}\n")
    assert await switch.read() is None
    code, said = await bailiff(api, "pause", "-n", "no-such-namespace", "--reason", "x")
    assert code == 1
    assert "no-such-namespace" in said
