"""One copy of what many objects share, for as long as any of them is there.

Owners and nodes come and go: a table that kept those that nobody has any more would be full of them
one day, and share nothing new. Strings and tuples cannot be referenced weakly
(https://docs.python.org/3/library/weakref.html), so a table is swept by reference counts: after as
many new values as the last sweep has left, so that a table is at most twice the size of what is
used, and 1,024, and a sweep costs each new value a look or two.
"""

from __future__ import annotations

from sys import getrefcount
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

H = TypeVar("H", bound="Hashable")
E = TypeVar("E")

# Tables stop growing here: a fleet whose tolerations are all distinct must not pay twice.
MAX_ENTRIES = 20_000
# Fewer new values than this are not worth a sweep.
_SWEEP_AFTER = 1024


class InternTable:
    """A bounded table of values; what does not fit is handed back as it came."""

    def __init__(self, max_entries: int = MAX_ENTRIES) -> None:
        self._known: dict[Any, Any] = {}
        self._max = max_entries
        # New values until the next sweep.
        self._until_sweep = _SWEEP_AFTER

    def intern(self, value: H) -> H:
        """The first value that was equal to this one, of those that somebody still has."""
        found: H | None = self._known.get(value)
        return self._add(value, value) if found is None else found

    def __len__(self) -> int:
        return len(self._known)

    def _add(self, key: Hashable, value: H) -> H:
        self._until_sweep -= 1
        if self._until_sweep < 0:
            self._known = _used(self._known)
            self._until_sweep = max(_SWEEP_AFTER, len(self._known))
        if len(self._known) < self._max:
            self._known[key] = value
        return value


class LabelTable(InternTable):
    """One dictionary for all that are equal, of which there are as many as there are workloads."""

    def share(self, labels: Mapping[str, str]) -> Mapping[str, str]:
        """The first that was equal to these; Kubernetes writes keys in order."""
        key = tuple(labels.items())
        found: Mapping[str, str] | None = self._known.get(key)
        return self._add(key, labels) if found is None else found


class EncodedTable(InternTable):
    """One copy of values that are equal and cannot be hashed, as those with mappings in them."""

    def share(self, value: E) -> E:
        """The first that was equal to this one."""
        key = msgspec.json.encode(value)
        found: E | None = self._known.get(key)
        return self._add(key, value) if found is None else found


def _used(known: dict[Any, Any]) -> dict[Any, Any]:
    """The entries whose values somebody has besides the table."""
    return {
        key: known[key]
        for key, count in zip(known, _counts(known), strict=True)
        if count > (_OWN_AS_KEY if key is known[key] else _OWN)
    }


def _counts(known: dict[Any, Any]) -> list[int]:
    return [getrefcount(known[key]) for key in known]


def _table_of_one(*, is_key: bool) -> dict[Any, Any]:
    value = (object(),)
    return {value if is_key else 0: value}


# What is counted though nobody else has the value: the table's own references, and those of whoever
# counts. Found out by counting, because it differs between versions of Python.
_OWN = _counts(_table_of_one(is_key=False))[0]
_OWN_AS_KEY = _counts(_table_of_one(is_key=True))[0]
