"""A book for those who only try what they would do: what they count stands in memory alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.decisions.policies import EMPTY_BOOK, Book, Column, Sheet, Store
from bailiff.tally.pages import Page, Pages

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bailiff.cluster import Cluster


class PaperPages(Pages):
    """The ConfigMap as it is, with what was counted here besides; it is never written."""

    def __init__(self, cluster: Cluster) -> None:
        """Read nothing yet."""
        super().__init__(cluster)
        self._theirs: Book = EMPTY_BOOK
        self._ours: tuple[Store | None, Book] = None, EMPTY_BOOK

    async def read(self, store: Store) -> Page:
        """See Pages."""
        page = await super().read(store)
        self._theirs = page.book
        ours = self._ours[1] if self._ours[0] == store else EMPTY_BOOK
        return Page(_common(page.book, ours), page.found)

    async def write(self, store: Store, page: Page, book: Book) -> Page:
        """Remember what only this book has."""
        self._ours = store, _own(book, self._theirs)
        return Page(book, page.found)


def _common(one: Book, other: Book) -> Book:
    """What is counted in any of two; what both have, as it was counted last."""

    def both(name: str) -> Sheet:
        first = one.get(name) or other[name]
        sheets = first.columns, other[name].columns if name in other else {}
        keys = dict.fromkeys((*sheets[0], *sheets[1]))
        return Sheet(first.seconds, {key: Column.of(_pods_of(sheets, key)) for key in keys})

    return {name: both(name) for name in dict.fromkeys((*one, *other))}


def _own(book: Book, other: Book) -> Book:
    """What is counted in a book, and not at the same instant in another."""
    found = {}
    for name, sheet in book.items():
        theirs = other[name].columns if name in other else {}
        known = {key: theirs.get(key, Column()).by_pod for key in sheet.columns}
        columns = {
            key: Column.of({pod: at for pod, at in one.by_pod.items() if known[key].get(pod) != at})
            for key, one in sheet.columns.items()
        }
        found[name] = Sheet(sheet.seconds, columns)
    return found


def _pods_of(sheets: Sequence[Mapping[str, Column]], key: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for columns in sheets:
        for pod, at in columns.get(key, Column()).by_pod.items():
            found[pod] = max(at, found.get(pod, 0))
    return found
