"""A book for those who only try what they would do: what they count stands in memory alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.decisions.policies import EMPTY_BOOK, Book, Store, common_book, own_book
from bailiff.tally.pages import Page, Pages

if TYPE_CHECKING:
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
        return Page(common_book(page.book, ours), page.found)

    async def write(self, store: Store, page: Page, book: Book) -> Page:
        """Remember what only this book has."""
        self._ours = store, own_book(book, self._theirs)
        return Page(book, page.found)
