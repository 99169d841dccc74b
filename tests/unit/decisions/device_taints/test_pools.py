"""Many slices that name one device cost no more than their number."""

from __future__ import annotations

import pytest

from bailiff.decisions.device_taints.pools import DeviceId, Pools
from tests.harness.device_kinds import DRIVER, POOL, slice_of, taint

DEVICE = DeviceId(DRIVER, POOL, "a")


class CountedName(str):
    """A name that counts how often it is compared with another to find out which is first."""

    comparisons = 0
    __slots__ = ()

    def __lt__(self, other: str) -> bool:
        CountedName.comparisons += 1
        return str.__lt__(self, other)


@pytest.mark.parametrize("descending", [False, True])
def test_each_costs_a_search_among_the_others_and_no_look_at_all_of_them(descending: bool) -> None:
    number, steps = 2**10, 10
    names = sorted((CountedName(f"{i:05}") for i in range(number)), reverse=descending)
    pools = Pools()
    CountedName.comparisons = 0
    for name in names:
        pools.apply(slice_of(name, a=(taint(),)))
    for name in names:
        found = pools.tainted(DEVICE)
        assert found is not None
        assert found.resource_slice.name == min(map(str, pools.slices))
        pools.delete(name)
    assert pools.tainted(DEVICE) is None
    assert CountedName.comparisons <= 2 * number * (steps + 2)


def test_the_first_slice_by_name_counts_whichever_came_first() -> None:
    pools = Pools()
    for name in ("b", "a", "c"):
        pools.apply(slice_of(name, a=(taint(name), taint("other"))))
    for first, gone in (("a", "a"), ("b", "c"), ("b", "b")):
        found = pools.tainted(DEVICE)
        assert found is not None
        assert found.resource_slice.name == first
        assert found.taints[0][1].key == first
        assert pools.delete(gone) == ({DEVICE} if gone == first else set())
