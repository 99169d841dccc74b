"""Annotations that mean nothing, or too much: refused where they are written, and never a fault."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.kinds import INT64_MAX, decode
from bailiff.kinds.quantity import PATTERN as QUANTITY
from bailiff.kinds.quantity import parse_quantity
from bailiff.kinds.stats import Summary
from bailiff_demo import DemoCluster, Fleet, FleetError
from bailiff_demo.stats import check_told, summary_of
from bailiff_demo.stats.annotations import told_bytes
from tests.unit.demo.api import Client, HandClock, Json, node, pod
from tests.unit.demo.pressure_node import (
    CONFIGURATION,
    GI,
    MEMORY,
    PODS,
    SMALL,
    SYSTEM,
    asked_summary,
    round_of,
    still_fleet,
    use,
    victims,
)


@pytest.fixture
async def cluster(clock: HandClock) -> AsyncIterator[DemoCluster]:
    async with still_fleet(clock) as cluster:
        yield cluster


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        (MEMORY, "lots", "must be a quantity such as 100Mi"),
        (MEMORY, "", "must be a quantity such as 100Mi"),
        (MEMORY, "1" * 5000, "must be a quantity such as 100Mi"),
        (MEMORY, "-1Mi", "must not be negative"),
        (SYSTEM, "NaN", "must be a quantity such as 100Mi"),
        (SYSTEM, "-1e999", "must not be negative"),
        (CONFIGURATION, "evictionHard: {}", "must be a JSON object such as"),
        (CONFIGURATION, "[]", "must be a JSON object such as"),
        (CONFIGURATION, "[" * 100_000, "must be a JSON object such as"),
    ],
)
async def test_an_annotation_that_means_nothing_is_refused(
    api: Client, name: str, text: str, why: str
) -> None:
    """On the object and on its status, through which metadata can be written, too."""
    path = f"{PODS}/report" if name == MEMORY else SMALL
    for place in (path, f"{path}/status"):
        body = {"metadata": {"annotations": {name: text}}}
        status = await api.refused("PATCH", place, body, type="application/merge-patch+json")
        assert (status["code"], status["reason"]) == (422, "Invalid")
        assert f"metadata.annotations[{name}]: Invalid value: " in status["message"]
        assert why in status["message"]
    assert victims(await round_of(api)) == []


@pytest.mark.parametrize("huge", ["5Gi", "8Ei", "100000Ei", "1e999"])
async def test_nobody_uses_more_than_there_is(api: Client, huge: str) -> None:
    await use(api, "report", huge)
    await use(api, "search", huge)
    summary = await asked_summary(api)
    assert summary.node.memory is not None
    assert summary.node.memory.available_bytes == 0
    assert summary.node.memory.working_set_bytes == 4 * GI
    used = {one.pod_ref.name: one.memory and one.memory.working_set_bytes for one in summary.pods}
    assert (used["report"], used["search"]) == (4 * GI, 4 * GI)
    assert victims(await round_of(api)) == ["report"]


@pytest.mark.parametrize(
    "status",
    [
        {},
        {"capacity": {}},
        {"capacity": {"memory": "lots"}},
        {"capacity": {"memory": "-4Gi"}},
        {"capacity": {"memory": 7}},
        {"capacity": {"memory": "1e999"}, "allocatable": {"memory": "-1"}},
    ],
)
def test_whatever_is_stored_there_is_a_summary(clock: HandClock, status: Json) -> None:
    """Past all rules, as an older demo may have stored it."""
    told = {SYSTEM: "no quantity", CONFIGURATION: "no JSON"}
    found = node("n") | {"status": status}
    found["metadata"]["annotations"] = told
    odd = pod("odd", volumes=[{"name": "v"}]) | {"status": {"phase": "Running"}}
    odd["metadata"] |= {"uid": "u", "annotations": {MEMORY: "-3Gi"}}
    summary = decode(json.dumps(summary_of(found, [odd], clock.now())).encode(), Summary)
    assert summary.node.memory is not None
    assert summary.node.memory.working_set_bytes == 0
    assert [one.name for one in summary.pods[0].volume] == ["v"]


@pytest.mark.parametrize("capacity", [{"memory": "lots"}, {"memory": True}, {"memory": []}, "4Gi"])
async def test_a_capacity_that_is_no_quantity_is_refused(api: Client, capacity: Any) -> None:
    body = {"status": {"capacity": capacity}}
    status = await api.refused(
        "PATCH", f"{SMALL}/status", body, type="application/merge-patch+json"
    )
    assert status["code"] == 400


def test_a_fleet_with_such_an_annotation_says_so() -> None:
    told = json.dumps({"name": "n", "annotations": {SYSTEM: "lots"}})
    fleet = Fleet.parse(f"{{apiVersion: v1, kind: Node, metadata: {told}}}".encode())
    with pytest.raises(FleetError, match=r"Node n: .*demo\.bailiff\.dev/system-memory"):
        DemoCluster(lively=False, fleet=fleet)


@given(text=st.text() | st.from_regex(QUANTITY, fullmatch=True))
def test_what_is_taken_is_a_quantity_and_fits_the_node(text: str) -> None:
    """Whatever somebody writes: it is refused with a reason, or it is so many bytes."""
    causes = check_told({MEMORY: text})
    used = told_bytes({"metadata": {"annotations": {MEMORY: text}}}, MEMORY)
    assert 0 <= used <= INT64_MAX
    if causes:
        assert used == 0
        assert causes[0].field == f"metadata.annotations[{MEMORY}]"
    else:
        assert used == min(parse_quantity(text).value, INT64_MAX)
