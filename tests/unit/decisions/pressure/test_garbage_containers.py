"""Which dead containers and which sandboxes a node removes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bailiff.decisions.pressure.garbage import (
    ContainerState,
    RuntimeContainer,
    RuntimeSandbox,
    nanoseconds,
)
from bailiff.decisions.pressure.garbage_containers import (
    AS_FLAGS_SAY_NOTHING,
    ContainerPolicy,
    LocalPods,
    dead_containers,
    unused_sandboxes,
)
from bailiff.kinds import ObjectMeta, Pod
from bailiff.kinds.meta import Annotations
from bailiff.kinds.pod import PodStatus

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
CREATED, RUNNING, EXITED, UNKNOWN = ContainerState
PODS = LocalPods(frozenset({"alive"}), frozenset({"finished"}))


def at(seconds_ago: float) -> int:
    return nanoseconds(NOW - timedelta(seconds=seconds_ago))


def container(
    which: str, uid: str, state: ContainerState = EXITED, name: str = "main", age: float = 60
) -> RuntimeContainer:
    return RuntimeContainer(
        id=which, name=name, pod_uid=uid, sandbox_id=f"s-{uid}", state=state, created_at=at(age)
    )


def sandbox(uid: str, which: str = "", **fields: object) -> RuntimeSandbox:
    one = RuntimeSandbox(id=which or f"s-{uid}", pod_uid=uid, created_at=at(60), source="api")
    return replace(one, **fields)


def dead(
    containers: list[RuntimeContainer],
    sandboxes: list[RuntimeSandbox] | None = None,
    policy: ContainerPolicy = AS_FLAGS_SAY_NOTHING,
) -> list[str]:
    """Their IDs; each pod has a sandbox that was stopped, unless others are said."""
    if sandboxes is None:
        sandboxes = [sandbox(uid) for uid in {one.pod_uid for one in containers}]
    return [one.id for one in dead_containers(containers, sandboxes, PODS, NOW, policy)]


def unused(sandboxes: list[RuntimeSandbox], containers: list[RuntimeContainer] = []) -> list[str]:  # noqa: B006 - never changed
    return [one.id for one in unused_sandboxes(sandboxes, containers, PODS)]


def test_states_and_instants_are_told_as_a_runtime_tells_them():
    # runtime.v1 of k8s.io/cri-api.
    assert [ContainerState(number).name for number in range(4)] == [
        "CREATED", "RUNNING", "EXITED", "UNKNOWN",
    ]  # fmt: skip
    assert nanoseconds(datetime(1970, 1, 1, 0, 1, 0, 7, tzinfo=UTC)) == 60_000_007_000


@pytest.mark.parametrize("uid", ["finished", "deleted"])
@pytest.mark.parametrize("state", [CREATED, EXITED, UNKNOWN])
def test_of_a_pod_that_is_over_all_go(uid, state):
    assert dead([container("a", uid, state), container("b", uid, state, age=30)]) == ["a", "b"]


@pytest.mark.parametrize("state", [CREATED, EXITED, UNKNOWN])
def test_of_one_that_is_alive_the_youngest_of_each_container_stays(state):
    assert dead(
        [
            container("newest", "alive", EXITED, age=10),
            container("older", "alive", state, age=20),
            container("oldest", "alive", state, age=30),
            container("beside", "alive", state, "sidecar", age=40),
        ]
    ) == ["oldest", "older"]


def test_one_that_runs_is_none_of_the_dead():
    assert dead([container("runs", "alive", RUNNING, age=10), container("b", "alive")]) == []


@pytest.mark.parametrize("uid", ["finished", "deleted"])
def test_a_pod_with_a_container_that_runs_is_not_over(uid):
    runs = container("runs", uid, RUNNING, "sidecar")
    newer, older = container("newer", uid, age=10), container("older", uid, age=20)
    assert dead([newer, older, runs]) == ["older"]
    assert dead([newer, older]) == ["older", "newer"]


@pytest.mark.parametrize("uid", ["finished", "deleted"])
def test_a_pod_whose_sandbox_is_ready_is_not_over(uid):
    made = [container("newer", uid, age=10), container("older", uid, CREATED, age=20)]
    assert dead(made, [sandbox(uid, ready=True)]) == ["older"]


def test_a_pod_that_is_so_new_that_its_sandbox_was_not_listed_is_not_over():
    assert dead([container("new", "unheard of", CREATED)], []) == []


def test_a_container_whose_sandbox_was_not_listed_stays():
    """Were it to go, its pod would be over at the next look."""
    made = [replace(container(which, "finished"), sandbox_id=which) for which in ("a", "b", "c")]
    assert dead(made, [sandbox("finished", "a"), sandbox("finished", "b")]) == ["a"]
    assert dead(made[1:], [sandbox("finished", "b")]) == []


@pytest.mark.parametrize(("source", "uid", "over"), [
    ("api", "deleted", True),
    ("", "deleted", True),
    ("file", "deleted", False),
    ("http", "deleted", False),
    ("file", "finished", True),
    ("file", "alive", False),
])  # fmt: skip
def test_a_static_pod_that_the_api_does_not_show_is_not_over(source, uid, over):
    found = dead([container("dead", uid)], [sandbox(uid, source=source)])
    assert found == (["dead"] if over else [])
    assert unused([sandbox(uid, source=source)]) == ([f"s-{uid}"] if over else [])


def test_another_pods_sandbox_says_nothing_of_this_one():
    others = [sandbox("deleted"), sandbox("x", ready=True), sandbox("y", source="file")]
    assert dead([container("dead", "deleted")], others) == ["dead"]


POLICIES = {
    "as the flags say": (ContainerPolicy(), ["4", "3", "2"]),
    "two stay": (ContainerPolicy(most_dead=2), ["4", "3"]),
    "none stays": (ContainerPolicy(most_dead=0), ["4", "3", "2", "1"]),
    "all stay": (ContainerPolicy(most_dead=-1), []),
    "of those that are old enough one stays": (
        ContainerPolicy(minimum_age=timedelta(seconds=3)),
        ["4"],
    ),
    "none is old enough": (ContainerPolicy(minimum_age=timedelta(seconds=4, microseconds=1)), []),
}


@pytest.mark.parametrize("case", POLICIES)
def test_how_many_stay_may_be_said(case):
    policy, gone = POLICIES[case]
    made = [container(str(age), "alive", age=age) for age in (2, 4, 1, 3)]
    assert dead(made, policy=policy) == gone


def test_what_is_too_young_stays_whatever_its_pod():
    policy = ContainerPolicy(minimum_age=timedelta(seconds=30))
    made = [container("old", "finished", age=30), container("young", "finished", age=29.9)]
    assert dead(made, policy=policy) == ["old"]


def test_one_of_the_future_was_made_now():
    made = [container("future", "finished", age=-3600)]
    assert dead(made) == ["future"]
    assert dead(made, policy=ContainerPolicy(minimum_age=timedelta(microseconds=1))) == []


def test_the_oldest_go_first_and_equal_ones_by_their_id():
    made = [
        container("b", "finished", age=10),
        container("a", "finished", age=10),
        container("c", "deleted", age=20),
        container("old", "alive", age=15),
        container("new", "alive", age=5),
    ]
    assert dead(made) == ["c", "old", "a", "b"]


@pytest.mark.parametrize("uid", ["finished", "deleted"])
def test_of_a_pod_that_is_over_all_sandboxes_go(uid):
    older = sandbox(uid, "older", created_at=at(70))
    assert unused([sandbox(uid), older]) == ["older", f"s-{uid}"]


def test_of_one_that_is_alive_the_youngest_sandbox_stays():
    older = sandbox("alive", "older", created_at=at(70))
    oldest = sandbox("alive", "oldest", created_at=at(80))
    assert unused([older, sandbox("alive"), oldest]) == ["oldest", "older"]
    # Whether it is ready or not.
    assert unused([older, sandbox("alive", ready=True)]) == ["older"]
    assert unused([sandbox("alive")]) == []


def test_a_sandbox_that_is_ready_or_has_containers_stays():
    ready = sandbox("alive", "ready", ready=True, created_at=at(80))
    assert unused([sandbox("alive"), ready]) == []
    assert unused([sandbox("finished")], [container("dead", "finished")]) == []
    assert unused([sandbox("deleted", ready=True)]) == []


def test_of_a_pod_that_still_runs_the_youngest_sandbox_stays():
    older = sandbox("deleted", "older", created_at=at(70))
    runs = container("runs", "deleted", RUNNING)
    assert unused([older, sandbox("deleted")], [runs]) == ["older"]


def test_the_pods_of_a_node_are_alive_or_finished():
    def pod(uid: str, phase: str, mirror: str | None = None, **fields: Any) -> Pod:
        meta = ObjectMeta(uid=uid, annotations=Annotations(config_mirror=mirror), **fields)
        return Pod(metadata=meta, status=PodStatus(phase=phase))

    pods = LocalPods.of(
        [
            pod("pending", "Pending"),
            pod("running", "Running"),
            pod("said nothing", ""),
            pod("ending", "Running", deletion_timestamp=NOW),
            pod("succeeded", "Succeeded"),
            pod("failed", "Failed", deletion_timestamp=NOW),
            pod("shows a static one", "Running", "static"),
            pod("shows a finished one", "Failed", "finished static"),
            pod("shows nothing", "Running", ""),
            pod("is two things", "Running"),
            pod("is two things", "Failed"),
        ]
    )
    assert pods.alive == {
        "pending", "running", "said nothing", "ending", "shows a static one", "static",
        "shows nothing", "is two things",
    }  # fmt: skip
    assert pods.finished == {
        "succeeded", "failed", "shows a finished one", "finished static",
    }  # fmt: skip


# Where the kubelet has each pod from, which is the same for all its sandboxes.
SOURCES = {"alive": "api", "finished": "file", "deleted": "", "static": "file"}
UIDS = st.sampled_from(sorted(SOURCES))
SANDBOX_IDS = st.sampled_from(["s1", "s2", "s3", "s4"])
SANDBOXES = st.lists(
    st.builds(
        RuntimeSandbox,
        id=SANDBOX_IDS,
        pod_uid=UIDS,
        ready=st.booleans(),
        created_at=st.integers(-5, 5).map(at),
    ).map(lambda one: replace(one, source=SOURCES[one.pod_uid])),
    unique_by=lambda one: one.id,
)
CONTAINERS = st.lists(
    st.builds(
        RuntimeContainer,
        id=st.uuids().map(str),
        name=st.sampled_from(["main", "sidecar"]),
        pod_uid=UIDS,
        sandbox_id=SANDBOX_IDS,
        state=st.sampled_from(ContainerState),
        created_at=st.integers(-5, 5).map(at),
    ),
    max_size=12,
)
SOME_POLICIES = st.builds(
    ContainerPolicy,
    minimum_age=st.integers(0, 5).map(lambda s: timedelta(seconds=s)),
    most_dead=st.integers(-1, 3),
)


@given(CONTAINERS, SANDBOXES, SOME_POLICIES)
def test_nothing_goes_that_runs_or_is_too_young_and_of_the_living_enough_stay(
    containers, sandboxes, policy
):
    gone = dead_containers(containers, sandboxes, PODS, NOW, policy)
    assert set(gone) <= set(containers)
    assert len(set(gone)) == len(gone)
    assert list(gone) == sorted(gone, key=lambda one: (one.created_at, one.id))
    left = [one for one in containers if one not in gone]
    for one in gone:
        assert one.state is not RUNNING
        assert min(one.created_at, at(0)) <= at(policy.minimum_age.total_seconds())
        if one.pod_uid == "alive":
            younger = [o for o in left if (o.pod_uid, o.name) == (one.pod_uid, one.name)
                       and o.state is not RUNNING and o.created_at >= one.created_at]  # fmt: skip
            assert 0 <= policy.most_dead <= len(younger)


@given(CONTAINERS, SANDBOXES, SOME_POLICIES)
def test_what_has_gone_goes_once(containers, sandboxes, policy):
    gone = dead_containers(containers, sandboxes, PODS, NOW, policy)
    left = [one for one in containers if one not in gone]
    assert dead_containers(left, sandboxes, PODS, NOW, policy) == ()
    stopped = unused_sandboxes(sandboxes, left, PODS)
    assert unused_sandboxes([one for one in sandboxes if one not in stopped], left, PODS) == ()


@given(CONTAINERS, SANDBOXES)
def test_no_sandbox_goes_that_is_ready_or_full_and_of_the_living_one_stays(containers, sandboxes):
    gone = unused_sandboxes(sandboxes, containers, PODS)
    assert list(gone) == sorted(gone, key=lambda one: (one.created_at, one.id))
    for one in gone:
        assert not one.ready
        assert one.id not in {each.sandbox_id for each in containers}
    for uid in {one.pod_uid for one in sandboxes} & PODS.alive:
        assert any(one.pod_uid == uid and one not in gone for one in sandboxes)


@given(CONTAINERS, SANDBOXES, st.randoms(use_true_random=False))
def test_in_which_order_the_runtime_lists_makes_no_difference(containers, sandboxes, random):
    gone = dead_containers(containers, sandboxes, PODS, NOW)
    stopped = unused_sandboxes(sandboxes, containers, PODS)
    random.shuffle(containers)
    random.shuffle(sandboxes)
    assert dead_containers(containers, sandboxes, PODS, NOW) == gone
    assert unused_sandboxes(sandboxes, containers, PODS) == stopped
