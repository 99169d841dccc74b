"""Which devices are published with taints now (KEP-4381, pkg/controller/devicetainteviction).

A driver publishes a pool as slices. Those of the highest generation present count; when the newest
goes, older ones count again. Whether a pool is complete is not looked at.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import TYPE_CHECKING, NamedTuple

from bailiff.decisions.decision import ObjectReference
from bailiff.kinds import NO_EXECUTE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

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


class _Pool:
    """The slices of one pool, and the tainted devices of those that count."""

    def __init__(self) -> None:
        self.generations: dict[int, dict[str, ResourceSlice]] = {}
        self._tainted: dict[str, _Published] = {}

    @property
    def current(self) -> Mapping[str, ResourceSlice]:
        """The slices that count, by name."""
        return self.generations[max(self.generations)] if self.generations else {}

    def tainted(self, device: str) -> TaintedDevice | None:
        """The device in the first slice by name that taints it; None: it has no NoExecute taint."""
        found = self._tainted.get(device)
        return None if found is None else found.first

    def change(self, old: ResourceSlice | None, new: ResourceSlice | None) -> set[str]:
        """Swap a slice. The names of the devices whose taints changed."""
        before = self.current
        hidden, shown = {}, {}
        if old is not None:
            hidden = {old.metadata.name: old} if old.metadata.name in before else {}
            self._remove(old)
        if new is not None:
            self.generations.setdefault(new.spec.pool.generation, {})[new.metadata.name] = new
        after = self.current
        if after is not before:
            hidden, shown = {**before, **hidden}, dict(after)
        elif new is not None and new.metadata.name in after:
            shown = {new.metadata.name: new}
        return self._swap(hidden.values(), shown.values())

    def _remove(self, old: ResourceSlice) -> None:
        generation = self.generations[old.spec.pool.generation]
        del generation[old.metadata.name]
        if not generation:
            del self.generations[old.spec.pool.generation]

    def _swap(self, hidden: Iterable[ResourceSlice], shown: Iterable[ResourceSlice]) -> set[str]:
        before: dict[str, TaintedDevice | None] = {}
        for one in hidden:
            for name, _ in _tainted_devices(one):
                before.setdefault(name, self.tainted(name))
                self._tainted[name].remove(one.metadata.name)
        for one in shown:
            for name, device in _tainted_devices(one):
                before.setdefault(name, self.tainted(name))
                self._tainted.setdefault(name, _Published()).add(device)
        for name in before:
            if not self._tainted[name]:
                del self._tainted[name]
        return {name for name, was in before.items() if self.tainted(name) != was}


class Pools:
    """All pools of all drivers."""

    def __init__(self) -> None:
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
        changed = {DeviceId(*key, device) for device in pool.change(old, new)}
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
