"""Whatever happens, two never act at one instant; and when it is over, one does."""

import asyncio
import contextlib
from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.harness.clocks import virtual_loop
from tests.harness.worlds.candidates import DURATION, PERIOD, Candidate, LeaseServer

LOOK_EVERY = 0.5
WHO = st.integers(0, 2)
SECONDS = st.floats(0.05, 25)
EVENTS = st.one_of(
    st.tuples(st.just("stop"), WHO, SECONDS),
    st.tuples(st.just("cut"), WHO, SECONDS),
    st.tuples(st.just("mute"), WHO, SECONDS),
    st.tuples(st.just("kill"), WHO, SECONDS),
    st.tuples(st.just("retire"), WHO, SECONDS),
    st.tuples(st.just("request takes"), WHO, st.floats(0, 4)),
    st.tuples(st.just("answer takes"), WHO, st.floats(0, 4)),
    st.tuples(st.just("wall clock steps"), WHO, st.floats(-1e6, 1e6)),
)
# Seconds until each, and what.
SCHEDULES = st.lists(st.tuples(st.floats(0, 12), EVENTS), max_size=12)


class Trial:
    """Three processes, a schedule of mishaps, and somebody who looks all the time."""

    def __init__(self) -> None:
        self._server = LeaseServer()
        self._born = 0
        self._places = [self._newborn() for _ in range(3)]
        self._dead: list[Candidate] = []
        self._mends: list[asyncio.Task] = []

    def _newborn(self) -> Candidate:
        self._born += 1
        newborn = Candidate(self._server, f"process-{self._born}")
        # Two at a time can only begin when one begins: that instant is looked at too.
        newborn.on_elected = self._look_once
        return newborn

    async def run(self, schedule) -> None:
        for candidate in self._places:
            candidate.start()
        looking = asyncio.create_task(self._look())
        try:
            for wait, (what, who, how_much) in schedule:
                await asyncio.sleep(wait)
                self._mends.append(asyncio.create_task(self._do(what, who, how_much)))
            await asyncio.gather(*self._mends)
            await self._all_is_well_again()
            assert sum(c.acts for c in self._places) == 1
        finally:
            looking.cancel()
            await asyncio.gather(*(self._end(c) for c in [*self._places, *self._dead]))
            with contextlib.suppress(asyncio.CancelledError):
                await looking

    async def _look(self) -> None:
        while True:
            self._look_once()
            await asyncio.sleep(LOOK_EVERY)

    def _look_once(self) -> None:
        # The dead are asked too: what they would have done, had they only been stopped.
        acting = {c.identity for c in [*self._places, *self._dead] if c.acts}
        assert len(acting) <= 1, acting

    async def _do(self, what: str, who: int, how_much: float) -> None:
        candidate = self._places[who]
        match what:
            case "stop":
                candidate.sigstop()
                await asyncio.sleep(how_much)
                candidate.sigcont()
            case "cut" | "mute":
                setattr(candidate.line, what, True)
                await asyncio.sleep(how_much)
                setattr(candidate.line, what, False)
            case "request takes":
                candidate.line.there = how_much
            case "answer takes":
                candidate.line.back = how_much
            case "wall clock steps":
                candidate.clock.step = timedelta(seconds=how_much)
            case _:
                await self._replace(candidate, who, how_much, gently=what == "retire")

    async def _replace(self, old: Candidate, who: int, after: float, *, gently: bool) -> None:
        if old in self._dead:
            return
        self._dead.append(old)
        await (old.retire() if gently else old.kill())
        await asyncio.sleep(after)
        if self._places[who] is old:
            self._places[who] = self._newborn().start()

    async def _all_is_well_again(self) -> None:
        for candidate in self._places:
            candidate.sigcont()
            candidate.line.cut = candidate.line.mute = False
            candidate.line.there = candidate.line.back = 0.001
        # A request that hangs, a renewal that somebody saw late, the Lease, a try.
        await asyncio.sleep(3 + PERIOD + DURATION + 2 * PERIOD)

    async def _end(self, candidate: Candidate) -> None:
        await candidate.kill()
        await candidate.line.close()


@settings(max_examples=60)
@given(schedule=SCHEDULES)
def test_never_two_at_one_instant_and_in_the_end_one(schedule):
    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        runner.run(Trial().run(schedule))


def test_the_trial_notices_two():
    """The proof that the property can fail: a process that trusts its renewal for too long."""
    trial = Trial()

    async def run():
        object.__setattr__(trial._places[0].elector._settings, "renew_deadline", 1000.0)
        await trial.run([(1.0, ("cut", 0, 25.0))])

    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        try:
            runner.run(run())
        except AssertionError:
            return
    raise AssertionError("two acted, and nobody noticed")


async def test_a_late_try_is_not_made_at_the_very_instant_of_the_last():
    """A wait that the clock cannot resolve would otherwise be tried for ever at one instant."""
    candidate = Candidate(LeaseServer(), "late")
    assert candidate.elector._pause(candidate.clock.monotonic() - 100.0) > 0.0
