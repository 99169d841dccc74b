"""Which slice is held to account for an eviction."""

from __future__ import annotations

import pytest

from bailiff.decisions.device_taints import blamed_slice
from tests.harness.device_kinds import at, claim, index_of, on, rule, slice_of, taint, using

OURS = slice_of("ours", pool="p1", node_name="node", a=(taint(added=5),))
THEIRS = slice_of("theirs", pool="p2", node_name="other", a=(taint(added=1),))
ANYWHERE = slice_of("anywhere", pool="p3", a=(taint(added=7),))
LATER = slice_of("later", pool="p1", node_name="node", a=(taint(added=500),))
OF_A_RULE = rule(pool="p2")


@pytest.mark.parametrize(
    ("objects", "blamed"),
    [
        pytest.param([OURS], "ours", id="the only one"),
        pytest.param([THEIRS], "theirs", id="the only one, of another node"),
        pytest.param([OURS, THEIRS], "ours", id="its own node's before another's"),
        pytest.param([THEIRS, ANYWHERE], "anywhere", id="of no node before another's"),
        pytest.param([OURS, ANYWHERE], "ours", id="the one that was due first"),
        pytest.param([LATER, THEIRS], "theirs", id="what is due later is nobody's doing"),
        pytest.param([LATER], None, id="nothing is due"),
    ],
)
def test_the_slice_for_whose_taint_a_pod_goes(objects, blamed):
    results = [on("a", pool=one.spec.pool.name) for one in objects]
    assert name_of(objects, results) == blamed


def test_what_a_rule_evicts_too_is_no_slice_s_doing():
    assert name_of([THEIRS, OF_A_RULE], [on("a", pool="p2")]) is None


def test_a_higher_generation_of_another_node_is_to_blame_for_the_whole_pool():
    """The attack: nothing but `create resourceslices` is needed for it."""
    honest = slice_of("honest", generation=3, node_name="node", a=())
    attack = slice_of("attack", generation=999, node_name="other", a=(taint(),))
    assert name_of([honest, attack], [on("a")]) == "attack"


def name_of(objects, results):
    pod = using("c")
    index = index_of(*objects, claim("c", *results), pod)
    found = blamed_slice(index.eviction(pod), index.slices, pod.spec.node_name, at(100))
    return None if found is None else found.metadata.name
