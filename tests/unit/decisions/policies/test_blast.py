"""How much a taint may evict before somebody has to say that it is meant."""

from __future__ import annotations

import pytest

from bailiff.decisions.policies import Blast, BlastRadius, blast_excess
from bailiff.decisions.policies.blast import is_acknowledged
from bailiff.kinds import Annotations, Node, NodeMeta

CAUSE = "maintenance=row-7:NoExecute"


def blast(pods: int = 1, evicted: int = 1, there: int = 100) -> Blast:
    return Blast(cause=CAUSE, pods=pods, namespace_evicted=evicted, namespace_pods=there)


@pytest.mark.parametrize(
    ("bounds", "found", "words"),
    [
        pytest.param(BlastRadius(max_pods=10), blast(pods=10), None, id="as many as are allowed"),
        pytest.param(
            BlastRadius(max_pods=10), blast(pods=11),
            "maintenance=row-7:NoExecute evicts 11 pods, more than 10", id="one more",
        ),
        pytest.param(
            BlastRadius(max_namespace_fraction=0.5), blast(evicted=5, there=10), None, id="half",
        ),
        pytest.param(
            BlastRadius(max_namespace_fraction=0.5), blast(pods=900, evicted=6, there=10),
            "maintenance=row-7:NoExecute evicts 6 of 10 pods (60 %) of namespace shop, "
            "more than 50 %", id="more than half",
        ),
        pytest.param(
            BlastRadius(max_namespace_fraction=0.5), blast(evicted=4, there=4), None,
            id="a namespace too small to have a fraction",
        ),
        pytest.param(
            BlastRadius(max_namespace_fraction=0.5, min_namespace_pods=1),
            blast(evicted=0, there=0), None, id="an empty namespace",
        ),
        pytest.param(
            BlastRadius(max_pods=10, max_namespace_fraction=0.5), blast(pods=11, evicted=1),
            "maintenance=row-7:NoExecute evicts 11 pods, more than 10", id="either bound",
        ),
    ],
)  # fmt: skip
def test_excess(bounds: BlastRadius, found: Blast, words: str | None) -> None:
    assert blast_excess(found, bounds, "shop") == words


@pytest.mark.parametrize(
    ("annotation", "cause", "acknowledged"),
    [
        ("", CAUSE, False),
        ("maintenance=row-7:NoExecute", CAUSE, True),
        ("a:NoExecute, maintenance=row-7:NoExecute ,", CAUSE, True),
        ("maintenance:NoExecute", CAUSE, False),
        ("maintenance=row-8:NoExecute", CAUSE, False),
        ("maintenance=row-7:NoSchedule", CAUSE, False),
        ("maintenance=row-7", CAUSE, False),
        ("*", CAUSE, False),
        ("a:NoExecute", "a:NoExecute", True),
        ("a=:NoExecute", "a:NoExecute", True),
    ],
)
def test_acknowledgement(annotation: str, cause: str, acknowledged: bool) -> None:
    annotations = Annotations(acknowledged_taints=annotation)
    node = Node(metadata=NodeMeta(name="n", annotations=annotations))
    assert is_acknowledged(node, cause) is acknowledged
