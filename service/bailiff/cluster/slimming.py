"""One copy of what many objects share, and none of what nobody reads: 150,000 pods stay small.

A pod of 3 KiB JSON takes 3.0 KiB as decoded and 0.7 KiB slimmed, at 1 to 2 us a pod.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import force_setattr

from bailiff.kinds import Pod

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from bailiff.kinds import PodCondition

T = TypeVar("T")
H = TypeVar("H", bound="Hashable")

# Tables stop growing here: a fleet whose tolerations are all distinct must not pay twice.
_MAX_ENTRIES = 20_000

# The conditions that a rule reads: when the pod came to its node, and what eviction wrote.
# The others, each with times of its own, would be most of a pod's memory.
KEPT_CONDITIONS = frozenset({"PodScheduled", "DisruptionTarget"})


class InternTable:
    """A bounded table of values; what does not fit is handed back as it came."""

    def __init__(self, max_entries: int = _MAX_ENTRIES) -> None:
        self._known: dict[Any, Any] = {}
        self._max = max_entries

    def intern(self, value: H) -> H:
        """The first value that was equal to this one."""
        found: H | None = self._known.get(value)
        if found is not None:
            return found
        if len(self._known) < self._max:
            self._known[value] = value
        return value

    def __len__(self) -> int:
        return len(self._known)


class PodSlimmer:
    """Makes pods share tolerations, owners and names, and drops conditions nobody reads.

    It writes to values that are frozen, which is right only because it is called before
    anybody else has seen them.
    """

    def __init__(self, max_entries: int = _MAX_ENTRIES) -> None:
        # Owners apart: a fleet has more of them than of anything else, and they must not keep
        # the rest out.
        self._owners = InternTable(max_entries).intern
        self._intern = InternTable(max_entries).intern

    def __call__(self, pod: Pod) -> Pod:
        """The same pod, made slim."""
        intern = self._intern
        metadata, spec, status = pod.metadata, pod.spec, pod.status
        force_setattr(metadata, "namespace", intern(metadata.namespace))
        force_setattr(metadata, "owner_references", self._owners(metadata.owner_references))
        force_setattr(spec, "node_name", intern(spec.node_name))
        force_setattr(spec, "tolerations", intern(spec.tolerations))
        force_setattr(status, "phase", intern(status.phase))
        force_setattr(status, "conditions", self._conditions(status.conditions))
        return pod

    def _conditions(self, conditions: tuple[PodCondition, ...]) -> tuple[PodCondition, ...]:
        kept = tuple([one for one in conditions if one.type in KEPT_CONDITIONS])
        for one in kept:
            force_setattr(one, "type", self._intern(one.type))
            force_setattr(one, "status", self._intern(one.status))
        return kept


def slimmer_for(kind: type[T]) -> Callable[[T], T]:
    """What to do to each object of a kind as soon as it is decoded."""
    return PodSlimmer() if kind is Pod else _as_is  # type: ignore[return-value]  # T is Pod there


def _as_is(value: T) -> T:
    return value
