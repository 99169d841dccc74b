"""What a change of a node's taints evicts: only what it brings counts."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bailiff.decisions import FactsError, Verdict
from bailiff.decisions.changes import MAX_CHANGED_PODS, Consequences
from bailiff.decisions.node_taints.consequences import MAX_PEERS
from bailiff.kinds import Node, Pod, Taint, Toleration
from tests.harness.changes import Shown
from tests.harness.device_kinds import NOW
from tests.harness.kinds import no_execute, node_of, pod_of, tolerating

PLAIN, PATIENT, STOIC = (
    pod_of("plain", "n"),
    pod_of("patient", "n", tolerating(seconds=300)),
    pod_of("stoic", "n", tolerating()),
)
PODS = (PLAIN, PATIENT, STOIC, pod_of("elsewhere", "other"), pod_of("done", "n", phase="Failed"))


def consequences(old: Node | None, new: Node, *objects: Pod | Node) -> Consequences | None:
    return Shown(*(objects or PODS)).what_comes_of(old, new, everywhere=True)


def going(found: Consequences | None) -> dict[str, str]:
    assert found is not None
    return {one.pod.metadata.name: one.after.verdict.value for one in found.pods}


def test_a_taint_evicts_now_and_later() -> None:
    found = consequences(node_of("n"), node_of("n", no_execute()))
    assert going(found) == {"plain": "EVICT_NOW", "patient": "EVICT_AT"}
    assert found is not None
    assert found.causes == ("maintenance:NoExecute",)
    assert found.pods[1].after.evict_at == NOW + timedelta(seconds=300)
    assert [one.goes_now for one in found.pods] == [True, False]
    assert (found.not_seen, found.too_many, dict(found.elsewhere)) == ((), (), {})


def test_a_new_node_brings_all_its_taints() -> None:
    found = consequences(None, node_of("n", no_execute(value="x")))
    assert going(found) == {"plain": "EVICT_NOW", "patient": "EVICT_AT"}
    assert found is not None
    assert found.causes == ("maintenance=x:NoExecute",)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param((), (), id="no taints"),
        pytest.param((no_execute(),), (no_execute(),), id="the same taints"),
        pytest.param((no_execute(),), (), id="one taken away"),
        pytest.param((no_execute("a"), no_execute("b")), (no_execute("b"),), id="one of two"),
        pytest.param((no_execute("a"), no_execute("b")), (no_execute("b"), no_execute("a")),
                     id="in another order"),
        pytest.param((), (Taint(key="a", effect="NoSchedule"),), id="one that evicts nobody"),
    ],
)  # fmt: skip
def test_nothing_is_read_where_nothing_evicting_comes(
    before: tuple[Taint, ...], after: tuple[Taint, ...]
) -> None:
    shown = Shown(*PODS)
    assert shown.what_comes_of(node_of("n", *before), node_of("n", *after)) is None
    assert shown.wanted == []


def test_who_goes_anyway_is_not_counted_again() -> None:
    before, after = node_of("n", no_execute("a")), node_of("n", no_execute("a"), no_execute("b"))
    patient = pod_of("patient", "n", Toleration(key="a", operator="Exists"))
    assert going(consequences(before, after, PLAIN, patient)) == {"patient": "EVICT_NOW"}


def test_who_goes_sooner_is_counted_and_who_goes_later_is_not() -> None:
    soon = pod_of("soon", "n", tolerating("a", 600), tolerating("b", 60))
    late = pod_of("late", "n", tolerating("a", 60), tolerating("b", 600))
    both = node_of("n", no_execute("a")), node_of("n", no_execute("a"), no_execute("b"))
    assert going(consequences(*both, soon, late)) == {"soon": "EVICT_AT"}
    swapped = node_of("n", no_execute("a")), node_of("n", no_execute("b"))
    assert going(consequences(*swapped, soon, late)) == {"soon": "EVICT_AT"}


def test_another_value_is_another_taint() -> None:
    picky = Toleration(key="maintenance", operator="Equal", value="a", effect="NoExecute")
    nodes = node_of("n", no_execute(value="a")), node_of("n", no_execute(value="b"))
    found = consequences(*nodes, pod_of("picky", "n", picky))
    assert going(found) == {"picky": "EVICT_NOW"}


FAILURES = (
    no_execute("node.kubernetes.io/not-ready"),
    no_execute("node.kubernetes.io/unreachable"),
)


def test_marks_of_nodes_that_fail_are_told_of_and_never_refused() -> None:
    found = consequences(node_of("n"), node_of("n", *FAILURES))
    assert set(going(found)) == {"plain", "patient", "stoic"}
    assert found is not None
    assert found.causes == ()


def test_nothing_is_read_where_kubernetes_marks_a_node_that_fails() -> None:
    shown = Shown(*PODS)
    old = node_of("n")
    marked = node_of("n", *FAILURES)
    assert shown.what_comes_of(old, marked, by_kubernetes=True) is None
    assert shown.wanted == []
    also = node_of("n", *FAILURES, no_execute())
    found = shown.what_comes_of(old, also, by_kubernetes=True)
    assert found is not None
    assert found.causes == ("maintenance:NoExecute",)


def test_other_keys_of_kubernetes_may_be_refused() -> None:
    found = consequences(
        node_of("n"), node_of("n", no_execute("node.kubernetes.io/out-of-service"))
    )
    assert set(going(found)) == {"plain", "patient", "stoic"}
    assert found is not None
    assert found.causes == ("node.kubernetes.io/out-of-service:NoExecute",)


def test_the_same_taint_on_other_nodes_is_counted_by_namespace() -> None:
    peer = node_of("peer", no_execute())
    others = (
        pod_of("a", "peer"),
        pod_of("b", "peer", namespace="shop"),
        pod_of("stays", "peer", tolerating()),
        pod_of("ended", "peer", phase="Succeeded"),
    )
    innocent = node_of("innocent", no_execute(value="x")), pod_of("c", "innocent")
    found = consequences(node_of("n"), node_of("n", no_execute()), PLAIN, peer, *others, *innocent)
    assert found is not None
    assert found.elsewhere == {
        ("maintenance:NoExecute", "default"): 1,
        ("maintenance:NoExecute", "shop"): 1,
    }


def test_the_node_itself_is_no_other_node() -> None:
    """It may be in the list as it is to be: somebody has allowed that a moment ago."""
    found = consequences(
        node_of("n"), node_of("n", no_execute()), PLAIN, node_of("n", no_execute())
    )
    assert found is not None
    assert (len(found.pods), dict(found.elsewhere)) == (1, {})


def test_a_pod_counts_for_the_first_taint_that_it_does_not_tolerate() -> None:
    taints = [no_execute(key) for key in "gfedcba"]
    found = consequences(node_of("n"), node_of("n", *taints), PLAIN)
    assert found is not None
    assert found.pods[0].after.cause == "g:NoExecute"


def test_other_nodes_are_read_only_where_they_count() -> None:
    shown = Shown(PLAIN, node_of("peer", no_execute()))
    shown.what_comes_of(node_of("n"), node_of("n", no_execute()))
    assert [one.kind for one in shown.wanted] == [Pod]


def test_a_pod_that_goes_for_another_taint_there_does_not_count() -> None:
    peer = node_of("peer", no_execute("first"), no_execute())
    found = consequences(node_of("n"), node_of("n", no_execute()), peer, pod_of("a", "peer"))
    assert found is not None
    assert not found.elsewhere


def test_of_too_many_pods_it_is_said_that_they_were_not_looked_at() -> None:
    pods = [pod_of(f"p{number}", "n") for number in range(MAX_CHANGED_PODS + 1)]
    found = consequences(node_of("n"), node_of("n", no_execute()), *pods)
    assert found is not None
    assert len(found.pods) == MAX_CHANGED_PODS
    assert found.too_many == ("pods of the node beyond the first 5000",)


def test_of_too_many_nodes_it_is_said_that_they_were_not_looked_at() -> None:
    peers = [node_of(f"n{number}", no_execute()) for number in range(MAX_PEERS + 3)]
    found = consequences(node_of("n"), node_of("n", no_execute()), PLAIN, *peers)
    assert found is not None
    assert found.uncounted == ("3 of 103 other nodes with the taint",)


@pytest.mark.parametrize("kind", [Pod, Node])
def test_what_may_not_be_read_is_said(kind: type[Pod | Node]) -> None:
    shown = Shown(PLAIN, node_of("peer", no_execute()), forbidden=(kind,))
    found = shown.what_comes_of(node_of("n"), node_of("n", no_execute()), everywhere=True)
    assert found is not None
    assert len(found.not_seen) == 1
    assert f"no {kind.__name__}" in found.not_seen[0]
    assert len(found.pods) == (kind is Node)
    assert found.causes


def test_what_would_take_too_long_is_not_begun() -> None:
    taints = [no_execute(f"k{number}") for number in range(1000)]
    busy = pod_of("p", "n", *(tolerating(f"t{number}") for number in range(2000)))
    with pytest.raises(FactsError, match="comparisons"):
        consequences(node_of("n"), node_of("n", *taints), busy)


def test_the_note_on_a_node_does_not_age_a_taint_that_comes_now() -> None:
    found = consequences(node_of("n"), node_of("n", no_execute()), PATIENT)
    assert found is not None
    assert found.pods[0].after.evict_at == NOW + timedelta(seconds=300)
    assert found.pods[0].before.verdict is Verdict.KEEP
