"""Which devices are published with taints now (KEP-4381, pkg/controller/devicetainteviction).

A driver publishes a pool as slices. Those of the highest generation present count; when the newest
goes, older ones count again. Whether a pool is complete is not looked at.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from bailiff.decisions.decision import ObjectReference
from bailiff.kinds import NO_EXECUTE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from bailiff.kinds import Device, DeviceTaint, ResourceSlice


class DeviceId(NamedTuple):
    """A device's name in full."""

    driver: str
    pool: str
    device: str


class TaintedDevice(NamedTuple):
    """A device as one slice publishes it.

    Attributes:
        resource_slice: the slice.
        taints: its NoExecute taints with their places in the device's list.
    """

    resource_slice: ObjectReference
    taints: tuple[tuple[int, DeviceTaint], ...]


class _Published:
    """A device as the slices that count taint it: a pool should name it once, nothing makes it."""

    def __init__(self) -> None:
        self._by_slice: dict[str, TaintedDevice] = {}
        # In order, so that the first is at hand however many there are.
        self._slices: list[str] = []

    def __bool__(self) -> bool:
        return bool(self._slices)

    @property
    def first(self) -> TaintedDevice | None:
        """As the first slice by name has it."""
        return self._by_slice[self._slices[0]] if self._slices else None

    def add(self, device: TaintedDevice) -> None:
        """One slice's word; of several in one slice the first counts."""
        name = device.resource_slice.name
        if name not in self._by_slice:
            insort(self._slices, name)
            self._by_slice[name] = device

    def remove(self, name: str) -> None:
        """Forget a slice's word, if there is one."""
        if self._by_slice.pop(name, None) is not None:
            del self._slices[bisect_left(self._slices, name)]


class _Generation:
    """The slices of one generation of a pool, and the devices that they taint."""

    def __init__(self) -> None:
        self.slices: dict[str, ResourceSlice] = {}
        self._tainted: dict[str, _Published] = {}

    @property
    def devices(self) -> Collection[str]:
        """The names of those that have NoExecute taints."""
        return self._tainted.keys()

    def tainted(self, device: str) -> TaintedDevice | None:
        """The device in the first slice by name that taints it; None: it has no NoExecute taint."""
        found = self._tainted.get(device)
        return None if found is None else found.first

    def add(self, one: ResourceSlice) -> None:
        """Take one in that is not there."""
        self.slices[one.metadata.name] = one
        for name, device in _tainted_devices(one):
            self._tainted.setdefault(name, _Published()).add(device)

    def remove(self, one: ResourceSlice) -> None:
        """Forget one that is there."""
        del self.slices[one.metadata.name]
        for name, _ in _tainted_devices(one):
            # A slice may name a device twice.
            published = self._tainted.get(name)
            if published is not None:
                published.remove(one.metadata.name)
                if not published:
                    del self._tainted[name]


_NO_GENERATION = _Generation()


class _Pool:
    """The generations of one pool, of which the highest counts.

    Each keeps its own devices, so that another one counts in no time, however many slices there
    are: whoever may create slices could have it change with each.
    """

    def __init__(self) -> None:
        self.generations: dict[int, _Generation] = {}
        self._current = _NO_GENERATION

    @property
    def current(self) -> Mapping[str, ResourceSlice]:
        """The slices that count, by name."""
        return self._current.slices

    def tainted(self, device: str) -> TaintedDevice | None:
        """The device as it counts; None: it has no NoExecute taint."""
        return self._current.tainted(device)

    def change(
        self,
        old: ResourceSlice | None,
        new: ResourceSlice | None,
        among: Callable[[], Collection[str]] | None,
    ) -> set[str]:
        """Swap a slice. The names of the devices whose taints changed.

        Where another generation counts then, only those that `among` names are looked at.
        """
        touched = [one for one in (old, new) if one is not None]
        before = {name: self.tainted(name) for one in touched for name, _ in _tainted_devices(one)}
        first = self._current
        self._swap(old, new)
        last = self._current
        if first is last:
            return {name for name, was in before.items() if last.tainted(name) != was}
        names = {*first.devices, *last.devices, *before} if among is None else among()
        return {
            name
            for name in names
            if last.tainted(name) != (before[name] if name in before else first.tainted(name))
        }

    def _swap(self, old: ResourceSlice | None, new: ResourceSlice | None) -> None:
        if old is not None:
            generation = self.generations[old.spec.pool.generation]
            generation.remove(old)
            if not generation.slices:
                del self.generations[old.spec.pool.generation]
        if new is not None:
            self.generations.setdefault(new.spec.pool.generation, _Generation()).add(new)
        highest = max(self.generations, default=None)
        self._current = _NO_GENERATION if highest is None else self.generations[highest]


class Pools:
    """All pools of all drivers."""

    def __init__(
        self, allocated: Callable[[tuple[str, str]], Collection[str]] | None = None
    ) -> None:
        """Start with none.

        Args:
            allocated: the devices of a pool, by driver and name, that are allocated to claims. Of
                others nobody is told when another generation counts. None: all are told of.
        """
        self._allocated = allocated
        self._slices: dict[str, ResourceSlice] = {}
        self._pools: dict[tuple[str, str], _Pool] = {}

    @property
    def slices(self) -> Mapping[str, ResourceSlice]:
        """All slices by name, also those that do not count."""
        return self._slices

    def apply(self, new: ResourceSlice) -> set[DeviceId]:
        """Take a slice in, new or changed. The devices whose taints changed."""
        old = self._slices.get(new.metadata.name)
        self._slices[new.metadata.name] = new
        if old is not None and _pool_of(old) != _pool_of(new):
            return self._change(_pool_of(old), old, None) | self._change(_pool_of(new), None, new)
        return self._change(_pool_of(new), old, new)

    def delete(self, name: str) -> set[DeviceId]:
        """Forget a slice. The devices whose taints changed."""
        old = self._slices.pop(name, None)
        return set() if old is None else self._change(_pool_of(old), old, None)

    def tainted(self, device: DeviceId) -> TaintedDevice | None:
        """A device that is published with NoExecute taints; None: it has none, or is not there."""
        pool = self._pools.get((device.driver, device.pool))
        return None if pool is None else pool.tainted(device.device)

    def published(self) -> Iterator[DeviceId]:
        """Every device that is published now."""
        for (driver, name), pool in self._pools.items():
            for one in pool.current.values():
                for device in one.spec.devices:
                    yield DeviceId(driver, name, device.name)

    def _change(
        self, key: tuple[str, str], old: ResourceSlice | None, new: ResourceSlice | None
    ) -> set[DeviceId]:
        pool = self._pools.setdefault(key, _Pool())
        among = None if self._allocated is None else partial(self._allocated, key)
        changed = {DeviceId(*key, device) for device in pool.change(old, new, among)}
        if not pool.generations:
            del self._pools[key]
        return changed


def _pool_of(one: ResourceSlice) -> tuple[str, str]:
    return one.spec.driver, one.spec.pool.name


def _tainted_devices(one: ResourceSlice) -> Iterator[tuple[str, TaintedDevice]]:
    reference = ObjectReference(name=one.metadata.name, uid=one.metadata.uid)
    for device in one.spec.devices:
        taints = _evicting(device)
        if taints:
            yield device.name, TaintedDevice(reference, taints)


def _evicting(device: Device) -> tuple[tuple[int, DeviceTaint], ...]:
    if not device.taints:
        return ()
    return tuple((i, taint) for i, taint in enumerate(device.taints) if taint.effect == NO_EXECUTE)
