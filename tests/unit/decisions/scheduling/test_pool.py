"""Alike nodes are asked about once, what is remembered is bounded, and what is held is told."""

from __future__ import annotations

from datetime import timedelta
from itertools import permutations
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from bailiff.decisions import SYSTEMS, FactsError, Options, Scene
from bailiff.decisions.device_taints import DeviceTaintFacts
from bailiff.decisions.scheduling import Maintenance, NodePool
from bailiff.decisions.scheduling.remembering import Remembered
from bailiff.decisions.system import NoFacts
from bailiff.kinds import Annotations, NodeCondition, NodeStatus, Taint, Toleration
from tests.harness.clocks import START
from tests.harness.device_kinds import claim, on, reserved, slice_of, taint, using
from tests.harness.kinds import no_execute, node_of, pod_of, tolerating
from tests.harness.made_up_system import LIGHTS_OUT, NAME, THREE_SYSTEMS, LightsOutSystem
from tests.unit.decisions.scheduling.drawn import by_name

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from bailiff.kinds import Node

OPTIONS = Options(explain=False)
HOUR = timedelta(hours=1)


def kinds_of(*nodes: Node, systems: Any = SYSTEMS) -> int:
    return len(list(NodePool(systems.all, nodes).groups))


def under(pressure: str, version: str = "v1.36.2") -> NodeStatus:
    told = NodeStatus(conditions=(NodeCondition(type=pressure, status="True"),))
    return replace(told, node_info=replace(told.node_info, kubelet_version=version))


@pytest.mark.parametrize(
    ("one", "other", "kinds"),
    [
        pytest.param(node_of("b"), node_of("c"), 1, id="names"),
        pytest.param(
            node_of("b", no_execute(time_added=START)),
            node_of("c", no_execute(time_added=START + HOUR)),
            1,
            id="times",
        ),
        pytest.param(node_of("b", labels={"zone": "1"}), node_of("c"), 1, id="labels"),
        pytest.param(node_of("b", no_execute("x")), node_of("c", no_execute("y")), 2, id="keys"),
        pytest.param(
            node_of("b", Taint(key="x", effect="NoSchedule")),
            node_of("c", Taint(key="x", effect="PreferNoSchedule")),
            2,
            id="effects",
        ),
        pytest.param(
            replace(node_of("b"), spec=replace(node_of("b").spec, unschedulable=True)),
            node_of("c"),
            2,
            id="unschedulable",
        ),
        pytest.param(
            replace(node_of("b"), status=under("DiskPressure")), node_of("c"), 2, id="pressure"
        ),
        pytest.param(
            replace(node_of("b"), status=under("Ready")), node_of("c"), 1, id="no pressure"
        ),
        pytest.param(
            replace(node_of("b"), status=under("DiskPressure", "v1.37.0")),
            replace(node_of("c"), status=under("DiskPressure")),
            2,
            id="kubelets under pressure",
        ),
        pytest.param(
            replace(node_of("b"), status=under("Ready", "v1.37.0")),
            replace(node_of("c"), status=under("Ready")),
            1,
            id="kubelets",
        ),
        pytest.param(
            node_of("b", annotations=Annotations(maintenance="2026-01-02T00:00:00Z")),
            node_of("c"),
            2,
            id="maintenance",
        ),
    ],
)
def test_what_tells_nodes_apart(one: Node, other: Node, kinds: int) -> None:
    assert kinds_of(one, other) == kinds


def test_a_system_that_tells_nothing_of_what_it_sees_has_each_node_by_itself() -> None:
    out = Taint(key=LIGHTS_OUT, effect="NoSchedule", time_added=START)
    later = replace(out, time_added=START + HOUR)
    nodes = (node_of("a", out), node_of("b", later), node_of("c", later))
    assert kinds_of(*nodes, systems=THREE_SYSTEMS) == 3
    judging = NodePool(THREE_SYSTEMS.all, nodes).at(START, OPTIONS)
    found = by_name(judging.of(pod_of("p")))
    ends = {name: one.residency.end - START for name, one in found.items()}
    minute = timedelta(minutes=1)
    assert ends == {"a": minute, "b": HOUR + minute, "c": HOUR + minute}
    assert {one.residency.decided_by for one in found.values()} == {NAME}


def test_nodes_of_which_the_same_is_said_stand_together_though_they_differ() -> None:
    nodes = [node_of("c", no_execute("x")), node_of("a", no_execute("y")), node_of("b")]
    pod = pod_of("p", "", Toleration(operator="Exists"))
    verdicts = NodePool(SYSTEMS.all, nodes).at(START, OPTIONS).of(pod)
    assert [one.nodes for one in verdicts] == [("a", "c"), ("b",)]


