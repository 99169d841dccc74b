"""By when a hook answers: how much of a call's time it has, and which step of it ends when."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bailiff.decisions import NotRead, Wanted
from bailiff.decisions.policies import Pause, Policies, Unreadable
from bailiff.kinds import Node
from bailiff.lookup import AllNodes
from bailiff.webhooks import ALLOWED, Outcome
from bailiff.webhooks.sight import Sight
from tests.harness.admission import Scripted
from tests.harness.clocks import LoopClock
from tests.harness.gating import GateScene, said, shop_pod
from tests.harness.lookups import DictSource
from tests.harness.tallies import budget

pytestmark = pytest.mark.looptime

# Seconds; the deadline of all that follows is at 1 s.
HANGS = 3600.0


@pytest.mark.parametrize(
    ("patience", "timeout", "has"),
    [(1.0, 10.0, 0.9), (10.0, 10.0, 9.0), (10.0, 5.0, 4.5), (1.0, 0.1, 0.09)],
)
def test_a_hook_has_nine_tenths_of_a_call(patience: float, timeout: float, has: float) -> None:
    hook = Scripted(ALLOWED)
    hook.patience = patience
    assert hook.deadline(100.0, timeout) == pytest.approx(100.0 + has)


async def hang(*_: Any) -> Any:
    await asyncio.sleep(HANGS)


async def counts_hang() -> Outcome:
    settings = budget(1, unreadable=Unreadable.ALLOW)
    scene = GateScene(Policies(over_time=settings), shop_pod())
    scene.counts.latency = HANGS
    return await scene.evict()


async def reads_hang() -> Outcome:
    scene = GateScene(Policies(pause=Pause(namespace="ops")), shop_pod())
    scene.source.get = hang  # type: ignore[assignment]  # a cluster that hangs
    return await scene.evict()


async def test_counting_ends_first_so_that_a_setting_can_decide() -> None:
    outcome = await counts_hang()
    assert "has not counted this eviction" in outcome.warnings[0]
    assert LoopClock().monotonic() == pytest.approx(0.9)


async def test_then_the_gate_says_what_it_could_not_read() -> None:
    assert said(await reads_hang())[0] == 429
    assert LoopClock().monotonic() == pytest.approx(0.95)


async def test_then_a_look_says_what_it_has_not_seen() -> None:
    clock, source = LoopClock(), DictSource()
    source.see = hang  # type: ignore[method-assign,assignment]  # a cluster that hangs
    sight = Sight(source, AllNodes(source, clock), clock)
    (found,) = await sight.see((Wanted(Node),), clock.monotonic() + 1.0)
    assert isinstance(found, NotRead)
    assert clock.monotonic() == pytest.approx(0.98)
