"""An index kept in step says what one built anew would say, and names all that a change reaches."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.decisions import Options
from bailiff.decisions.device_taints import Affected, DeviceTaintIndex
from bailiff.kinds import DeviceTaintRule, Pod, ResourceClaim, ResourceSlice
from tests.conformance.device_strategies import events, rules
from tests.harness.asking import of_devices
from tests.harness.device_kinds import (
    NOW,
    add,
    at,
    claim,
    index_of,
    on,
    reserved,
    rule,
    slice_of,
    taint,
    using,
)

KINDS = {kind.__name__: kind for kind in (ResourceSlice, ResourceClaim, DeviceTaintRule, Pod)}
OPTIONS = (
    Options(),
    Options(evict_ended_pods=True, extended_resource_claims=False),
    Options(pod_group_claims=True),
)


class World:
    """Objects, and an index that is told of every change to them."""

    def __init__(self):
        self.index = DeviceTaintIndex()
        self.objects = {}

    def change(self, event):
        one = event["object"]
        kind, name = KINDS[one["kind"]], one["metadata"]["name"]
        if event["type"] != "DELETED":
            new = msgspec.convert(one, kind)
            self.objects[kind, name] = new
            return add(self.index, new)
        self.objects.pop((kind, name), None)
        if kind is ResourceSlice:
            return self.index.delete_slice(name)
        if kind is DeviceTaintRule:
            return self.index.delete_rule(name)
        if kind is ResourceClaim:
            return self.index.delete_claim(("default", name))
        return self.index.delete_pod(("default", name))

    def of(self, kind):
        return {name: one for (known, name), one in self.objects.items() if known is kind}


def told(index, world, options):
    """All that an index can be asked."""
    ruled = world.of(DeviceTaintRule).items()
    return (
        {name: of_devices(index, pod, NOW, options) for name, pod in world.of(Pod).items()},
        {name: index.eviction(pod, options) for name, pod in world.of(Pod).items()},
        {name: index.claim(("default", name)) for name in ("c1", "c2", "made")},
        {name: index.pods_doomed_by(one, options) for name, one in ruled},
        {name: index.effect_of(one, options) for name, one in ruled},
    )


def changed(before, after):
    """For what is still there the answer is another."""
    return {name for name in after if before.get(name) != after[name]}


@given(events(unique=False), st.sampled_from(OPTIONS), st.randoms(use_true_random=False))
def test_kept_in_step_it_says_what_one_built_anew_says(case, options, random):
    world = World()
    for event in case["events"]:
        world.change(event)
    arriving = list(world.objects.values())
    random.shuffle(arriving)
    assert told(world.index, world, options) == told(index_of(*arriving), world, options)


@given(events(unique=False), st.sampled_from(OPTIONS))
def test_a_change_names_all_pods_and_rules_that_it_reaches(case, options):
    world = World()
    for event in case["events"]:
        before = told(world.index, world, options)
        affected = world.change(event)
        after = told(world.index, world, options)
        assert changed(before[1], after[1]) <= {name for _, name in affected.pods}
        assert changed(before[3], after[3]) <= affected.rules
        # What is said of those that stay may change as well.
        claiming = {name for _, name in world.index.pods}
        assert changed(before[0], after[0]) & claiming <= {name for _, name in affected.pods}


@given(events(), rules())
def test_asking_what_a_rule_would_do_changes_nothing(case, one):
    world = World()
    for event in case["events"]:
        world.change(event)
    before = told(world.index, world, Options())
    world.index.effect_of(msgspec.convert(one, DeviceTaintRule))
    assert told(world.index, world, Options()) == before


@given(events())
def test_when_all_is_gone_nothing_is_kept(case):
    world = World()
    for event in case["events"]:
        world.change(event)
    for kind, name in list(world.objects):
        world.change(
            {"type": "DELETED", "object": {"kind": kind.__name__, "metadata": {"name": name}}}
        )
    index, empty = world.index, DeviceTaintIndex()
    assert not index.slices
    assert not index.claims
    assert not index.rules
    assert not index.pods
    verdicts = index._verdicts
    left = (index._users, verdicts._claims_on, verdicts._doomed_by)
    assert [list(links) for links in left] == [[], [], []]
    assert verdicts._found == {}
    assert verdicts._pools._pools == {}
    assert verdicts._rules._evicting == {}
    assert told(index, world, Options()) == told(empty, world, Options())


POD = ("default", "p")
QUIET = (claim(), using("c"), claim("d", on("b"), reserved_for=(reserved("q", "q-1"),)))


@pytest.mark.parametrize(
    ("change", "affected"),
    [
        pytest.param(lambda i: i.apply_slice(slice_of(a=(taint(),))), {POD}, id="tainted"),
        pytest.param(lambda i: i.apply_slice(slice_of(x=(taint(),))), set(), id="not allocated"),
        pytest.param(lambda i: i.apply_slice(slice_of(a=())), set(), id="untainted"),
        pytest.param(lambda i: i.delete_slice("s"), set(), id="no such slice"),
        pytest.param(lambda i: i.apply_rule(rule(device="a")), {POD}, id="ruled"),
        pytest.param(lambda i: i.apply_rule(rule(effect="None")), set(), id="no effect"),
        pytest.param(lambda i: i.apply_claim(claim(reserved_for=())), {POD}, id="released"),
        pytest.param(lambda i: i.delete_claim(("default", "c")), {POD}, id="claim gone"),
        pytest.param(lambda i: i.delete_claim(("default", "x")), set(), id="no such claim"),
        pytest.param(lambda i: i.apply_pod(using(name="other")), set(), id="a pod without claims"),
        pytest.param(lambda i: i.apply_pod(using()), {POD}, id="a pod with claims no more"),
        pytest.param(lambda i: i.delete_pod(POD), {POD}, id="pod gone"),
    ],
)
def test_a_change_touches_only_what_it_reaches(change, affected):
    assert change(index_of(*QUIET)).pods == affected


def test_a_slice_that_moves_to_another_pool_leaves_the_old_one():
    index = index_of(*QUIET, slice_of(a=(taint(),)))
    assert index.eviction(using("c")) is not None
    assert index.apply_slice(slice_of(pool="other", a=(taint(),))).pods == {POD}
    assert index.eviction(using("c")) is None


def test_an_allocation_changed_in_one_update_counts_at_once():
    index = index_of(*QUIET, slice_of(a=(taint(),), b=(taint(added=9),)))
    index.apply_claim(claim("c", on("b")))
    eviction = index.eviction(using("c"))
    assert eviction is not None
    assert eviction.evict_at == at(9)


def test_a_status_written_to_a_rule_is_no_change():
    index = index_of(*QUIET)
    assert index.apply_rule(rule()).rules == {"r"}
    assert index.apply_rule(rule()) == Affected()
    # Its spec, or another rule of the name, is one.
    assert index.apply_rule(rule(added=4)) == ({POD}, {"r"})
    assert index.apply_rule(rule(added=4, uid="r-2")) == ({POD}, {"r"})
    assert index.delete_rule("r") == ({POD}, frozenset())


@pytest.mark.parametrize(
    "change",
    [
        lambda i: i.delete_pod(POD),
        lambda i: i.apply_pod(using("c", deletion_timestamp=NOW)),
        lambda i: i.apply_claim(claim(reserved_for=())),
    ],
)
def test_a_rule_is_told_of_when_its_pods_are_others(change):
    index = index_of(*QUIET, rule())
    assert [pod.name for pod in index.pods_doomed_by(rule())] == ["p"]
    assert change(index).rules == {"r"}
    assert index.pods_doomed_by(rule()) == ()


def test_a_rule_that_is_taken_in_by_parts_counts_for_all_from_the_first_part_on():
    many = 500
    index = DeviceTaintIndex()
    for number in range(many):
        add(index, claim(f"c{number}", on(f"d{number}"), reserved_for=[reserved(f"p{number}")]))
        add(index, using(f"c{number}", name=f"p{number}"))
    parts = index.applying_rule(rule())
    assert next(parts).rules == {"r"}
    assert all(index.eviction(pod) for pod in index.pods.values())
    told = [part.pods for part in parts]
    assert len(told) > 2
    assert frozenset().union(*told) == index.pods.keys()
    next(parts := index.deleting_rule("r"))
    assert not any(index.eviction(pod) for pod in index.pods.values())
    assert [len(part.rules) for part in parts] == [0] * (len(told) - 1)
