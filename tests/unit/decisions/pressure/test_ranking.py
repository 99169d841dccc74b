"""The order in which pods go: a total preorder, stable, and worse for who uses more."""

from __future__ import annotations

from functools import cmp_to_key
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bailiff.decisions.pressure.layout import Layout
from bailiff.decisions.pressure.ranking import RankKey, rank
from bailiff.decisions.pressure.signals import Signal
from bailiff.kinds import Pod
from bailiff.kinds.stats import FsStats, PodStats, ProcessStats
from tests.unit.decisions.pressure.scene import measured, pod


class Measured(NamedTuple):
    """A pod, and what it uses of everything; None: nothing was measured."""

    pod: Pod
    used: int | None

    @property
    def stats(self) -> PodStats | None:
        if self.used is None:
            return None
        fs = FsStats(used_bytes=self.used, inodes_used=self.used)
        stats = measured(self.pod, self.used)
        whole = replace(stats, process_stats=ProcessStats(process_count=self.used))
        return replace(whole, ephemeral_storage=fs)


@st.composite
def nodes(draw: st.DrawFn) -> list[Measured]:
    """Pods of one node; few values, so that many are equal."""
    few = st.integers(0, 3)
    return [
        Measured(
            pod(f"p{number}", request=draw(few), priority=draw(few)),
            draw(st.none() | few),
        )
        for number in range(draw(st.integers(0, 8)))
    ]


SIGNALS = st.sampled_from([Signal.MEMORY_AVAILABLE, Signal.PID_AVAILABLE])


def ranked(signal: Signal, node: list[Measured]) -> list[str]:
    stats = {one.pod.metadata.uid: one.stats for one in node if one.stats is not None}
    ranking = rank(signal, Layout.SINGLE, [one.pod for one in node], stats)
    assert [one.metadata.name for one in ranking.pods] == [c.pod.name for c in ranking.candidates]
    return [one.pod.name for one in ranking.candidates]


def upstream(signal: Signal) -> object:
    """Upstream's comparators one after the other, in plain words."""

    def request(one: Measured) -> int:
        return int(one.pod.spec.containers[0].resources.requests["memory"])

    def without_stats(a: Measured, b: Measured) -> int:
        return (b.used is None) - (a.used is None)

    def exceeds(a: Measured, b: Measured) -> int:
        if a.used is None or b.used is None:
            return without_stats(a, b)
        return (b.used > request(b)) - (a.used > request(a))

    def priority(a: Measured, b: Measured) -> int:
        return a.pod.spec.priority - b.pod.spec.priority

    def usage(a: Measured, b: Measured) -> int:
        if a.used is None or b.used is None:
            return without_stats(a, b)
        if signal is Signal.PID_AVAILABLE:
            return b.used - a.used
        return (b.used - request(b)) - (a.used - request(a))

    parts = (priority, usage) if signal is Signal.PID_AVAILABLE else (exceeds, priority, usage)
    return cmp_to_key(lambda a, b: next((d for part in parts if (d := part(a, b))), 0))


@given(SIGNALS, nodes())
def test_the_order_is_that_of_upstreams_comparisons(signal: Signal, node: list[Measured]) -> None:
    expected = sorted(node, key=upstream(signal))  # type: ignore[type-var,arg-type]  # a key of functools
    assert ranked(signal, node) == [one.pod.metadata.name for one in expected]


@given(SIGNALS, nodes(), st.randoms())
def test_the_order_of_the_question_moves_equals_alone(
    signal: Signal, node: list[Measured], random: object
) -> None:
    mixed = list(node)
    random.shuffle(mixed)  # type: ignore[attr-defined]  # random.Random
    key = upstream(signal)
    by_name = {one.pod.metadata.name: one for one in node}
    for one, other in zip(ranked(signal, node), ranked(signal, mixed), strict=True):
        assert key(by_name[one]) == key(by_name[other])  # type: ignore[operator]  # as above


@given(SIGNALS, nodes(), st.data())
def test_who_uses_more_goes_no_later_within_its_class(
    signal: Signal, node: list[Measured], data: st.DataObject
) -> None:
    some = [at for at, one in enumerate(node) if one.used is not None]
    if not some:
        return
    at = data.draw(st.sampled_from(some))
    name, used = node[at].pod.metadata.name, node[at].used
    assert used is not None
    more = [*node[:at], node[at]._replace(used=used + data.draw(st.integers(1, 5))), *node[at + 1 :]]
    assert ranked(signal, more).index(name) <= ranked(signal, node).index(name)


@given(SIGNALS, nodes(), st.data())
def test_one_more_pod_changes_no_order_of_the_others(
    signal: Signal, node: list[Measured], data: st.DataObject
) -> None:
    if not node:
        return
    gone = data.draw(st.sampled_from(node))
    left = [one for one in node if one is not gone]
    name = gone.pod.metadata.name
    assert [one for one in ranked(signal, node) if one != name] == ranked(signal, left)


@pytest.mark.parametrize(
    ("first", "second", "key"),
    [
        (Measured(pod("a"), None), Measured(pod("b"), 9), RankKey.NO_STATS),
        (Measured(pod("a"), 1), Measured(pod("b", request=9), 9), RankKey.EXCEEDS_REQUEST),
        (Measured(pod("a"), 1), Measured(pod("b", priority=1), 9), RankKey.PRIORITY),
        (Measured(pod("a"), 9), Measured(pod("b"), 1), RankKey.USAGE),
        (Measured(pod("a"), 1), Measured(pod("b"), 1), RankKey.TIE),
    ],
)
def test_what_decided_is_told(first: Measured, second: Measured, key: RankKey) -> None:
    stats = {one.pod.metadata.uid: one.stats for one in (first, second) if one.stats is not None}
    ranking = rank(Signal.MEMORY_AVAILABLE, Layout.SINGLE, [first.pod, second.pod], stats)
    assert [one.decided_by for one in ranking.candidates] == [key, RankKey.LAST]