def test_a_group_falls_apart_only_for_times_that_are_to_come() -> None:
    times = [None, START - HOUR, START, START + HOUR, START + 2 * HOUR]
    nodes = [node_of(f"n{i}", no_execute(time_added=one)) for i, one in enumerate(times)]
    pool = NodePool(SYSTEMS.all, nodes)
    pod = pod_of("p", "", tolerating(seconds=60))
    for now, ends in (
        (START - 2 * HOUR, [-2, -1, 0, 1, 2]),
        (START, [0, 0, 0, 1, 2]),
        (START + 3 * HOUR, [3] * 5),
    ):
        found = by_name(pool.at(now, OPTIONS).of(pod))
        told = [found[f"n{i}"].residency.end - START for i in range(5)]
        assert told == [one * HOUR + timedelta(seconds=60) for one in ends]
    assert len(pool.at(START, OPTIONS).parts) == 3
    assert len(pool.at(START + 3 * HOUR, OPTIONS).parts) == 1


@pytest.mark.parametrize("earlier", [None, START - HOUR])
@pytest.mark.parametrize("times", list(permutations((START - HOUR, START, START + HOUR))))
@pytest.mark.parametrize("on_one_node", [True, False])
def test_a_time_that_is_to_come_is_told_whichever_comes_first(
    earlier: datetime | None, times: tuple[datetime, ...], *, on_one_node: bool
) -> None:
    """Of one node each time is that of another taint; else each is of a node of its own."""
    lists = [times] if on_one_node else [(one,) * 3 for one in times]
    pool = NodePool(SYSTEMS.all)
    for index, told in enumerate([(earlier,) * 3, *lists]):
        taints = [no_execute(key, time_added=one) for key, one in zip("abc", told, strict=True)]
        pool.put(node_of(f"n{index}", *taints))
    assert len(list(pool.groups)) == 1
    assert len(pool.at(START, OPTIONS).parts) == 2, "one node has a time that is to come"


def test_a_node_that_is_not_there_is_told_by_its_place() -> None:
    pool = NodePool(SYSTEMS.all, [node_of("a")])
    with pytest.raises(FactsError) as caught:
        pool.at(START, OPTIONS, ["a", "b"])
    assert caught.value.path == "$.nodes[1]"


def lists(number: int, *, length: int = 1) -> Iterable[tuple[Toleration, ...]]:
    for index in range(number):
        yield tuple(Toleration(key=f"k{index}-{n}") for n in range(length))


def test_what_is_remembered_is_bounded() -> None:
    remembered = Remembered()
    (group,) = NodePool(SYSTEMS.all, [node_of("a", no_execute())]).groups
    most = 0
    for one in lists(5000):
        first = remembered.of(one, comparison_operators=False).of(group)
        assert remembered.of(one, comparison_operators=False).of(group) == first
        most = max(most, len(remembered))
    assert 900 < most <= 1000
    assert len(remembered._lists) < 1000


def test_long_lists_are_not_remembered() -> None:
    remembered = Remembered()
    for one in lists(10, length=21):
        remembered.of(one, comparison_operators=False)
    assert len(remembered) == 0


def test_the_gate_is_told_apart_in_what_is_remembered() -> None:
    pool = NodePool(SYSTEMS.all, [node_of("a", Taint(key="x", value="6", effect="NoSchedule"))])
    pod = pod_of("p", "", Toleration(key="x", operator="Gt", value="5"))
    for gate in (False, True, False):
        options = Options(explain=False, comparison_operators=gate)
        (one,) = pool.at(START, options).of(pod)
        assert one.feasible is gate


def test_what_is_held_grows_and_shrinks_with_the_nodes() -> None:
    pool = NodePool(SYSTEMS.all)
    empty = pool.held
    pool.put(node_of("a", no_execute("x")))
    one = pool.held
    pool.put(node_of("b", no_execute("x")))
    alike = pool.held
    pool.put(node_of("c", no_execute("y")))
    assert empty < one < alike < pool.held
    assert pool.held - alike > alike - one
    for name in ("a", "b", "c", "d"):
        pool.remove(name)
    assert (pool.held, len(pool), pool.names_length) == (empty, 0, 0)


def test_what_was_said_of_a_group_is_forgotten_with_it() -> None:
    pool = NodePool(SYSTEMS.all)
    for index in range(20):
        pool.put(node_of("a", Taint(key=f"k{index}", effect="PreferNoSchedule")))
        pool.at(START, OPTIONS).of(pod_of("p"))
    assert list(pool._remembered._answers) == list(pool.groups)
    pool.remove("a")
    assert not pool._remembered._answers
    assert len(pool._remembered) == 1


def test_a_list_is_answered_right_though_its_answers_are_forgotten_meanwhile() -> None:
    remembered = Remembered()
    (group,) = NodePool(SYSTEMS.all, [node_of("a", no_execute())]).groups
    first = remembered.of((), comparison_operators=False)
    expected = first.of(group)
    for one in lists(1000):
        remembered.of(one, comparison_operators=False).of(group)
        assert first.of(group) == expected
    assert 0 < len(remembered) <= 1000


