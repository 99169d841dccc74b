"""Deadlines go by the API server's clock, whatever becomes of the machine's; on virtual time."""

import asyncio
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bailiff.kinds import Toleration
from tests.harness.clocks import START, virtual_loop
from tests.harness.kinds import no_execute, tolerating
from tests.harness.worlds.timed import TimedWorld
from tests.harness.worlds.world import World

HOUR = timedelta(hours=1)
# An answer names whole seconds, so that a clock is known to no more than one.
SECOND = 1.0
# Late by no more than so much: what an answer leaves open, and a look every second.
LATE = 2.0


def timed(*tolerations: Toleration, pod="patient") -> TimedWorld:
    """A world with a tainted node, and a pod that goes in time, whose clock is known."""
    world = TimedWorld()
    world.taint("n1", no_execute(time_added=START))
    world.add_pod(pod, *(tolerations or (tolerating(seconds=100),)))
    return world


def _deleted_at(world: World, name: str) -> float:
    [at] = [at for at, pod, _ in world.deleted if pod == name]
    return at


@pytest.mark.looptime(start=0)
@pytest.mark.parametrize("step", [HOUR, -HOUR, timedelta(seconds=5)], ids=str)
async def test_a_step_of_the_wall_clock_moves_no_deadline(step):
    world = timed()
    world.answer()
    async with world.running():
        await asyncio.sleep(5)
        world.machine.step = step
        await asyncio.sleep(600)
    assert 100.0 <= world.deletions()["patient"] <= 100.0 + LATE


@pytest.mark.looptime(start=0)
@pytest.mark.parametrize("managed", [True, False], ids=["noted", "nothing tells"])
async def test_a_worker_that_starts_with_a_clock_behind_evicts_nobody_early(managed):
    """What it sees before enough answers have told it the time was there no earlier than that."""
    first = TimedWorld()
    first.managed = managed
    first.taint("n1", no_execute())
    first.add_pod("patient", tolerating(seconds=100))
    first.answer()
    async with first.running():
        await asyncio.sleep(5)
    heir = TimedWorld()
    heir.managed, heir.nodes, heir.pods = managed, first.nodes, first.pods
    heir.machine.step = -HOUR
    heir.answer()
    async with heir.running():
        for _ in range(5):
            await asyncio.sleep(1)
            heir.answer()
        await asyncio.sleep(600)
    known_since = 0.0 if managed else 5.0
    assert 100.0 + known_since <= heir.deletions()["patient"] <= 100.0 + known_since + LATE


@pytest.mark.looptime(start=0)
async def test_a_slow_clock_that_is_put_right_after_the_timer_was_set_makes_nothing_late():
    """Without a word from the API server: all there is is the machine's own clock."""
    world = World()
    world.taint("n1", no_execute(time_added=START))
    world.add_pod("patient", tolerating(seconds=100))
    world.clock.step = -HOUR
    async with world.running():
        await asyncio.sleep(50)
        world.clock.step = timedelta()
        await asyncio.sleep(600)
    assert 100.0 <= world.deletions()["patient"] <= 101.0


@pytest.mark.looptime(start=0)
@pytest.mark.parametrize("wrong", [HOUR, -HOUR], ids=str)
async def test_a_clock_that_was_wrong_before_the_first_answer_evicts_nobody_early(wrong):
    world = timed()
    world.machine.step = wrong
    async with world.running():
        for _ in range(3):
            world.answer()
            await asyncio.sleep(1.0)
        await asyncio.sleep(600)
    assert 100.0 <= world.deletions()["patient"] <= 100.0 + LATE


@pytest.mark.looptime(start=0)
async def test_what_a_worker_first_sees_is_noted_by_the_api_server_s_clock():
    world = timed()
    world.answer()
    world.machine.step = HOUR
    async with world.running():
        world.taint("n1", no_execute("other"))
        await asyncio.sleep(50)
        [noted] = world.annotated
    assert START.strftime("%Y-%m-%dT%H:") in noted


