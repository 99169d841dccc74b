"""One copy of what many objects share, for as long as any of them is there.

Owners and nodes come and go: a table that kept those that nobody has any more would be full of them
one day, and share nothing new. Strings and tuples cannot be referenced weakly
(https://docs.python.org/3/library/weakref.html), so a table is swept by reference counts: after as
many new values as it has entries, which makes a sweep cost each new value one look.
"""

from __future__ import annotations

from sys import getrefcount
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

H = TypeVar("H", bound="Hashable")

# Tables stop growing here: a fleet whose tolerations are all distinct must not pay twice.
MAX_ENTRIES = 20_000
# Fewer new values than this are not worth a sweep.
_SWEEP_ABOVE = 1024


class InternTable:
    """A bounded table of values; what does not fit is handed back as it came."""

    def __init__(self, max_entries: int = MAX_ENTRIES) -> None:
        self._known: dict[Any, Any] = {}
        self._max = max_entries
        self._new = 0

    def intern(self, value: H) -> H:
        """The first value that was equal to this one, of those that somebody still has."""
        found: H | None = self._known.get(value)
        return self._add(value, value) if found is None else found

    def __len__(self) -> int:
        return len(self._known)

    def _add(self, key: Hashable, value: H) -> H:
        self._new += 1
        if self._new > max(_SWEEP_ABOVE, len(self._known)):
            self._new = 0
            self._known = _used(self._known)
        if len(self._known) < self._max:
            self._known[key] = value
        return value


class LabelTable(InternTable):
    """One dictionary for all that are equal, of which there are as many as there are workloads."""

    def share(self, labels: Mapping[str, str]) -> Mapping[str, str]:
        """The first that was equal to these; Kubernetes writes keys in order."""
        key = tuple(labels.items())
        found: Mapping[str, str] | None = self._known.get(key)
        return self._add(key, labels) if found is None else found  # type: ignore[type-var]  # not its key


def _used(known: dict[Any, Any]) -> dict[Any, Any]:
    """The entries whose values somebody has besides the table."""
    return {
        key: value
        for key, value in known.items()
        if getrefcount(value) > _OWN_REFERENCES + (key is value)
    }


def _own_references() -> int:
    """What counts though nobody else has the value: the table, and whoever is looking."""
    # A value that nobody else has, looked at in the way of _used.
    known = {"key": [None]}
    return [getrefcount(value) for key, value in known.items() if key][0]


_OWN_REFERENCES = _own_references()