def test_times_are_held_for_each_node() -> None:
    pool = NodePool(SYSTEMS.all)
    empty = pool.held
    for index in range(20):
        times = [START + timedelta(seconds=index + n) for n in range(100)]
        pool.put(node_of(f"n{index}", *[no_execute(time_added=one) for one in times]))
    assert len(list(pool.groups)) == 1
    assert pool.held - empty > 20 * 100 * 50
    all_of_them = pool.held
    for index in range(19):
        pool.remove(f"n{index}")
    assert all_of_them - pool.held > 19 * 100 * 50
    pool.remove("n19")
    assert pool.held == empty


def test_taints_that_say_nothing_are_held_too() -> None:
    empty = NodePool(SYSTEMS.all).held
    assert NodePool(SYSTEMS.all, [node_of("a", *[Taint()] * 1000)]).held - empty > 100 * 1000
    told = replace(node_of("a"), status=NodeStatus(conditions=(NodeCondition(),) * 1000))
    assert NodePool(SYSTEMS.all, [told]).held - empty > 50 * 1000


def test_maintenance_is_held_of_nodes_that_are_not_there_too() -> None:
    names = tuple(f"n{index}" for index in range(1000))
    told = [Maintenance(nodes=names, starts_at=START, reason="x" * 253)] * 2
    held = NodePool(SYSTEMS.all, maintenance=told).held - NodePool(SYSTEMS.all).held
    assert 200_000 < held < 500_000


def test_maintenance_is_over_at_the_instant_of_its_end() -> None:
    told = [Maintenance(nodes=("n",), starts_at=START, ends_at=START + HOUR)]
    pool = NodePool(SYSTEMS.all, [node_of("n")], maintenance=told)
    for now, for_ever in ((START + HOUR - timedelta.resolution, False), (START + HOUR, True)):
        (one,) = pool.at(now, OPTIONS).of(pod_of("p"))
        assert one.residency.for_ever is for_ever


def test_a_node_that_was_alike_and_is_gone_is_no_longer_told_of() -> None:
    pool = NodePool(SYSTEMS.all, [node_of("a"), node_of("b")])
    assert pool.at(START, OPTIONS).of(pod_of("p"))[0].nodes == ("a", "b")
    pool.remove("a")
    assert pool.at(START, OPTIONS).of(pod_of("p"))[0].nodes == ("b",)


def test_a_time_that_is_no_longer_told_is_forgotten() -> None:
    later = node_of("a", no_execute(time_added=START + HOUR))
    pool = NodePool(SYSTEMS.all, [later, node_of("b", no_execute())])
    pool.put(node_of("a", no_execute()))
    (one,) = pool.at(START, OPTIONS).of(pod_of("p", "", tolerating(seconds=60)))
    assert one.nodes == ("a", "b")
    assert one.residency.until == START + timedelta(seconds=60)


def test_pods_that_systems_see_otherwise_are_answered_apart() -> None:
    told = DeviceTaintFacts(
        resource_claims=tuple(
            claim(name, on(name), reserved_for=(reserved(),)) for name in ("a", "b")
        ),
        resource_slices=(slice_of(a=(taint(added=60),), b=(taint(added=90),)),),
    )
    pool = NodePool(SYSTEMS.all, [node_of("n")], facts={"device-taints": told})
    judging = pool.at(START, OPTIONS)
    ended = pod_of("p", phase="Succeeded")
    some = (using("a"), using("b"), using(), ended, pod_of("p"))
    ends = [judging.of(pod)[0].residency.until for pod in some]
    assert ends == [START + timedelta(seconds=60), START + timedelta(seconds=90), None, None, None]
    reasons = [judging.of(pod)[0].residency.reason for pod in some[2:]]
    assert reasons == ["NoTaint", "PodFinished", "NoTaint"]


class Everywhere(LightsOutSystem):
    """Decides by the node, and says that it needs none."""

    def is_reached(self, scene: Scene, facts: NoFacts) -> bool:
        return True


def test_a_system_that_decides_by_the_node_is_not_asked_without_one() -> None:
    pool = NodePool((Everywhere(),), [node_of("n")], facts={NAME: NoFacts()})
    assert pool.shared == ()


def test_for_ever_is_longer_than_to_the_end_of_time() -> None:
    nodes = [node_of("a", no_execute()), node_of("b", no_execute("other"))]
    tolerations = (tolerating(seconds=2**62), Toleration(key="other", operator="Exists"))
    verdicts = NodePool(SYSTEMS.all, nodes).at(START, OPTIONS).of(pod_of("p", "", *tolerations))
    assert [(one.nodes, one.residency.for_ever) for one in verdicts] == [
        (("b",), True),
        (("a",), False),
    ]
