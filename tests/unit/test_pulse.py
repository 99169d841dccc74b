"""What probes are told: by the last beat of the main loop, and by how long ago it was."""

from __future__ import annotations

import asyncio

import pytest

from bailiff.serving import Complaint, Pulse, Verdicts

WELL = Verdicts()
ILL = Verdicts(
    health=(Complaint("tasks", "watch pods has ended"),),
    readiness=(
        Complaint("watches", "the watch of pods: denied to system:serviceaccount:a:b"),
        Complaint("watches", "the watch of nodes: denied"),
        Complaint("policies", "ConfigMap kube-system/bailiff-pause"),
    ),
)
STARTING = "not ready: starting"


class Beating:
    """A heart whose beats and whose time are the test's."""

    def __init__(self, stuck_after: float) -> None:
        self.now = 100.0
        self.pulse = Pulse(stuck_after, now=lambda: self.now)

    def told(self) -> tuple[str, str]:
        health, readiness = self.pulse.health(), self.pulse.readiness()
        assert [health.is_well, readiness.is_well] == [health.text == "ok", readiness.text == "ok"]
        return health.text, readiness.text


def test_what_is_not_told_how_to_judge_is_alive_and_not_ready() -> None:
    heart = Beating(10)
    assert heart.told() == ("ok", STARTING)
    heart.pulse.beat()
    assert heart.told() == ("ok", STARTING)


@pytest.mark.parametrize(
    ("verdicts", "health", "readiness"),
    [(WELL, "ok", "ok"), (ILL, "not well: tasks", "not ready: watches, policies")],
)
def test_what_was_judged_last_is_told_without_names(
    verdicts: Verdicts, health: str, readiness: str
) -> None:
    heart = Beating(10)
    heart.pulse.judge = lambda: verdicts
    heart.pulse.beat()
    assert heart.told() == (health, readiness)


@pytest.mark.parametrize(
    ("stuck_after", "pause", "is_alive", "is_ready"),
    [
        (10, 3.0, True, True),
        (10, 3.1, True, False),
        (10, 10.0, True, False),
        (10, 10.1, False, False),
        (1, 1.0, True, True),
        (1, 1.1, False, False),
        (60, 59.0, True, False),
    ],
)
def test_a_loop_that_does_not_come_round_is_told(
    stuck_after: float, pause: float, is_alive: bool, is_ready: bool
) -> None:
    heart = Beating(stuck_after)
    heart.pulse.judge = lambda: WELL
    heart.pulse.beat()
    heart.now += pause
    told = "ok" if is_alive else "not well: loop", "ok" if is_ready else "not ready: loop"
    assert heart.told() == told
    heart.pulse.beat()
    assert heart.told() == ("ok", "ok")


@pytest.mark.looptime(start=0)
async def test_it_beats_by_itself() -> None:
    loop = asyncio.get_running_loop()
    pulse = Pulse(10, lambda: WELL, loop.time)
    beating = asyncio.create_task(pulse.run())
    await asyncio.sleep(100.25)
    assert (pulse.health().text, pulse.readiness().text) == ("ok", "ok")
    beating.cancel()
    await asyncio.sleep(11)
    assert pulse.health() == (False, "not well: loop")
