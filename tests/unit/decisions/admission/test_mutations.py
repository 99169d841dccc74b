"""The tolerations that pods are given, and the patch that gives them."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.decisions.admission import AdmittedPod, Mutation, Mutations, patch_of
from bailiff.kinds import decode
from bailiff_demo.patches import apply_patch
from tests.harness.fuzzing import fuzzed

DAEMON = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "controller": True}
NOT_READY, UNREACHABLE = "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"
ALL = Mutations()


def pod_of(spec: Any, owner: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"metadata": {"ownerReferences": [owner] if owner else []}, "spec": spec}


def patch(pod: dict[str, Any], mutations: Mutations = ALL) -> Any:
    found = patch_of(decode(json.dumps(pod).encode(), AdmittedPod), mutations)
    return json.loads(msgspec.json.encode(found))


def patched(pod: dict[str, Any], mutations: Mutations = ALL) -> Any:
    return apply_patch("application/json-patch+json", pod, patch(pod, mutations))


def keys(pod: dict[str, Any], mutations: Mutations = ALL) -> list[str]:
    return [one["key"] for one in patched(pod, mutations)["spec"]["tolerations"]]


def seconds(key: str, value: int | None = 300) -> dict[str, Any]:
    made = {"key": key, "operator": "Exists", "effect": "NoExecute"}
    return made if value is None else {**made, "tolerationSeconds": value}


DEFAULTS = [seconds(NOT_READY), seconds(UNREACHABLE)]


@pytest.mark.parametrize(
    "spec", [{}, {"tolerations": None}, {"tolerations": []}], ids=["absent", "null", "empty"]
)
def test_a_pod_without_tolerations_gets_a_list(spec: dict[str, Any]) -> None:
    assert patch(pod_of(spec)) == [{"op": "add", "path": "/spec/tolerations", "value": DEFAULTS}]


@pytest.mark.parametrize("spec", [{}, {"spec": None}], ids=["absent", "null"])
def test_a_pod_without_a_spec_gets_one(spec: dict[str, Any]) -> None:
    pod = {"metadata": {}, **spec}
    assert patch(pod) == [{"op": "add", "path": "/spec", "value": {"tolerations": DEFAULTS}}]
    assert patched(pod) == {"metadata": {}, "spec": {"tolerations": DEFAULTS}}


def test_an_empty_spec_is_one() -> None:
    assert patch({"spec": {}})[0]["path"] == "/spec/tolerations"


def test_tolerations_that_are_there_stay_as_they_are() -> None:
    own = {"key": "a", "operator": "Exists", "fieldOfTheFuture": True}
    pod = pod_of({"tolerations": [own]})
    assert patch(pod) == [
        {"op": "add", "path": "/spec/tolerations/-", "value": one} for one in DEFAULTS
    ]
    assert patched(pod)["spec"]["tolerations"] == [own, *DEFAULTS]


def test_a_daemons_seconds_are_taken_from_it_in_its_place() -> None:
    own = [{"key": "a", "operator": "Exists"}, seconds(UNREACHABLE, 30)]
    pod = pod_of({"tolerations": own}, DAEMON)
    first = {"op": "replace", "path": "/spec/tolerations/1", "value": seconds(UNREACHABLE, None)}
    assert patch(pod)[0] == first
    assert NOT_READY in keys(pod)
    assert all(one.get("tolerationSeconds") is None for one in patched(pod)["spec"]["tolerations"])


@pytest.mark.parametrize(
    "owner",
    [
        None,
        DAEMON | {"controller": False},
        DAEMON | {"kind": "ReplicaSet"},
        DAEMON | {"apiVersion": "example.com/v1"},
        DAEMON | {"apiVersion": "appsmore/v1"},
    ],
)
def test_who_is_no_daemon_gets_no_tolerations_of_one(owner: dict[str, Any] | None) -> None:
    assert keys(pod_of({}, owner)) == [NOT_READY, UNREACHABLE]


def test_a_daemon_on_its_nodes_network_needs_no_other() -> None:
    network = "node.kubernetes.io/network-unavailable"
    assert network in keys(pod_of({"hostNetwork": True}, DAEMON))
    assert network not in keys(pod_of({"hostNetwork": False}, DAEMON))


GPU = {"containers": [{"resources": {"requests": {"example.com/gpu": 1, "cpu": "1"}}}]}


@pytest.mark.parametrize("mutation", Mutation)
def test_each_can_be_done_without_the_others(mutation: Mutation) -> None:
    pod = pod_of(GPU, DAEMON)
    found = set(keys(pod, Mutations(chosen=frozenset({mutation}))))
    others = {*keys(pod, Mutations(chosen=frozenset(Mutation) - {mutation}))}
    assert {
        Mutation.DEFAULT_TOLERATION_SECONDS: found == {NOT_READY, UNREACHABLE} <= others,
        Mutation.EXTENDED_RESOURCE_TOLERATION: found == {"example.com/gpu"} and not found & others,
        Mutation.DAEMONSET_TOLERATIONS: len(found) == 6 and len(others - found) == 1,
    }[mutation]


def test_no_mutation_changes_nothing() -> None:
    assert patch(pod_of(GPU, DAEMON), Mutations(chosen=frozenset())) == []


def test_very_many_take_no_longer_each() -> None:
    requests = {f"example.com/d{number}": 1 for number in range(20_000)}
    own = [{"key": f"k{number}", "operator": "Exists"} for number in range(20_000)]
    found = patch(
        pod_of({"tolerations": own, "containers": [{"resources": {"requests": requests}}]})
    )
    assert len(found) == 20_002


RESOURCES = ["example.com/gpu", "example.com/a-b", "requests.a.com/b", "cpu", "x.kubernetes.io/y"]
TOLERATIONS = st.fixed_dictionaries(
    {},
    optional={
        "key": st.sampled_from([*RESOURCES, NOT_READY, UNREACHABLE, "", "other"]),
        "operator": st.sampled_from(["Exists", "Equal", ""]),
        "effect": st.sampled_from(["NoExecute", "NoSchedule", ""]),
        "value": st.sampled_from(["", "v"]),
        "tolerationSeconds": st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)),
    },
)
REQUESTS = st.dictionaries(st.sampled_from(RESOURCES), st.just("1"))
CONTAINERS = st.lists(REQUESTS.map(lambda one: {"resources": {"requests": one}}), max_size=3)
SPECS = st.fixed_dictionaries(
    {},
    optional={
        "tolerations": st.one_of(st.none(), st.lists(TOLERATIONS, max_size=6)),
        "hostNetwork": st.booleans(),
        "containers": CONTAINERS,
        "initContainers": CONTAINERS,
    },
)


@fuzzed(400)
@given(
    SPECS, st.sampled_from([None, DAEMON]), st.sets(st.sampled_from(Mutation)), st.integers(0, 900)
)
def test_asked_again_it_changes_nothing_and_nothing_is_lost(
    spec: dict[str, Any], owner: dict[str, Any] | None, chosen: set[Mutation], wanted: int
) -> None:
    mutations = Mutations(chosen=frozenset(chosen), not_ready_seconds=wanted)
    once = patched(pod_of(spec, owner), mutations)
    assert patch(once, mutations) == []
    kept = [(one.get("key"), one.get("effect")) for one in spec.get("tolerations") or []]
    found = [(one.get("key"), one.get("effect")) for one in once["spec"].get("tolerations") or []]
    assert found[: len(kept)] == kept
    assert {**once, "spec": {**once["spec"], "tolerations": 0}} == {
        **pod_of(spec, owner),
        "spec": {**spec, "tolerations": 0},
    }
