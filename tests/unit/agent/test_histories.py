"""Histories at random: pods come, go and fill the node, and all that an agent asks may fail."""

from __future__ import annotations

import asyncio
import os
import random
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from bailiff.cluster import (
    ConflictError,
    ForbiddenError,
    ServerError,
    TooManyRequestsError,
    UnauthorizedError,
    UnreachableError,
)
from bailiff.decisions.pressure.extensions import PressureExtensions, ReleaseTarget
from bailiff.kinds import Pod, PodStatus
from tests.harness.agent_scene import CAPACITY, MIB, AgentScene, pod
from tests.harness.made_up_api import gone

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from bailiff.agent.reading import Reading
    from bailiff.decisions import EvictionTerms

pytestmark = pytest.mark.looptime(start=0)

SEEDS = range(int(os.environ.get("BAILIFF_HISTORIES", "20")))
CRITICAL = 2_000_001_000
# What `LOW` wants to be available of memory, and of the disk a little more than its 10 %.
MEMORY, DISK = 100 * MIB, CAPACITY // 10 + MIB
# Longer than the longest pause between two happenings.
LATELY = 25.0
EXTENSIONS = (
    PressureExtensions(),
    PressureExtensions(cool_down="30s"),
    PressureExtensions(release_target=ReleaseTarget()),
)
FAILURES = (
    *(None, None),
    UnreachableError("no connection"),
    gone,
    ForbiddenError("no", status=403),
    ConflictError("written meanwhile", status=409),
    TooManyRequestsError("busy", status=429),
    ServerError("etcdserver: leader changed", status=500),
    UnauthorizedError("log in", status=401),
)
# Seconds for which others may go in the place of one whose eviction failed, and a round.
SET_ASIDE = 75.0


def rank(pod: Pod, used: int | None) -> tuple[bool, bool, int, int]:
    """The greatest goes first: rankMemoryPressure of the kubelet, in our own words."""
    asked = memory_asked(pod)
    if used is None:
        return True, True, 0, 0
    return False, used > asked, -pod.spec.priority, used - asked


def memory_asked(pod: Pod) -> int:
    return (
        next((int(one.resources.requests["memory"][:-2]) for one in pod.spec.containers), 0) * MIB
    )


