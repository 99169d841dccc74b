"""How a zone stands by how many of its nodes are ready, and how fast they are given up there."""

from __future__ import annotations

import msgspec
import pytest

from bailiff.decisions.node_loss.facts import ZoneCount
from bailiff.decisions.node_loss.settings import LostZone, NodeLossSettings
from bailiff.decisions.node_loss.zones import (
    EXCLUDED,
    ZoneState,
    all_down,
    count_zones,
    pace_of,
    zone_state,
)
from bailiff.kinds import Node

DEFAULTS = NodeLossSettings()
NORMAL, PARTIAL, FULL = ZoneState.NORMAL, ZoneState.PARTIAL, ZoneState.FULL


# As ComputeZoneState in pkg/controller/nodelifecycle/node_lifecycle_controller.go has it.
@pytest.mark.parametrize(
    ("ready", "not_ready", "state"),
    [
        (0, 0, NORMAL),
        (3, 0, NORMAL),
        (0, 1, FULL),
        (0, 100, FULL),
        (1, 2, NORMAL),
        (1, 3, PARTIAL),
        (2, 3, PARTIAL),
        (45, 55, PARTIAL),
        (46, 54, NORMAL),
        (3, 3, NORMAL),
    ],
)
def test_how_a_zone_stands(ready, not_ready, state):
    assert zone_state(ZoneCount(ready=ready, not_ready=not_ready), DEFAULTS) is state


@pytest.mark.parametrize(
    ("ready", "not_ready", "rate", "reason"),
    [
        (9, 1, 0.1, ""),
        (2, 3, 0.0, "ZoneStopped"),
        (20, 30, 0.0, "ZoneStopped"),
        (20, 31, 0.01, ""),
    ],
)
def test_a_partial_disruption_slows_a_large_zone_and_stops_a_small_one(
    ready, not_ready, rate, reason
):
    zone = ZoneCount(name="a", ready=ready, not_ready=not_ready)
    pace = pace_of("a", (zone,), DEFAULTS)
    assert (pace.rate, pace.reason) == (rate, reason)


def test_a_zone_without_a_ready_node_stops_and_is_upstreams_by_a_setting():
    zones = (ZoneCount(name="a", not_ready=5), ZoneCount(name="b", ready=1))
    assert pace_of("a", zones, DEFAULTS).reason == "ZoneDown"
    upstream = NodeLossSettings(lost_zone=LostZone.NORMAL)
    assert pace_of("a", zones, upstream) == (0.1, "", "")


def test_where_no_zone_has_a_ready_node_nobody_goes_whatever_is_set():
    zones = (ZoneCount(name="a", not_ready=5), ZoneCount(name="b", not_ready=1))
    upstream = NodeLossSettings(lost_zone=LostZone.NORMAL)
    assert all_down(zones, upstream)
    assert pace_of("a", zones, upstream).reason == "AllZonesDown"


def test_nothing_is_held_up_where_nobody_knows():
    assert not all_down((), DEFAULTS)
    assert pace_of("a", (), DEFAULTS).rate == 0.1


def test_a_zone_that_is_not_told_stands_well_beside_others():
    assert pace_of("c", (ZoneCount(name="a", ready=1),), DEFAULTS).rate == 0.1


def node(name: str, zone: str = "", *, excluded: bool = False) -> Node:
    labels = {"topology.kubernetes.io/zone": zone} if zone else {}
    labels |= {EXCLUDED: ""} if excluded else {}
    return msgspec.convert({"metadata": {"name": name, "labels": labels}}, Node)


def test_nodes_are_counted_by_zone_and_those_that_are_excluded_are_not():
    nodes = [
        (node("n1", "a"), True),
        (node("n2", "a"), False),
        (node("n3", "b"), False),
        (node("n4"), True),
        (node("n5", "a", excluded=True), False),
    ]
    assert count_zones(nodes) == (
        ZoneCount(name="", ready=1),
        ZoneCount(name="a", ready=1, not_ready=1),
        ZoneCount(name="b", not_ready=1),
    )
