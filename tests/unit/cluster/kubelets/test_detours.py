"""Of which nodes it is kept that they are asked by way of the API server."""

from __future__ import annotations

from bailiff.cluster.kubelets.detours import Detours
from tests.harness.clocks import ManualClock


def test_of_too_many_nodes_the_first_is_tried_straight_again() -> None:
    detours = Detours(ManualClock())
    names = [f"n{number}" for number in range(10_001)]
    for name in names[:-1]:
        detours.add(name)
    assert detours.has("n0")
    detours.add(names[-1])
    assert [name for name in names if not detours.has(name)] == ["n0"]
