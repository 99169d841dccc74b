"""A change above the blast radius is refused, by the worker's own rule."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bailiff.decisions import Finding, Verdict
from bailiff.decisions.admission.radius import namespaces_to_count, refusal
from bailiff.decisions.changes import ChangedPod, Consequences
from bailiff.decisions.policies import Blast, BlastRadius, blast_excess, enough_pods
from bailiff.kinds import Annotations
from tests.harness.kinds import node_of, pod_of

CAUSE, OTHER = "k:NoExecute", "other:NoExecute"
NODE = node_of("n")
STAYS = Finding(system="s", verdict=Verdict.KEEP, reason="r", message="m")


def consequences(causes: Any = (CAUSE,), **pods: int) -> Consequences:
    """So many pods of each namespace, for the first of the causes."""
    after = Finding(system="s", verdict=Verdict.EVICT_NOW, reason="r", message="m", cause=CAUSE)
    found = [
        ChangedPod(pod_of(f"p{one}", "n", namespace=namespace), STAYS, after)
        for namespace, number in pods.items()
        for one in range(number)
    ]
    return Consequences(pods=tuple(found), causes=causes)


def refused(found: Consequences, namespace_pods: Any = None, **bounds: Any) -> str | None:
    return refusal(found, BlastRadius(**bounds), namespace_pods or {}, NODE)


def test_the_rule_and_what_to_do_are_named() -> None:
    assert refused(consequences(shop=3), max_pods=2) == (
        "blastRadius: k:NoExecute evicts 3 pods, more than 2; where that is meant, annotate Node n "
        "first: bailiff.dev/acknowledged-taints='k:NoExecute'"
    )


def test_what_the_cause_evicts_elsewhere_counts_with_it() -> None:
    found = replace(consequences(shop=1), elsewhere={(CAUSE, "other"): 2, (OTHER, "shop"): 9})
    assert "evicts 3 pods, more than 2" in (refused(found, max_pods=2) or "")
    assert refused(found, max_pods=3) is None


def test_what_the_change_does_not_add_to_is_not_refused() -> None:
    found = replace(consequences(), elsewhere={(CAUSE, "shop"): 9})
    assert refused(found, max_pods=2) is None
    kubernetes_own = consequences(causes=(), shop=9)
    assert refused(kubernetes_own, max_pods=2) is None


def test_a_fraction_counts_for_the_namespaces_that_the_change_reaches() -> None:
    found = replace(consequences(shop=3), elsewhere={(CAUSE, "shop"): 3, (CAUSE, "far"): 10})
    bounds: Any = {"max_namespace_fraction": 0.5}
    assert namespaces_to_count(found, BlastRadius(**bounds), NODE) == {"shop": 13}
    why = refused(found, {"shop": 10, "far": 10}, **bounds)
    assert "evicts 6 of 10 pods (60 %) of namespace shop, more than 50 %" in (why or "")
    assert refused(found, {"shop": 12}, **bounds) is None
    assert refused(found, {}, **bounds) is None, "nobody could count them"


def test_too_many_to_look_at_are_above_every_radius() -> None:
    found = replace(consequences(shop=1), too_many=("4 pods",), uncounted=("3 nodes",))
    why = refused(found, max_pods=100)
    assert why is not None
    assert "k:NoExecute evicts 1 pods or more, not looked at: 4 pods, 3 nodes; " in why


def test_who_may_go_unseen_is_held_against_it_and_who_may_go_elsewhere_is_not() -> None:
    assert refused(replace(consequences(), too_many=("4 pods",)), max_pods=100)
    assert refused(replace(consequences(), uncounted=("3 nodes",)), max_pods=100) is None


def test_each_cause_is_looked_at() -> None:
    metadata = replace(NODE.metadata, annotations=Annotations(acknowledged_taints=OTHER))
    found = replace(consequences((OTHER, CAUSE), shop=9), too_many=("3 pods",))
    assert refusal(found, BlastRadius(max_pods=2), {}, replace(NODE, metadata=metadata))


@pytest.mark.parametrize(
    ("annotation", "allowed"),
    [(CAUSE, True), (f"{OTHER}, {CAUSE}", True), ("k=:NoExecute", True), (OTHER, False)],
)
def test_what_is_acknowledged_passes(annotation: str, *, allowed: bool) -> None:
    metadata = replace(NODE.metadata, annotations=Annotations(acknowledged_taints=annotation))
    node = replace(NODE, metadata=metadata)
    found = replace(consequences(shop=9), too_many=("3 pods",))
    assert (refusal(found, BlastRadius(max_pods=2), {}, node) is None) is allowed


@given(
    evicted=st.integers(0, 200),
    others=st.integers(0, 2000),
    fraction=st.floats(0.001, 1),
    least=st.integers(1, 50),
)
def test_counting_enough_is_as_good_as_counting_all(
    evicted: int, others: int, fraction: float, least: int
) -> None:
    bounds = BlastRadius(max_namespace_fraction=fraction, min_namespace_pods=least)
    pods = evicted + others
    enough = enough_pods(evicted, bounds)
    counted = min(pods, enough)
    exact, quick = (
        blast_excess(Blast(CAUSE, evicted, evicted, number), bounds, "shop") is not None
        for number in (pods, counted)
    )
    assert exact is quick


@given(st.dictionaries(st.sampled_from("abcd"), st.integers(0, 20)), st.integers(1, 60))
def test_exactly_what_is_above_the_bound_is_refused(pods: dict[str, int], most: int) -> None:
    total = Counter(pods).total()
    assert (refused(consequences(**pods), max_pods=most) is not None) is (total > most)
