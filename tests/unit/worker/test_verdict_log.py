"""What fails, by name: in the log, where it has failed for a while, and at a limited rate."""

import pytest
import structlog

from bailiff.serving import Complaint, Verdicts
from bailiff.worker import VerdictLog
from tests.harness.clocks import ManualClock

WELL = Verdicts()
PAUSE = Complaint("policies", "ConfigMap ops/bailiff-pause has not been read yet")
LABELS = Complaint("policies", "the labels of namespaces have not been read yet")
ILL = Verdicts((Complaint("tasks", "a task has ended"),), (PAUSE, LABELS))


class Scene:
    def __init__(self):
        self.clock = ManualClock()
        self.log = VerdictLog(self.clock)

    def lines(self, verdicts, seconds):
        """What is written in so many seconds in which this is said twice a second."""
        with structlog.testing.capture_logs() as logs:
            for _ in range(2 * seconds):
                assert self.log.noted(verdicts) is verdicts
                self.clock.advance(0.5)
        return [(line["check"], line["why"], line["seconds"]) for line in logs]


def test_what_fails_for_ten_seconds_is_told_and_again_each_minute():
    scene = Scene()
    assert scene.lines(ILL, 10) == []
    why = f"{PAUSE.detail}; {LABELS.detail}"
    assert scene.lines(ILL, 60) == [("tasks", "a task has ended", 10), ("policies", why, 10)]
    assert [seconds for *_, seconds in scene.lines(ILL, 60)] == [70, 70]


@pytest.mark.parametrize("well", [1, 40])
def test_what_comes_and_goes_is_told_once_a_minute(well):
    scene = Scene()
    told = [line for _ in range(10) for line in scene.lines(ILL, 12) + scene.lines(WELL, well)]
    assert 0 < len(told) <= 2 * (10 * (12 + well) // 60 + 1)


def test_a_start_is_not_told_and_a_long_reason_is_cut():
    scene = Scene()
    assert scene.lines(ILL, 9) + scene.lines(WELL, 60) == []
    [(_, why, _)] = scene.lines(Verdicts(readiness=(Complaint("watches", "x" * 9999),)), 11)
    assert len(why) == 1000
