"""Kubelets are asked once for all who ask at the same time, and spared where they do not answer."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest

from bailiff.cluster.kubelets import KubeletTimeoutError, SummaryRead
from bailiff.cluster.kubelets.summaries import decode_summary
from bailiff.decisions import NotRead, Why
from bailiff.kinds.kubelet_configuration import KubeletConfiguration
from bailiff.kinds.stats import Summary
from bailiff.lookup import KubeletAnswers
from tests.harness.clocks import ManualClock
from tests.harness.kinds import node_of

if TYPE_CHECKING:
    from bailiff.kinds import Node


class Kubelets:
    """Of all nodes.

    Attributes:
        asked: for whose summary, in order.
        hangs: nobody answers before this is set.
        broken: they time out.
        configz: what they say of their configuration.
    """

    def __init__(self, clock: ManualClock) -> None:
        self.asked: list[str] = []
        self.hangs: asyncio.Event | None = None
        self.broken = False
        self.configz = b'{"kubeletconfig": {"evictionHard": {"memory.available": "1Gi"}}}'
        self._clock = clock

    async def summary(self, node: Node) -> SummaryRead:
        name = node.metadata.name
        self.asked.append(name)
        if self.hangs is not None:
            await self.hangs.wait()
        if self.broken:
            raise KubeletTimeoutError(f"{name} did not answer")
        found = decode_summary(json.dumps({"node": {"nodeName": name}}).encode(), name)
        return SummaryRead(found, self._clock.now(), 0.0, 1, via_api_server=True)

    async def configuration(self, node: Node) -> bytes:
        return self.configz


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def kubelets(clock: ManualClock) -> Kubelets:
    return Kubelets(clock)


@pytest.fixture
def answers(kubelets: Kubelets, clock: ManualClock) -> KubeletAnswers:
    return KubeletAnswers(kubelets, clock)


async def test_what_it_measures_and_how_it_is_set(answers: KubeletAnswers) -> None:
    seen = await answers.of(node_of("n1"))
    assert not isinstance(seen, NotRead)
    summary, configuration = seen
    assert isinstance(summary, Summary)
    assert summary.node.node_name == "n1"
    assert isinstance(configuration, KubeletConfiguration)
    assert configuration.eviction_hard == {"memory.available": "1Gi"}


async def test_who_asks_at_the_same_time_shares_an_answer(
    answers: KubeletAnswers, kubelets: Kubelets, clock: ManualClock
) -> None:
    kubelets.hangs = asyncio.Event()
    asking = [asyncio.create_task(answers.of(node_of(name))) for name in ("n1", "n1", "n2", "n1")]
    while len(kubelets.asked) < 2:
        await asyncio.sleep(0)
    kubelets.hangs.set()
    await asyncio.gather(*asking)
    assert sorted(kubelets.asked) == ["n1", "n2"]
    clock.advance(1.0)
    await answers.of(node_of("n1"))
    assert sorted(kubelets.asked) == ["n1", "n1", "n2"]


async def test_who_gives_up_leaves_the_turn_to_others(
    answers: KubeletAnswers, kubelets: Kubelets
) -> None:
    kubelets.hangs = asyncio.Event()
    first, second = (asyncio.create_task(answers.of(node_of("n1"))) for _ in range(2))
    while not kubelets.asked:
        await asyncio.sleep(0)
    first.cancel()
    kubelets.hangs.set()
    assert not isinstance(await second, NotRead)
    assert kubelets.asked == ["n1", "n1"]
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_a_kubelet_that_does_not_answer_is_spared_for_ten_seconds(
    answers: KubeletAnswers, kubelets: Kubelets, clock: ManualClock
) -> None:
    kubelets.broken = True
    for _ in range(3):
        found = await answers.of(node_of("n1"))
        assert found == NotRead(Why.NOT_ANSWERED, "n1 did not answer")
    assert kubelets.asked == ["n1"]
    kubelets.broken = False
    clock.advance(9.9)
    assert isinstance(await answers.of(node_of("n1")), NotRead)
    clock.advance(0.1)
    assert not isinstance(await answers.of(node_of("n1")), NotRead)


async def test_a_configuration_that_is_none_is_no_answer(
    answers: KubeletAnswers, kubelets: Kubelets
) -> None:
    kubelets.configz = b'{"kubeletconfig": {"evictionHard": 7}}'
    found = await answers.of(node_of("n1"))
    assert isinstance(found, NotRead)
    assert "/configz of n1 is no configuration" in found.detail


async def test_not_more_than_eight_answers_are_kept(
    answers: KubeletAnswers, kubelets: Kubelets
) -> None:
    for number in (*range(9), 0, 8):
        await answers.of(node_of(f"n{number}"))
    assert kubelets.asked == [f"n{number}" for number in (*range(9), 0)]
