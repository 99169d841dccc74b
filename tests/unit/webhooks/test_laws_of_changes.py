"""Whatever a node's taints were and are to be: laws of what its hook says."""

from __future__ import annotations

import asyncio
import functools
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bailiff.decisions.policies import BlastRadius
from bailiff.kinds import Annotations, Taint, Toleration
from tests.harness.clocks import ManualClock
from tests.harness.fuzzing import fuzzed
from tests.harness.hooks import Hooked
from tests.harness.kinds import node_of, pod_of

if TYPE_CHECKING:
    from bailiff.kinds import Pod

# However busy the machine, an answer is in time.
pytestmark = pytest.mark.looptime

EFFECTS = ("NoExecute", "NoExecute", "NoSchedule")
BUILT_IN = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
TAINTS = st.builds(
    Taint,
    key=st.sampled_from(("a", "b", *BUILT_IN)),
    value=st.sampled_from(("", "x")),
    effect=st.sampled_from(EFFECTS),
)
LISTS = st.lists(TAINTS, max_size=4, unique_by=lambda one: (one.key, one.effect)).map(tuple)
TOLERATIONS = st.builds(
    Toleration,
    key=st.sampled_from(("a", "b", "")),
    operator=st.just("Exists"),
    effect=st.sampled_from(("NoExecute", "")),
    toleration_seconds=st.sampled_from((None, 0, 60)),
)
PODS = st.lists(st.lists(TOLERATIONS, max_size=2), max_size=6).map(
    lambda lists: [pod_of(f"p{number}", "n", *one) for number, one in enumerate(lists)]
)
MOST = 2


@functools.cache
def made(_loop: asyncio.AbstractEventLoop) -> tuple[Hooked, ManualClock]:
    """Of one event loop, as a process has it: to make one takes longer than to ask."""
    clock = ManualClock()
    return Hooked(clock=clock), clock


async def said_of(pods: list[Pod], old: Any, new: Any, most: int | None = MOST) -> Any:
    hooked, clock = made(asyncio.get_running_loop())
    # Nothing that was seen before is kept.
    clock.advance(3600)
    hooked.source.shown.objects = list(pods)
    hooked.set_radius(None if most is None else BlastRadius(max_pods=most))
    return await hooked.change("nodes", old, new)


@fuzzed(300)
@given(pods=PODS, taints=LISTS, kept=st.sets(st.integers(0, 3)))
async def test_taking_taints_away_is_never_refused_and_warns_of_nothing(
    pods: list[Pod], taints: tuple[Taint, ...], kept: set[int]
) -> None:
    left = tuple(one for number, one in enumerate(taints) if number in kept)
    said = await said_of(pods, node_of("n", *taints), node_of("n", *left))
    assert said["allowed"]
    assert "warnings" not in said


@fuzzed(300)
@given(pods=PODS, old=LISTS, new=LISTS)
async def test_what_is_refused_passes_once_each_cause_is_acknowledged(
    pods: list[Pod], old: tuple[Taint, ...], new: tuple[Taint, ...]
) -> None:
    before, after = node_of("n", *old), node_of("n", *new)
    said = await said_of(pods, before, after)
    refused = 0
    while not said["allowed"]:
        refused += 1
        assert refused <= len(new)
        message = said["status"]["message"]
        assert message.startswith("blastRadius: ")
        assert not any(key in message for key in BUILT_IN)
        listed = message.partition("acknowledged-taints='")[2].rstrip("'")
        metadata = replace(after.metadata, annotations=Annotations(acknowledged_taints=listed))
        after = replace(after, metadata=metadata)
        said = await said_of(pods, before, after)
    unbounded = await said_of(pods, before, after, None)
    assert unbounded["allowed"]
    assert said.get("warnings") == unbounded.get("warnings")


@fuzzed(200)
@given(pods=PODS, old=LISTS, new=LISTS)
async def test_a_change_that_was_made_warns_of_nothing_when_made_again(
    pods: list[Pod], old: tuple[Taint, ...], new: tuple[Taint, ...]
) -> None:
    first = await said_of(pods, node_of("n", *old), node_of("n", *new), None)
    again = await said_of(pods, node_of("n", *new), node_of("n", *reversed(new)))
    assert first["allowed"]
    assert (again["allowed"], again.get("warnings")) == (True, None)
