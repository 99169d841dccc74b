"""Which things belong to which others, both ways of asking kept cheap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

K = TypeVar("K", bound="Hashable")
V = TypeVar("V", bound="Hashable")


class Links(Generic[K, V]):
    """From one thing to those that point at it."""

    def __init__(self) -> None:
        # Dicts, not sets: they keep the order of arrival, so that answers do not depend on hashes.
        self._links: dict[K, dict[V, None]] = {}

    def of(self, key: K) -> Iterable[V]:
        """Those that point at it."""
        return self._links.get(key, {})

    def move(self, value: V, old: Iterable[K], new: Iterable[K]) -> None:
        """Let one that pointed at `old` point at `new`."""
        for key in old:
            links = self._links.get(key)
            if links is not None:
                links.pop(value, None)
                if not links:
                    del self._links[key]
        for key in new:
            self._links.setdefault(key, {})[value] = None

    def __iter__(self) -> Iterator[K]:
        """What is pointed at."""
        return iter(self._links)
