"""Whatever happens to a node, its kubelet, the clock and the lead: what never may come of it."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from hypothesis import example, given
from hypothesis import strategies as st

from bailiff.cluster import UnreachableError
from bailiff.cluster.kubelets import SummaryRead
from bailiff.decisions.pressure.extensions import PressureExtensions
from bailiff.decisions.pressure.memory import LONGEST_BREAK
from bailiff.kinds import Node
from tests.harness.clocks import virtual_loop
from tests.harness.fuzzing import fuzzed
from tests.harness.worlds.pressure_world import MIB, PressureWorld, configured, mode_with
from tests.harness.worlds.switch import Switch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.harness.worlds.calls import Call

GRACE = 60.0
SOFT = {
    "evictionHard": {"memory.available": "0%"},
    "evictionSoft": {"memory.available": "1Gi"},
    "evictionSoftGracePeriod": {"memory.available": "1m"},
}
HARD_ALONE = {"evictionHard": {"memory.available": "500Mi"}}
PODS = ("a", "b", "c")


class Reading(NamedTuple):
    """What the worker was told, and when; and whether somebody was there who may go."""

    at: float
    measured: str
    available: int
    may_go: bool


class Witnessed(PressureWorld):
    """Writes down each answer of the kubelet, and each that was refused."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.readings: list[Reading | None] = []
        answer = self.kubelet.summary

        async def witnessed(node: Node) -> SummaryRead:
            try:
                read = await answer(node)
            except Exception:
                self.readings.append(None)
                raise
            memory = read.measured.node.memory
            assert memory is not None
            left = memory.available_bytes or 0
            told = Reading(self.clock.elapsed(), str(memory.time), left, bool(self.able()))
            self.readings.append(told)
            return read

        self.kubelet.summary = witnessed  # type: ignore[method-assign]  # to witness
        # Whether answers to deletes are lost.
        self.loses = False
        delete = self.verbs["delete"]

        async def losing(call: Call) -> object:
            answer = await delete(call)
            if self.loses:
                raise UnreachableError("connection reset")
            return answer

        self.verbs["delete"] = losing
        # When the node's own kubelet has evicted somebody.
        self.own: list[float] = []

    def able(self) -> list[str]:
        """Who may go."""
        return [name for name in PODS if name in self.pods and not self.pods[name].is_finished]

    def do(self, what: str, value: int, switch: Switch) -> None:
        match what:
            case "fill":
                self.fill(PODS[value % len(PODS)], value % 4000)
            case "break" | "mend":
                self.kubelet.broken = "connection refused" if what == "break" else ""
            case "freeze" | "thaw":
                self.kubelet.frozen_at = self.clock.elapsed() if what == "freeze" else None
            case "step":
                self.clock.step = timedelta(seconds=value - 2000)
            case "lead":
                switch.acts = not switch.acts
                self.readings.append(None)
            case "lose":
                self.loses = not self.loses
            case "end" | "evict" if PODS[value % len(PODS)] in self.able():
                self.leave(PODS[value % len(PODS)], what, value)

    def leave(self, name: str, how: str, seconds: int) -> None:
        """The pod is deleted, or evicted by its node's own kubelet."""
        if how == "end":
            self.delete_in(name, seconds)
        else:
            self.own.append(self.clock.elapsed())
            self.kubelet_evicts(name)


ACTIONS = ("fill", "fill", "fill", "break", "mend", "freeze", "thaw", "step", "lead")
EVENTS = st.tuples(st.floats(1, 120), st.sampled_from(ACTIONS), st.integers(0, 4000))
EVENTS_AND_ENDS = st.tuples(
    st.floats(1, 120), st.sampled_from((*ACTIONS, "end", "lose")), st.integers(0, 4000)
)
EVENTS_AND_EVICTIONS = st.tuples(
    st.floats(1, 120), st.sampled_from((*ACTIONS, "evict")), st.integers(0, 4000)
)


async def lived(
    events: list[tuple[float, str, int]], limits: dict[str, Any], **beyond: Any
) -> Witnessed:
    switch = Switch()
    extensions = msgspec.convert(beyond, PressureExtensions)
    mode = mode_with(configuration=configured(**limits), extensions=extensions)
    world = Witnessed(election=switch, mode=mode)
    world.add_node()
    world.fill("vital", 500, priority=2_000_000_000)
    async with world.running():
        for wait, what, value in events:
            await asyncio.sleep(wait)
            world.do(what, value, switch)
        await asyncio.sleep(200)
    return world


