"""Whatever becomes of workers and the API server, nobody acts for a share but its own."""

import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.harness.clocks import virtual_loop
from tests.harness.kinds import no_execute, tolerating
from tests.harness.worlds.candidates import DURATION, PERIOD
from tests.harness.worlds.workforce import Workforce, workforce

SHARES, WORKERS = 2, 3
NODES = [f"node-{number}" for number in range(10)]
WHO = st.integers(0, WORKERS - 1)
SECONDS = st.floats(1, 40)
EVENTS = st.one_of(
    st.tuples(st.sampled_from(("isolate", "lines", "stall", "replace")), WHO, SECONDS),
    st.tuples(st.just("slow"), WHO, st.floats(0, 4)),
)
# Seconds until each, and what.
SCHEDULES = st.lists(st.tuples(st.floats(0, 12), EVENTS), max_size=8)


async def befall(force: Workforce, what: str, who: int, how_much: float) -> None:
    member = force.members[who]
    match what:
        case "isolate":
            member.isolate()
            await asyncio.sleep(how_much)
            member.isolate(False)
        case "lines":
            for line in member.lines.values():
                line.cut = True
            await asyncio.sleep(how_much)
            for line in member.lines.values():
                line.cut = False
        case "stall":
            member.way.free.clear()
            await asyncio.sleep(how_much)
            member.way.free.set()
        case "slow":
            force.world.latency = how_much
        case _:
            await member.kill()
            await asyncio.sleep(how_much)
            force.hire(1, SHARES)


async def changes_over(force: Workforce) -> None:
    """One worker loses its share to the one that stood by, then the other share is free."""
    first, second = (member for member in force.members if member.acts_for is not None)
    first.isolate()
    await asyncio.sleep(DURATION + 2 * PERIOD)
    first.isolate(False)
    await asyncio.sleep(PERIOD)
    await second.kill()


async def trial(schedule) -> None:
    async with workforce() as force:
        for number, node in enumerate(NODES):
            force.world.taint(node)
            force.world.add_pod(f"on-{node}", tolerating(seconds=10 * number), node=node)
        force.hire(WORKERS, SHARES)
        await asyncio.sleep(PERIOD)
        for node in NODES:
            force.world.taint(node, no_execute())
        async with asyncio.TaskGroup() as group:
            group.create_task(changes_over(force))
            for wait, event in schedule:
                await asyncio.sleep(wait)
                group.create_task(befall(force, *event))
        force.world.latency = 0.0
        await asyncio.sleep(2 * (DURATION + 2 * PERIOD) + 10 * len(NODES))
        assert sorted(force.deletions()) == sorted(f"on-{node}" for node in NODES)
        for member in force.members:
            for call, share in zip(member.way.sent, member.way.sent_for, strict=True):
                # Events are told of what has been done, and name no pod in their path.
                if call.verb != "record":
                    assert share is not None
                    assert share.owns(call.name.removeprefix("on-")), (call, share)


@settings(max_examples=10)
@given(schedule=SCHEDULES)
def test_nobody_acts_for_a_share_but_its_own_and_every_pod_goes_once(schedule):
    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        runner.run(trial(schedule))
