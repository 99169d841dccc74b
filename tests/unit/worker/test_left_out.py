"""Objects that are left out of the mirror are counted each time, and told of at a limited rate."""

from __future__ import annotations

import pytest
import structlog
from prometheus_client import CollectorRegistry

from bailiff.cluster import Unreadable
from bailiff.cluster.limits import Refusal
from bailiff.kinds import ObjectMeta
from bailiff.worker import WatchMetrics
from bailiff.worker.mirror.refusals import LeftOut
from tests.harness.clocks import ManualClock


class Scene:
    def __init__(self):
        self.registry, self.clock = CollectorRegistry(), ManualClock()
        self.left_out = LeftOut(self.clock, WatchMetrics(self.registry))

    def count(self, what, **labels):
        name = f"bailiff_worker_{what}_objects_total"
        return self.registry.get_sample_value(name, {"resource": "nodes", **labels})

    def note(self, *many):
        with structlog.testing.capture_logs() as logs:
            for one in many:
                self.left_out.note("nodes", one)
        return logs


def unreadable(why="why", uid="u", refusal=None):
    return Unreadable(ObjectMeta(name="n1", uid=uid, resource_version="1"), why, refusal=refusal)


def test_each_is_counted_each_time_and_logged_once():
    scene = Scene()
    logs = scene.note(unreadable(), unreadable(), unreadable("why else"), unreadable())
    assert scene.count("unreadable") == 4
    assert [line["why"] for line in logs] == ["why", "why else"]
    assert {line["event"] for line in logs} == {"object cannot be decoded and is left out"}


@pytest.mark.parametrize("refusal", list(Refusal))
def test_what_is_refused_is_counted_by_its_reason(refusal):
    scene = Scene()
    logs = scene.note(unreadable(refusal=refusal), unreadable(refusal=refusal))
    assert scene.count("refused", reason=refusal.value) == 2
    assert scene.count("unreadable") is None
    assert [line["event"] for line in logs] == [
        "object is beyond Kubernetes' limits and is left out"
    ]


def test_a_flood_of_them_does_not_fill_the_log():
    scene = Scene()
    flood = [unreadable(uid=f"u{number}") for number in range(5000)]
    assert len(scene.note(*flood)) == 20
    assert scene.count("unreadable") == 5000
    scene.clock.advance(60)
    logs = scene.note(*(unreadable(uid=f"v{number}") for number in range(5000)))
    assert len(logs) == 10
    assert [line["left_out"] for line in logs] == [4980] + [0] * 9


def test_one_that_was_not_told_of_is_told_of_later():
    scene = Scene()
    scene.note(*(unreadable(uid=f"u{number}") for number in range(25)))
    scene.clock.advance(60)
    (line,) = scene.note(unreadable(uid="u24"))
    assert line["uid"] == "u24"