@pytest.mark.looptime(start=0)
@pytest.mark.parametrize("wrong", [HOUR, -HOUR], ids=str)
@pytest.mark.parametrize("at", [0.05, 0.5, 0.95])
async def test_what_a_worker_with_a_wrong_clock_first_sees_counts_from_no_earlier(wrong, at):
    world = timed()
    world.add_pod("quick", tolerating("other", seconds=10), tolerating())
    world.answer()
    world.machine.step = wrong
    async with world.running():
        await asyncio.sleep(50 + at)
        came = world.clock.monotonic()
        world.taint("n1", no_execute("other"))
        await asyncio.sleep(20)
    assert came + 10.0 <= _deleted_at(world, "quick") <= came + 10.0 + LATE


@pytest.mark.looptime(start=0)
async def test_a_machine_that_slept_is_late_by_its_sleep_and_a_second():
    world = timed()
    world.answer()
    async with world.running():
        await asyncio.sleep(50)
        world.machine.slept = 3600.0
        await asyncio.sleep(1.1)
        assert list(world.deletions()) == ["patient"]


@pytest.mark.looptime(start=0)
async def test_lateness_is_told_by_the_clock_that_counts():
    """A timer that was set by a clock an hour slow: late by what it was, not by an hour."""
    world = World()
    world.clock.step = -HOUR
    world.taint("n1", no_execute(time_added=START))
    world.add_pod("patient", tolerating(seconds=100))
    async with world.running():
        await asyncio.sleep(110)
        world.clock.step = timedelta()
        await asyncio.sleep(10)
    late = world.registry.get_sample_value("bailiff_worker_lateness_seconds_sum")
    assert late is not None
    assert 10.0 <= late <= 11.1


@pytest.mark.looptime(start=0)
async def test_an_attempt_that_learns_that_it_is_early_waits_for_the_deadline():
    """The clock is put right between the condition and the delete."""
    world = World()
    world.latency = 1.0
    world.taint("n1", no_execute(time_added=START))
    world.add_pod("patient", tolerating(seconds=100))
    async with world.running():
        world.clock.step = HOUR
        await asyncio.sleep(1.5)
        assert world.requests == ["patch"]
        world.clock.step = timedelta()
        await asyncio.sleep(50)
        assert world.deleted == []
        # Far off by now: it is no disruption target for so long.
        assert world.requests == ["patch", "look", "reset"]
        await asyncio.sleep(60)
    assert 100.0 <= world.deletions()["patient"] <= 103.0
    assert [note.split(" ")[0] for note in world.notes_on("patient")] == ["Marking"]


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("step"), st.floats(-7200, 7200)),
        st.tuples(st.just("sleep"), st.floats(0, 200)),
        st.tuples(st.just("pause"), st.floats(0, 200)),
        st.tuples(st.just("pass"), st.floats(0, 60)),
    ),
    max_size=8,
)


class Told(TimedWorld):
    """Every pod that goes, and how late by the API server's clock."""

    late: float | None = None

    async def delete(self, pod, grace_period_seconds):
        due = START + timedelta(seconds=100)
        self.late = (self.server_time() - due).total_seconds()
        await super().delete(pod, grace_period_seconds)


async def happen(world: Told, steps) -> float:
    """Do these; the seconds by which the pod may be late, for what nobody could know."""
    excuse = 0.0
    for what, size in steps:
        if what == "step":
            world.machine.step = timedelta(seconds=size)
        elif what == "sleep":
            world.machine.slept += size
            excuse = max(excuse, size)
        elif what == "pause":
            world.held_up += size
            excuse = max(excuse, size)
            # What a pause was is known when some answers have told of it, over more than a second.
            for _ in range(4):
                await asyncio.sleep(0.4)
                world.answer()
        await asyncio.sleep(size if what == "pass" else 2)
    return excuse


@settings(max_examples=60)
@given(steps=STEPS)
def test_never_early_by_the_api_server_s_clock_and_late_by_what_nobody_knew(steps):
    async def trial():
        world = Told()
        world.taint("n1", no_execute(time_added=START))
        world.add_pod("patient", tolerating(seconds=100))
        world.answer()
        async with world.running():
            excuse = await happen(world, steps)
            await asyncio.sleep(120)
        # A step of less than a second cannot be told from an answer's rounding.
        assert world.late is not None
        assert -SECOND <= world.late <= LATE + excuse

    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        runner.run(trial())