class History:
    """One node, its agent, and what is held against what that does."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        extensions, reclaims = self.rng.choice(EXTENSIONS), self.rng.random() < 0.5
        self.scene = AgentScene(extensions=extensions, reclaims=reclaims)
        self.scene.api.takes = 0.01
        self.low_at = float("-inf")
        self.wrong: list[str] = []
        self._delete, self._set_status = self.scene.api.delete, self.scene.api.set_status
        self._read = self.scene.node.read
        # By it the round goes: what each pod used, those that were not measured left out.
        self.seen: list[tuple[Pod, int | None]] = []
        self.failed_at: dict[str, float] = {}
        self.tries = 0
        self.scene.api.delete = self._judged  # type: ignore[method-assign]  # it is looked at
        self.scene.api.set_status = self._chosen  # type: ignore[method-assign]  # as well
        self.scene.node.read = self._looked  # type: ignore[method-assign]  # as well

    async def _looked(self, pods: Sequence[Pod]) -> Reading:
        reading = await self._read(pods)
        uses = self.scene.node.uses
        self.seen = [(one, uses.get(one.metadata.name)) for one in self.scene.facts.pods]
        return reading

    async def _chosen(self, pod: Pod, terms: EvictionTerms, now: datetime) -> Pod:
        """Who goes for memory is first by rank, of those whose evictions have not failed lately."""
        if "resource: memory" in (terms.condition.message if terms.condition else ""):
            self._hold_against_the_ranking(pod)
        self.failed_at[pod.metadata.name] = self._now()
        found = await self._set_status(pod, terms, now)
        del self.failed_at[pod.metadata.name]
        # It goes, and whoever else the round has chosen is first of the others.
        self.seen = [(one, used) for one, used in self.seen if one is not pod]
        return found

    def _hold_against_the_ranking(self, pod: Pod) -> None:
        self.tries += 1
        ranks = {one.metadata.name: rank(one, used) for one, used in self.seen}
        mine = ranks.get(pod.metadata.name)
        for one, used in self.seen:
            name = one.metadata.name
            lately = self._now() - self.failed_at.get(name, float("-inf")) < SET_ASIDE
            stays = one.spec.priority >= CRITICAL or lately or one.is_terminating
            # Who uses nothing frees nothing: with a release target it stays.
            if mine is not None and used != 0 and not stays and ranks[name] > mine:
                wrong = f"{pod.metadata.name} {mine} went before {name} {ranks[name]} with {used}"
                self.wrong.append(wrong)

    async def _judged(self, pod: Pod, grace_period_seconds: int | None) -> None:
        self.look()
        if self._now() - self.low_at > LATELY:
            self.wrong.append(f"{pod.metadata.name} went, and nothing was low")
        if pod.spec.priority >= CRITICAL:
            self.wrong.append(f"{pod.metadata.name} went, and is critical")
        await self._delete(pod, grace_period_seconds)

    def _now(self) -> float:
        return asyncio.get_running_loop().time()

    @property
    def available(self) -> int:
        return CAPACITY - sum(self.scene.node.uses.values())

    def look(self) -> None:
        """Note whether the node is low."""
        if self.available < MEMORY or self.scene.node.disk_free < DISK:
            self.low_at = self._now()

    # What may happen.

    def come(self) -> None:
        """A pod of any kind, which fits; now and then one without a cgroup."""
        name, rng = f"pod-{self._now():.3f}", self.rng
        asks = f"{rng.choice([0, 100])}Mi"
        new = pod(name, asks=asks, priority=rng.choice([0, 0, 10, CRITICAL]))
        if rng.random() < 0.3:
            new = replace(new, status=PodStatus(phase="Pending"))
        self.scene.tell_pods(*self.scene.facts.pods, new)
        if rng.random() < 0.8:
            self.scene.node.uses[name] = min(rng.randrange(300) * MIB, max(self.available, 0))

    def leave(self) -> None:
        """The API tells of a pod no more; what it uses may stay."""
        if pods := list(self.scene.facts.pods):
            gone = pods.pop(self.rng.randrange(len(pods)))
            self.scene.tell_pods(*pods)
            if self.rng.random() < 0.5:
                self.scene.node.uses.pop(gone.metadata.name, None)

    def grow(self) -> None:
        if uses := self.scene.node.uses:
            name = self.rng.choice(list(uses))
            uses[name] = self.rng.randrange(600) * MIB
            uses[name] += min(self.available, 0)
            uses[name] = max(uses[name], 0)

    def fail(self) -> None:
        self.scene.api.fails = self.rng.choice(FAILURES)

    def cut(self) -> None:
        """The connection that was kept."""
        self.scene.api.cuts = 1

    def fill_disk(self) -> None:
        node = self.scene.node
        node.disk_free, node.garbage = (
            self.rng.randrange(300) * MIB,
            self.rng.choice([0, 300]) * MIB,
        )

    def step_clock(self) -> None:
        self.scene.clock.step = timedelta(seconds=self.rng.randrange(-4000, 4000))

    def go_blind(self) -> None:
        self.scene.node.broken = self.rng.choice(["", "", "nothing can be read"])

    def linger(self) -> None:
        self.scene.lingers = self.rng.random() < 0.5

    async def live(self) -> None:
        happenings = [
            *(self.come, self.come, self.come, self.grow, self.leave),
            *(self.fail, self.cut, self.fill_disk, self.step_clock, self.go_blind, self.linger),
        ]
        for _ in range(150):
            self.rng.choice(happenings)()
            self.look()
            if self.rng.random() < 0.5:
                self.scene.wake.notice("usage")
            await asyncio.sleep(self.rng.choice([0.1, 1.0, 5.0, 20.0]))

    def mend(self) -> None:
        """All that was broken."""
        self.scene.node.broken, self.scene.api.fails, self.scene.lingers = "", None, False
        self.scene.node.disk_free = CAPACITY // 2
        if self.scene.reclaims:
            # There is enough to free, so that nobody is to go for it.
            self.scene.node.disk_free, self.scene.node.garbage = 0, CAPACITY // 2

    @property
    def who_should_have_gone(self) -> list[str]:
        """Who holds memory that is missing, and may go."""
        if self.available >= MEMORY:
            return []
        return [
            one.key
            for one in self.scene.facts.pods
            if one.spec.priority < CRITICAL and self.scene.node.uses.get(one.metadata.name)
        ]


@pytest.mark.parametrize("seed", SEEDS)
async def test_nobody_goes_without_need_and_whatever_happened_the_node_is_freed_in_the_end(
    seed, capfd
):
    history = History(seed)
    async with history.scene.running():
        await history.live()
        history.mend()
        await asyncio.sleep(1000)
        assert history.scene.standing.unknown == ""
        assert history.who_should_have_gone == []
        assert history.scene.node.disk_free >= DISK
    assert history.wrong == []
    # As a round that could not be planned.
    assert "could not be" not in capfd.readouterr().err
