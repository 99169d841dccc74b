"""One copy of what many objects share, so that 150,000 mirrored pods stay small."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import force_setattr

from bailiff.kinds import Pod

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

T = TypeVar("T")
H = TypeVar("H", bound="Hashable")

# Tables stop growing here: a fleet whose tolerations are all distinct must not pay twice.
_MAX_ENTRIES = 20_000


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


class PodInterner:
    """Shares tolerations, conditions, owners and names of pods.

    It writes to values that are frozen, which is right only because it is called before
    anybody else has seen them, with something equal to what they hold already.
    """

    def __init__(self, table: InternTable | None = None) -> None:
        self._intern = (table or InternTable()).intern

    def __call__(self, pod: Pod) -> Pod:
        """The same pod, with its parts shared."""
        intern = self._intern
        metadata, spec, status = pod.metadata, pod.spec, pod.status
        force_setattr(metadata, "namespace", intern(metadata.namespace))
        force_setattr(metadata, "owner_references", intern(metadata.owner_references))
        force_setattr(spec, "node_name", intern(spec.node_name))
        force_setattr(spec, "tolerations", intern(spec.tolerations))
        force_setattr(status, "conditions", intern(status.conditions))
        force_setattr(status, "phase", intern(status.phase))
        return pod


def interner_for(kind: type[T]) -> Callable[[T], T]:
    """What to do to each object of a kind after decoding."""
    return PodInterner() if kind is Pod else _as_is  # type: ignore[return-value]  # T is Pod there


def _as_is(value: T) -> T:
    return value
