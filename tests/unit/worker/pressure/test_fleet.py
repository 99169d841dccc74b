"""All watched nodes as a whole."""

from __future__ import annotations

import msgspec

from bailiff.kinds import Node
from bailiff.worker.systems.pressure.fleet import Fleet


def test_of_many_nodes_a_hundred_are_named_and_all_are_counted():
    fleet = Fleet(180.0)
    for number in range(150):
        fleet.watch(msgspec.convert({"metadata": {"name": f"n{number:03}"}}, Node))
    unknown = fleet.describe()["unknown"]
    assert unknown["count"] == 150
    assert list(unknown["nodes"]) == [f"n{number:03}" for number in range(100)]
