"""Many slices that name one device cost no more than their number."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.decisions.device_taints import pools as pools_module
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


def test_another_generation_that_counts_costs_no_look_at_all_slices(monkeypatch) -> None:
    """The attack: slices of a generation above all others, made and taken away again and again."""
    pools = Pools(allocated=lambda _: {"a"})
    for number in range(500):
        pools.apply(slice_of(f"s{number}", **{f"d{number}": (taint(),)}, a=(taint(),)))
    looked_at = []
    really = pools_module._tainted_devices

    def counted(one):
        looked_at.append(one.metadata.name)
        return really(one)

    monkeypatch.setattr(pools_module, "_tainted_devices", counted)
    for generation in range(2, 12):
        assert pools.apply(slice_of("attack", generation)) == {DEVICE}
        assert pools.tainted(DEVICE) is None
        assert pools.delete("attack") == {DEVICE}
    assert set(looked_at) == {"attack"}


NAMES = st.sampled_from("xyz")
CHANGES = st.lists(
    st.one_of(
        st.tuples(
            NAMES, st.integers(0, 3), st.dictionaries(st.sampled_from("abc"), st.integers(0, 1))
        ),
        NAMES,
    )
)


@given(CHANGES, st.sets(st.sampled_from("abc")))
def test_who_is_told_of_allocated_devices_is_told_of_each_change_of_theirs(changes, chosen) -> None:
    everything, some = Pools(), Pools(allocated=lambda _: chosen)
    for change in changes:
        before = {name: everything.tainted(DeviceId(DRIVER, POOL, name)) for name in "abc"}
        if isinstance(change, str):
            told, less = everything.delete(change), some.delete(change)
        else:
            name, generation, devices = change
            tainted = {key: (taint(f"k{value}"),) for key, value in devices.items()}
            one = slice_of(name, generation, **tainted)
            told, less = everything.apply(one), some.apply(one)
        after = {name: everything.tainted(DeviceId(DRIVER, POOL, name)) for name in "abc"}
        assert {one.device for one in told} == {n for n in "abc" if before[n] != after[n]}
        assert {one for one in told if one.device in chosen} <= less <= told
        assert all(some.tainted(DeviceId(DRIVER, POOL, name)) == after[name] for name in "abc")
