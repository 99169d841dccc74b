"""Lists in pages: the rest of a list waits for the client, so that all pages show one moment."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from bailiff_demo import errors

if TYPE_CHECKING:
    from bailiff_demo.store import Bucket, Record

# Lists that wait; whoever comes back later than that begins anew.
_MOST = 100


class Page(NamedTuple):
    """Records at a version of the store, and the token for the next page; empty for the last.

    `of` is what was asked for: a token is good for that alone.
    """

    of: object
    version: int
    records: list[Record]
    token: str = ""
    remaining: int = 0


class Pages:
    """The lists that were cut."""

    def __init__(self) -> None:
        self._waiting: dict[int, Page] = {}
        self._numbers = count(1)

    def cut(self, page: Page, limit: int) -> Page:
        """The first `limit` records; 0 is no limit."""
        rest = page.records[limit:]
        if not limit or not rest:
            return page
        number = next(self._numbers)
        self._waiting[number] = page._replace(records=rest)
        self._waiting.pop(number - _MOST, None)
        return Page(page.of, page.version, page.records[:limit], str(number), len(rest))

    def rest(self, token: str, of: object, bucket: Bucket) -> Page:
        """What waits for whoever has the token.

        Raises:
            ApiError: 400, no such token, or another list's; 410, its moment has left the history.
        """
        if not token.isascii() or not token.isdigit() or len(token) > 18:
            raise errors.bad_request("continue key is not valid")
        page = self._waiting.get(int(token))
        if page is None:
            raise errors.expired("the provided continue parameter is too old")
        if page.of != of:
            raise errors.bad_request("continue key is not valid for this list")
        bucket.position_after(page.version)
        return page
