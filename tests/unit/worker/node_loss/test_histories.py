"""Histories at random: machines that are switched off and on, kubelets that hang, workers that die.

What is true of a machine is known here, second by second, and each delete is held against it.
"""

from __future__ import annotations

import asyncio
import bisect
import os
import random
from dataclasses import dataclass, field

import pytest

from bailiff.decisions.node_loss.facts import OffProof
from bailiff.kinds import Taint
from bailiff.worker.systems.node_loss.settings import NodeLossMode
from tests.harness.worlds.node_loss_world import NodeLossWorld

pytestmark = pytest.mark.looptime(start=0)

OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
# Seconds that a lost node has, and that a machine which was switched on needs to be heard of.
AFTER, HEARD_OF_IN = 300, 12
SEEDS = range(int(os.environ.get("BAILIFF_HISTORIES", "8")))


@dataclass
class Truth:
    """What is true of one machine.

    Attributes:
        well: since when its kubelet renews and is ready, or is not: seconds, alternating.
        off: since when it is switched off, or is not: likewise, it is on at first.
    """

    well: list[float] = field(default_factory=list)
    off: list[float] = field(default_factory=list)

    def unwell_for(self, second: float) -> float:
        """Seconds for which it has been unwell at a second; 0: it is well."""
        count = bisect.bisect_right(self.well, second)
        return second - self.well[count - 1] if count % 2 else 0.0

    def was_off(self, second: float) -> bool:
        return any(bisect.bisect_right(self.off, at) % 2 for at in (second, second - HEARD_OF_IN))


class TrueFence:
    """It knows, and answers after a while, or not at all."""

    def __init__(self, truths: dict[str, Truth], rng: random.Random, second) -> None:
        self._truths, self._rng, self._second = truths, rng, second

    async def ask(self, node: str) -> OffProof:
        off = bool(len(self._truths[node].off) % 2)
        await asyncio.sleep(self._rng.choice([0.0, 0.0, 1.0, 20.0, 60.0]))
        return OffProof(off=off and self._rng.random() < 0.8, by="test", message="as it was asked")


class History:
    """One cluster, its machines, and one worker after the other."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.truths: dict[str, Truth] = {}
        fence = TrueFence(self.truths, self.rng, self.second)
        self.mode = NodeLossMode(fence=fence, taints_fenced=self.rng.random() < 0.5)
        self.world = NodeLossWorld(self.mode)
        self.world.lingering = True
        for name in (*self.world.add_nodes(8, "a"), *self.world.add_nodes(8, "b")):
            self.truths[name] = Truth()
            self.world.add(f"web-{name}", name)
            self.world.add(f"db-{name}", name, owner="StatefulSet")
        self.deleted: list[tuple[float, str, int | None]] = []

    def second(self) -> float:
        return self.world.clock.monotonic()

    def is_off(self, name: str) -> bool:
        return bool(len(self.truths[name].off) % 2)

    def is_unwell(self, name: str) -> bool:
        return bool(len(self.truths[name].well) % 2)

    # What may happen to a machine.

    def switch_off(self, name: str) -> None:
        if not self.is_off(name):
            self.truths[name].off.append(self.second())
        self.hang(name)

    def hang(self, name: str) -> None:
        if not self.is_unwell(name):
            renewed = self.world.leases[name].spec.renew_time
            assert renewed is not None
            self.truths[name].well.append((renewed - self.world.at(0)).total_seconds())
        self.world.fall_silent(name)

    def say_not_ready(self, name: str) -> None:
        if not self.is_off(name) and not self.is_unwell(name):
            self.truths[name].well.append(self.second())
            self.world.set_ready(name, "False")

    def is_not_heard_of(self, name: str) -> None:
        """As the node lifecycle controller writes, after its time."""
        ready = self.world.nodes[name].status.conditions[0].status
        if name in self.world.silent and ready != "Unknown":
            unwell = self.truths[name].unwell_for(self.second())
            if unwell > 50:
                self.world.set_ready(name, "Unknown")

    def vouch(self, name: str) -> None:
        """A person taints it, who has seen that it is off."""
        if self.is_off(name):
            self.world.taint_node(name, Taint(key=OUT_OF_SERVICE, effect="NoSchedule"))

    def start(self, name: str) -> None:
        """It is switched on; its kubelet renews at once, and is ready a while later."""
        if self.is_off(name):
            self.truths[name].off.append(self.second())
            self.world.taint_node(name)
            if self.world.nodes[name].status.conditions[0].status != "False":
                self.world.set_ready(name, "False")
            self.world.silent.discard(name)
            self.world.renew(name)

    def come_back(self, name: str) -> None:
        self.start(name)
        if self.is_unwell(name):
            self.truths[name].well.append(self.second())
        self.world.come_back(name)

    def go_deaf(self, _: str) -> None:
        self.world.lease_watch_broken = not self.world.lease_watch_broken

    async def live(self, seconds: float) -> None:
        """Workers that are killed, and things that happen, for so long."""
        happenings = [
            *[self.switch_off, self.hang, self.say_not_ready, self.vouch, self.go_deaf],
            *[self.start, self.come_back, self.come_back, self.is_not_heard_of],
        ]
        ends = self.second() + seconds
        while self.second() < ends:
            async with self.world.running():
                for _ in range(self.rng.randint(2, 30)):
                    await asyncio.sleep(self.rng.uniform(1, 60))
                    self.rng.choice(happenings)(self.rng.choice(list(self.truths)))
            self.succeed()

    def succeed(self) -> None:
        """The next worker."""
        self.collect()
        self.world = self.world.successor(self.mode)

    def collect(self) -> None:
        self.deleted += [
            (one.at, one.name, one.body.get("gracePeriodSeconds"))
            for one in self.world.calls
            if one.verb == "delete"
        ]


@pytest.mark.parametrize("seed", SEEDS)
async def test_nobody_goes_early_nor_is_forced_off_a_machine_that_is_on(seed):
    history = History(seed)
    await history.live(4000)
    ending: set[str] = set()
    for second, pod, grace in history.deleted:
        truth = history.truths[pod.partition("-")[2]]
        # One that is being deleted already is forced off as soon as the machine is proven off.
        assert pod in ending or truth.unwell_for(second) >= AFTER - 1, (second, pod, truth)
        assert grace is None or truth.was_off(second), (second, pod, truth)
        ending.add(pod)


@pytest.mark.parametrize("seed", SEEDS)
async def test_nobody_is_forgotten(seed):
    """Once few enough are lost for long enough, their pods go, by force from what is off."""
    history = History(seed)
    await history.live(2000)
    history.world.lease_watch_broken = False
    lost = history.rng.sample(list(history.truths), 4)
    for name in history.truths:
        if name not in lost:
            history.come_back(name)
        elif not history.is_off(name):
            history.switch_off(name)
    async with history.world.running():
        await asyncio.sleep(3000)
    history.collect()
    forced = {pod for _, pod, grace in history.deleted if grace == 0}
    assert forced >= {f"db-{name}" for name in lost}