def before(world: Witnessed, at: float) -> list[Reading]:
    """Readings up to an instant, the last first, back to where nobody had looked for long."""
    found: list[Reading] = []
    for one in reversed([one for one in world.readings if one is not None and one.at <= at]):
        if found and found[-1].at - one.at > LONGEST_BREAK:
            break
        found.append(one)
    return found


def life(
    events: list[tuple[float, str, int]], limits: dict[str, Any] = SOFT, **beyond: Any
) -> Witnessed:
    loop = virtual_loop()
    try:
        world = loop.run_until_complete(lived(events, limits, **beyond))
    finally:
        loop.close()
    assert "vital" not in {name for _, name, _ in world.deleted}
    return world


LIVES = st.lists(EVENTS, min_size=3, max_size=16)


@fuzzed(200)
@given(LIVES)
def test_a_dry_run_evicts_nobody_whatever_happens(events):
    world = life(events, dryRunSoft=["memory.available"])
    assert world.deleted == []
    assert not any("True" in one.values() for one in world.published)


@fuzzed(200)
@given(st.lists(EVENTS_AND_ENDS, min_size=3, max_size=16))
def test_within_a_cool_down_nobody_goes_whatever_happens(events):
    times = [at for at, _, _ in life(events, coolDown="5m").deleted]
    assert all(later - sooner >= 299 for sooner, later in pairwise(times))


@fuzzed(200)
@given(LIVES)
def test_with_a_target_nobody_goes_who_is_not_needed_whatever_happens(events):
    world = life(events, releaseTarget={"atMost": 2}, stopAt={"memory.available": "2Gi"})
    by_measurement: dict[str, int] = {}
    for at, _, _ in world.deleted:
        last, *_ = told = before(world, at)
        by_measurement[last.measured] = by_measurement.get(last.measured, 0) + 1
        # It goes on below 2Gi, and has begun with a whole grace period below 1Gi.
        assert last.available < 2048 * MIB
        low = list(takewhile(lambda one: one.available < 2048 * MIB, told))
        assert longest(low, 1024) >= GRACE - 0.1
    assert max(by_measurement.values(), default=0) <= 2


def longest(told: list[Reading], mib: int) -> float:
    """Seconds of the longest stretch, last first, in which less than that was left."""
    most, end = 0.0, 0.0
    low = False
    for one in told:
        if one.available < mib * MIB:
            end = end if low else one.at
            most = max(most, end - one.at)
        low = one.available < mib * MIB
    return most


@fuzzed(200)
@given(LIVES)
def test_nobody_goes_early_twice_or_by_what_is_not_known(events):
    world = life(events)
    gone = [(at, name) for at, name, _ in world.deleted]
    used: set[str] = set()
    for at, _name in gone:
        last, *_ = told = before(world, at)
        # By one measurement one pod, and by none that says there is enough.
        assert last.measured not in used
        used.add(last.measured)
        assert last.available < 1024 * MIB
        low: list[Reading] = []
        for one in told:
            if one.available >= 1024 * MIB:
                break
            low.append(one)
        assert at - low[-1].at >= GRACE - 0.1


def is_stuck(told: Sequence[Reading | None]) -> bool:
    """All of these were new, of a full node on which somebody may go, and the lead was kept."""
    known = [one for one in told if one is not None]
    if len(known) < len(told) or len({one.measured for one in known}) < len(told):
        return False
    return all(one.available < 500 * MIB and one.may_go for one in known)


@fuzzed(200)
@given(st.lists(EVENTS_AND_EVICTIONS, max_size=16))
@example([(1.0, "evict", 0)])
@example([(1.0, "evict", 0), (10.0, "lead", 0), (10.0, "lead", 0)])
def test_somebody_goes_where_a_hard_threshold_is_met_whatever_happened_before(events):
    """Within five readings, which are more than the half minute for which a pod is waited for."""
    full = [(1.0, "fill", value) for value in (1800, 1801, 1802)]
    world = life([*full, *events], HARD_ALONE)
    left = [*(at for at, _, _ in world.deleted), *world.own]
    for end in range(5, len(world.readings) + 1):
        told = world.readings[end - 5 : end]
        if is_stuck(told):
            first, *_, last = [one.at for one in told if one is not None]
            assert any(first <= at <= last + 2 for at in left), (first, last)
