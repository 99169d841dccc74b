"""One copy of what many objects share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Hashable

H = TypeVar("H", bound="Hashable")

# Tables stop growing here: a fleet whose tolerations are all distinct must not pay twice.
MAX_ENTRIES = 20_000


class InternTable:
    """A bounded table of values; what does not fit is handed back as it came."""

    def __init__(self, max_entries: int = MAX_ENTRIES) -> None:
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
