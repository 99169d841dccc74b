"""What holds of verdicts whatever the pod and the nodes are."""

from __future__ import annotations

from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bailiff.decisions import SYSTEMS
from bailiff.decisions.device_taints import DeviceTaintFacts
from bailiff.decisions.scheduling import Maintenance, NodesVerdict
from bailiff.decisions.scheduling.maintenance import annotated, leaving, periods_by_node
from bailiff.kinds import Node, Pod, Toleration
from tests.harness.clocks import START
from tests.harness.fuzzing import fuzzed
from tests.unit.decisions.scheduling.drawn import (
    OPTIONS,
    by_name,
    decided,
    devices,
    end_of,
    fleets,
    instants,
    maintenances,
    nodes,
    pods,
    pool_of,
    tolerations,
)

told = st.lists(maintenances(), max_size=2)


def unscored(one: NodesVerdict) -> NodesVerdict:
    """What a verdict says of a node whatever the others are."""
    return replace(one, nodes=(), normalized_score=None)


@fuzzed(400)
@given(pods(), fleets, told, devices(), instants)
def test_a_node_is_judged_as_if_it_were_the_only_one(
    pod: Pod, fleet: list[Node], told: list[Maintenance], facts: DeviceTaintFacts, now: datetime
) -> None:
    together = by_name(pool_of(fleet, told, facts).at(now, OPTIONS).of(pod))
    assert set(together) == {one.metadata.name for one in fleet}
    for node in fleet:
        (alone,) = pool_of([node], told, facts).at(now, OPTIONS).of(pod)
        assert unscored(together[node.metadata.name]) == unscored(alone)


@fuzzed(400)
@given(st.lists(pods(), min_size=1, max_size=4), fleets, instants)
def test_a_pod_is_judged_as_if_it_were_the_only_one(
    some: list[Pod], fleet: list[Node], now: datetime
) -> None:
    judging = pool_of(fleet).at(now, OPTIONS)
    for pod in some:
        assert judging.of(pod) == pool_of(fleet).at(now, OPTIONS).of(pod)


@fuzzed(400)
@given(fleets, st.lists(st.tuples(nodes(), st.booleans()), max_size=8), told, pods(), instants)
def test_changes_come_to_the_same_as_a_fresh_set(
    fleet: list[Node],
    changes: list[tuple[Node, bool]],
    told: list[Maintenance],
    pod: Pod,
    now: datetime,
) -> None:
    pool = pool_of(fleet, told)
    there = {one.metadata.name: one for one in fleet}
    for node, stays in changes:
        pool.at(now, OPTIONS).of(pod)  # what is remembered must not outlive a change
        name = node.metadata.name
        if stays:
            pool.put(node)
            there[name] = node
        else:
            pool.remove(name)
            there.pop(name, None)
    fresh = pool_of(list(there.values()), told)
    assert len(pool) == len(there)
    assert pool.names_length == fresh.names_length
    assert pool.at(now, OPTIONS).of(pod) == fresh.at(now, OPTIONS).of(pod)


@fuzzed(400)
@given(pods(), tolerations, fleets)
def test_more_tolerations_never_make_fewer_nodes_feasible(
    pod: Pod, more: Toleration, fleet: list[Node]
) -> None:
    spec = replace(pod.spec, tolerations=(*pod.spec.tolerations, more))
    judging = pool_of(fleet).at(START, OPTIONS)
    few, many = by_name(judging.of(pod)), by_name(judging.of(replace(pod, spec=spec)))
    for name, one in few.items():
        assert many[name].feasible or not one.feasible
        assert many[name].raw_score <= one.raw_score


@fuzzed(800)
@given(pods(), nodes(), told, devices(), instants)
def test_residency_is_what_decides_or_the_node_or_maintenance_says_first(
    pod: Pod, node: Node, told: list[Maintenance], facts: DeviceTaintFacts, now: datetime
) -> None:
    (found,) = pool_of([node], told, facts).at(now, OPTIONS).of(pod)
    ends = [end_of(decided(pod, node, facts, now), now)]
    if not pod.has_ended:
        periods = periods_by_node(told).get(node.metadata.name, ()) + annotated(node)
        left = leaving(periods, now)
        ends.append(None if left is None else left.evict_at)
        ends.append(None if SYSTEMS.not_admitted(pod, node, OPTIONS) is None else now)
    first = min((one for one in ends if one is not None), default=None)
    assert found.residency.until == first
    assert found.residency.for_ever is (first is None)
    assert bool(found.residency.decided_by) is (first is not None)


@fuzzed(400)
@given(pods(), fleets, st.data())
def test_of_some_nodes_the_same_is_said_and_their_scores_are_among_themselves(
    pod: Pod, fleet: list[Node], data: st.DataObject
) -> None:
    names = [one.metadata.name for one in fleet]
    only = data.draw(st.lists(st.sampled_from(names), min_size=1)) if names else []
    pool = pool_of(fleet)
    some = pool_of([one for one in fleet if one.metadata.name in only] if only else fleet)
    found = pool.at(START, OPTIONS, only).of(pod)
    assert found == some.at(START, OPTIONS).of(pod)


@fuzzed(400)
@given(pods(), fleets)
def test_the_preferred_stand_first(pod: Pod, fleet: list[Node]) -> None:
    verdicts = pool_of(fleet).at(START, OPTIONS).of(pod)
    keys = [
        (not one.feasible, -(one.normalized_score or 0), -one.residency.end.timestamp())
        for one in verdicts
        if one.feasible
    ]
    assert keys == sorted(keys)
    assert [one.feasible for one in verdicts] == sorted(
        (one.feasible for one in verdicts), reverse=True
    )
    assert len({unscored(one) for one in verdicts}) == len(verdicts)
    assert timedelta(0) <= min(
        (one.residency.end - START for one in verdicts), default=timedelta(0)
    )
