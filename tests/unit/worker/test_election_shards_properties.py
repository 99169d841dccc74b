"""Whatever happens, nobody acts for two shares, nor two for one; when it is over, each has one."""

import asyncio
import contextlib
from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.harness.clocks import virtual_loop
from tests.harness.worlds.candidates import DURATION, PERIOD, Candidate, LeaseServer

SHARES, PLACES = 2, 4
LOOK_EVERY = 0.5
WHO = st.integers(0, PLACES - 1)
SECONDS = st.floats(0.05, 25)
EVENTS = st.one_of(
    st.tuples(st.sampled_from(("stop", "cut", "mute", "kill", "retire")), WHO, SECONDS),
    st.tuples(st.sampled_from(("there", "back", "leaving")), WHO, st.floats(0, 4)),
    st.tuples(st.just("clock"), WHO, st.floats(-1e6, 1e6)),
)
# Seconds until each, and what.
SCHEDULES = st.lists(st.tuples(st.floats(0, 12), EVENTS), max_size=12)


class Trial:
    """Four processes, two shares, a schedule of mishaps, and somebody who looks all the time."""

    def __init__(self) -> None:
        self._servers = [LeaseServer() for _ in range(SHARES)]
        self._all: list[Candidate] = []
        self.places = [self._newborn() for _ in range(PLACES)]

    def _newborn(self) -> Candidate:
        newborn = Candidate(self._servers, f"process-{len(self._all)}")
        # Two at a time can only begin when one begins: that instant is looked at too.
        newborn.on_elected = self._look_once
        self._all.append(newborn)
        return newborn

    async def run(self, schedule) -> None:
        for candidate in self.places:
            candidate.start()
        looking = asyncio.create_task(self._look())
        try:
            async with asyncio.TaskGroup() as mishaps:
                for wait, mishap in schedule:
                    await asyncio.sleep(wait)
                    mishaps.create_task(self._do(*mishap))
            await self._all_is_well_again()
            assert len(self._look_once()) == SHARES
        finally:
            looking.cancel()
            await asyncio.gather(*(candidate.end() for candidate in self._all))
            with contextlib.suppress(asyncio.CancelledError):
                await looking

    async def _look(self) -> None:
        while True:
            self._look_once()
            await asyncio.sleep(LOOK_EVERY)

    def _look_once(self) -> set:
        # The dead are asked too: what they would have done, had they only been stopped.
        shares = [each.acts_for for each in self._all if each.acts_for]
        assert len(set(shares)) == len(shares), shares
        return set(shares)

    async def _do(self, what: str, who: int, how_much: float) -> None:
        candidate = self.places[who]
        match what:
            case "stop":
                candidate.sigstop()
                await asyncio.sleep(how_much)
                candidate.sigcont()
            case "cut" | "mute":
                candidate.set_lines(**{what: True})
                await asyncio.sleep(how_much)
                candidate.set_lines(**{what: False})
            case "there" | "back":
                candidate.set_lines(**{what: how_much})
            case "leaving":
                candidate.leaving = how_much
            case "clock":
                candidate.clock.step = timedelta(seconds=how_much)
            case _:
                await self._replace(candidate, who, how_much, gently=what == "retire")

    async def _replace(self, old: Candidate, who: int, after: float, *, gently: bool) -> None:
        newborn = self.places[who] = self._newborn()
        await (old.retire() if gently else old.kill())
        await asyncio.sleep(after)
        if self.places[who] is newborn:
            newborn.start()

    async def _all_is_well_again(self) -> None:
        for candidate in self.places:
            candidate.sigcont()
            candidate.set_lines(cut=False, mute=False, there=0.001, back=0.001)
        # A request that hangs, one that is left, a renewal that somebody saw late, a Lease that
        # was claimed by an answer that never came, two tries.
        await asyncio.sleep(3 + 4 + PERIOD + 2 * DURATION + 2 * PERIOD)


def run(trial: Trial, schedule) -> None:
    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        runner.run(trial.run(schedule))


@settings(max_examples=25)
@given(schedule=SCHEDULES)
def test_never_two_for_one_share_nor_two_shares_for_one_and_in_the_end_all(schedule):
    run(Trial(), schedule)


def test_the_trial_notices_two():
    """The proof that the property can fail: a process that trusts its renewal for too long."""
    trial = Trial()
    holder = trial.places[0]
    for candidacy in holder.elector._candidacies:
        object.__setattr__(candidacy.tenure._settings, "renew_deadline", 1000.0)
    try:
        run(trial, [(1.0, ("cut", 0, 25.0))])
    except AssertionError:
        return
    raise AssertionError("two acted for one share, and nobody noticed")
