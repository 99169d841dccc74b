"""The taint that evicts, as the decision itself put it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.decisions import Finding, NodeTaints, Options, Verdict, causing_taint, due_since
from bailiff.decisions.text import describe_taint
from bailiff.kinds import Node, Pod, PodSpec, Taint, Toleration
from tests.harness.kinds import no_execute, node_of, tolerating

NOW = datetime(2026, 1, 1, tzinfo=UTC)


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


@given(TAINTS, TOLERATIONS)
def test_it_is_the_one_that_the_message_names(
    taints: list[Taint], tolerations: list[Toleration]
) -> None:
    node = node_of("n", *taints)
    pod = Pod(spec=PodSpec(node_name="n", tolerations=tuple(tolerations)))
    finding = asked(node, pod)
    cause = causing_taint(finding)
    if cause is None:
        assert finding.verdict is Verdict.KEEP
    else:
        assert finding.message.startswith(f"taint {describe_taint(cause)} is ")


NODE = node_of("n", no_execute("a"))


@pytest.mark.parametrize(
    "finding",
    [
        pytest.param(asked(NODE, Pod(), explain=False), id="no trace"),
        pytest.param(asked(NODE, Pod(spec=PodSpec(node_name="other"))), id="another node"),
        pytest.param(
            Finding(system="other", verdict=Verdict.EVICT_NOW, reason="R", message="m"),
            id="another system",
        ),
    ],
)
def test_none(finding: Finding) -> None:
    assert causing_taint(finding) is None


def added(key: str, ago: int) -> Taint:
    return no_execute(key, time_added=NOW - timedelta(seconds=ago))


@pytest.mark.parametrize(
    ("tolerations", "bound", "since"),
    [
        pytest.param((), None, 30, id="with the first taint"),
        pytest.param((), 50, 30, id="it was there before"),
        pytest.param((), 20, 20, id="it came later"),
        pytest.param((tolerating("", 0),), None, 30, id="tolerated for no time"),
        pytest.param((tolerating("old", 99),), None, 10, id="one that is tolerated is not counted"),
        pytest.param((tolerating("", 5),), None, None, id="a deadline of its own"),
        pytest.param((tolerating("", 99),), None, None, id="later"),
    ],
)
def test_since_when_one_that_is_not_tolerated_is_due(
    tolerations: tuple[Toleration, ...], bound: int | None, since: int | None
) -> None:
    node = node_of("n", added("new", 10), added("old", 30))
    pod = Pod(spec=PodSpec(node_name="n", tolerations=tolerations))
    finding = asked(node, pod)
    bound_at = None if bound is None else NOW - timedelta(seconds=bound)
    expected = None if since is None else NOW - timedelta(seconds=since)
    assert due_since(finding, bound_at) == expected


def test_without_a_trace_nobody_knows_since_when() -> None:
    assert due_since(asked(NODE, Pod(), explain=False), None) is None
