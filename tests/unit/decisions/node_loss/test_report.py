"""What is said of a lost node besides its pods."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from bailiff.decisions.node_loss.taints import following_taints
from bailiff.decisions.text import describe_taint
from bailiff.kinds import Node
from tests.unit.decisions.node_loss.scene import JUST_NOW, WELL, Asked, a_pod, ending

READY: dict[str, Any] = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}


def names(references) -> list[str]:
    return [one.name for one in references]


def asked(**more) -> Asked:
    pods = (
        a_pod("web", **READY),
        a_pod("log", owner="DaemonSet", **READY),
        a_pod("quiet"),
        a_pod("told", status={"reason": "NodeLost"}),
        a_pod("done", status={"phase": "Succeeded"}),
        a_pod("other", node="n2", **READY),
    )
    return Asked(pods=pods, **more)


def test_a_node_whose_time_is_over_is_acted_on():
    report = asked(facts={"zones": WELL}).report()
    assert report.acts
    assert [one.reason for one in report.events] == ["DeletingAllPods"]
    # Those that stay are marked too, as upstream has it; those that are marked are not once more.
    assert names(report.to_mark) == ["web", "log", "quiet"]
    assert names(report.to_mark_not_ready) == ["web", "log"]
    assert (report.zone, report.rate, report.reason) == ("a", 0.1, "NodeLost")


def test_before_that_its_pods_are_not_ready_and_nothing_else():
    report = asked(since=JUST_NOW).report()
    assert (report.acts, report.events, report.to_mark) == (False, (), ())
    assert names(report.to_mark_not_ready) == ["web", "log"]


@pytest.mark.parametrize(
    "facts",
    [
        {"contradiction": "why"},
        {"zones": [{"name": "a", "notReady": 3}]},
    ],
)
def test_where_the_node_may_live_nobody_says_that_its_pods_are_not_ready(facts):
    report = asked(facts=facts).report()
    assert (report.acts, report.to_mark_not_ready, report.to_mark) == (False, (), ())


def test_pods_of_a_zone_that_is_down_are_not_ready_though_nobody_goes():
    """Others are, so that what asks for them is sent there."""
    zones = [{"name": "a", "notReady": 3}, {"name": "b", "ready": 1}]
    report = asked(facts={"zones": zones}).report()
    assert (report.acts, report.to_mark, report.reason) == (False, (), "ZoneDown")
    assert names(report.to_mark_not_ready) == ["web", "log"]


def test_nothing_is_written_about_a_node_that_is_ready():
    report = asked(ready="True").report()
    assert (report.acts, report.to_mark, report.to_mark_not_ready) == (False, (), ())
    assert report.reason == "NodeReady"


def test_stuck_pods_are_told_with_what_would_release_them():
    stuck = ending(a_pod("db-0", owner="StatefulSet"))
    report = Asked(pods=(stuck, ending(a_pod()))).report()
    assert names(one.pod for one in report.stuck) == ["db-0"]
    assert "proven off" in report.stuck[0].message


def test_who_says_that_the_machine_is_off():
    assert "fencing by http" in Asked(facts={"proof": {"off": True, "by": "http"}}).report().proof
    assert Asked(facts={"proof": {"off": False, "by": "http"}}).report().proof == ""


def test_the_taints_that_follow_from_conditions_are_listed_in_order():
    conditions = [
        {"type": "Ready", "status": "Unknown"},
        {"type": "MemoryPressure", "status": "True"},
        {"type": "DiskPressure", "status": "False"},
        {"type": "NetworkUnavailable", "status": "True"},
    ]
    body = {"spec": {"unschedulable": True}, "status": {"conditions": conditions}}
    assert [describe_taint(one) for one in following_taints(msgspec.convert(body, Node))] == [
        "node.kubernetes.io/unreachable:NoSchedule",
        "node.kubernetes.io/memory-pressure:NoSchedule",
        "node.kubernetes.io/network-unavailable:NoSchedule",
        "node.kubernetes.io/unschedulable:NoSchedule",
        "node.kubernetes.io/unreachable:NoExecute",
    ]
