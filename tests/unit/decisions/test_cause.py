"""What evicts a pod, and since when it is due, as the finding itself says."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.decisions import Finding, Options, Verdict
from bailiff.decisions.device_taints import DeviceTaintIndex
from bailiff.decisions.node_taints import NodeTaints
from bailiff.kinds import Node, Pod, PodSpec, Taint, Toleration
from tests.harness.asking import decide
from tests.harness.device_kinds import NOW, at, claim, index_of, on, rule, slice_of, taint, using
from tests.harness.device_kinds import tolerating as device_tolerating
from tests.harness.kinds import no_execute, node_of, pod_of, tolerating


def asked(node: Node, pod: Pod, *, explain: bool = True) -> Finding:
    return NodeTaints(node, NOW, options=Options(explain=explain)).decide(pod)


TAINTS = st.lists(
    st.builds(
        Taint,
        key=st.sampled_from("abc"),
        value=st.sampled_from(("", "x")),
        effect=st.sampled_from(("NoExecute", "NoExecute", "NoSchedule")),
        time_added=st.integers(-99, 0).map(lambda s: NOW + timedelta(seconds=s)),
    ),
    max_size=4,
    unique_by=lambda taint: (taint.key, taint.effect),
)
TOLERATIONS = st.lists(
    st.builds(
        Toleration,
        key=st.sampled_from(("a", "b", "c", "c")),
        operator=st.just("Exists"),
        toleration_seconds=st.none() | st.integers(-1, 200),
    ),
    max_size=4,
)


@given(TAINTS, TOLERATIONS, st.booleans())
def test_the_cause_is_the_taint_that_the_message_names(
    taints: list[Taint], tolerations: list[Toleration], explain: bool
) -> None:
    node = node_of("n", *taints)
    pod = Pod(spec=PodSpec(node_name="n", tolerations=tuple(tolerations)))
    finding = asked(node, pod, explain=explain)
    if finding.verdict is Verdict.KEEP:
        assert finding.cause == ""
    else:
        assert finding.message.startswith(f"taint {finding.cause} is ")


@pytest.mark.parametrize(
    ("found", "cause"),
    [
        pytest.param(index_of(slice_of(a=(taint("k", value="v"),))), "device taint k=v:NoExecute",
                     id="a slice's taint"),
        pytest.param(index_of(rule("recall")), "DeviceTaintRule recall", id="a rule"),
        pytest.param(index_of(rule("recall", added=5)), "DeviceTaintRule recall", id="later"),
        pytest.param(index_of(rule("later", added=5), rule("sooner", added=4)),
                     "DeviceTaintRule sooner", id="the one that is due first"),
        pytest.param(index_of(), "", id="nothing"),
    ],
)  # fmt: skip
def test_the_cause_of_a_device_is_told_apart_from_a_node_s(
    found: DeviceTaintIndex, cause: str
) -> None:
    found.apply_claim(claim())
    assert found.decide(using("c"), NOW).cause == cause


@pytest.mark.parametrize(
    "finding",
    [
        pytest.param(asked(node_of("n"), Pod()), id="no taint"),
        pytest.param(
            decide(node=node_of("n", no_execute("a")), pod=pod_of("p", "other")).findings[0],
            id="another node",
        ),
        pytest.param(
            Finding(system="other", verdict=Verdict.EVICT_NOW, reason="R", message="m"),
            id="a system that names none",
        ),
    ],
)
def test_no_cause(finding: Finding) -> None:
    assert finding.cause == ""


def added(key: str, ago: int) -> Taint:
    return no_execute(key, time_added=at(-ago))


@pytest.mark.parametrize(
    ("tolerations", "bound", "since"),
    [
        pytest.param((), None, 30, id="with the first taint"),
        pytest.param((), 50, 30, id="it was there before"),
        pytest.param((), 20, 20, id="it came later"),
        pytest.param((tolerating("", 0),), None, 30, id="tolerated for no time"),
        pytest.param((tolerating("old", 99),), None, 10, id="one that is tolerated is not counted"),
        pytest.param((tolerating("", 5),), None, 25, id="a deadline of its own"),
        pytest.param((tolerating("", 99),), None, None, id="later"),
        pytest.param((tolerating("old", 7),), None, 23, id="no longer, before one not at all"),
        pytest.param((), -60, None, id="it is to come only later"),
    ],
)
def test_since_when_a_pod_is_due(
    tolerations: tuple[Toleration, ...], bound: int | None, since: int | None
) -> None:
    node = node_of("n", added("new", 10), added("old", 30))
    pod = Pod(spec=PodSpec(node_name="n", tolerations=tolerations))
    bound_at = None if bound is None else at(-bound)
    finding = NodeTaints(node, NOW, options=Options(explain=False)).decide(pod, bound_at)
    assert finding.due_since == (None if since is None else at(-since))


def test_since_when_is_not_known_where_nothing_tells_when_the_taint_came() -> None:
    node = node_of("n", no_execute("a"))
    assert asked(node, Pod(spec=PodSpec(node_name="n"))).due_since is None


@pytest.mark.parametrize(("seconds", "since"), [(0, -5), (3, -2), (9, None)])
def test_since_when_a_pod_is_due_for_its_devices(seconds: int, since: int | None) -> None:
    index = index_of(rule(added=-5), claim("c", on("a", device_tolerating(seconds))))
    due = index.decide(using("c"), NOW).due_since
    assert due == (None if since is None else at(since))
