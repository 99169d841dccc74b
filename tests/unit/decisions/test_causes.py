"""The taint that evicts, as the decision itself put it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.decisions import Finding, NodeTaints, Options, Verdict, causing_taint
from bailiff.decisions.text import describe_taint
from bailiff.kinds import Node, NodeSpec, ObjectMeta, Pod, PodSpec, Taint, Toleration

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
    node = Node(metadata=ObjectMeta(name="n"), spec=NodeSpec(taints=tuple(taints)))
    pod = Pod(spec=PodSpec(node_name="n", tolerations=tuple(tolerations)))
    finding = asked(node, pod)
    cause = causing_taint(finding)
    if cause is None:
        assert finding.verdict is Verdict.KEEP
    else:
        assert finding.message.startswith(f"taint {describe_taint(cause)} is ")


NODE = Node(
    metadata=ObjectMeta(name="n"), spec=NodeSpec(taints=(Taint(key="a", effect="NoExecute"),))
)


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
