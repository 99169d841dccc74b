"""Counts evictions in the book of all who evict, by compare-and-swap.

Theory of operation. Those that ask at the same time are answered together, in the order in which
they came: one look at the book, all whom it lets go, one write. Where somebody else has written
meanwhile the book is read once more and all are judged anew; nobody is told that he may go before
his count stands in the cluster. A refusal needs no write. Long books are written seldom: those
that are to be written wait meanwhile, and are then written together. The book that was read last
is believed for a second: a write over it holds only if it still is so, and what is used up frees
itself by time alone, so that a refusal is at most a second late.
"""

from __future__ import annotations

import asyncio
import math
import random
from itertools import count
from typing import TYPE_CHECKING, Literal, NamedTuple

import structlog

from bailiff.cluster import ClusterError, ConflictError, FencedError
from bailiff.decisions.policies import UNKNOWN, BookError, OpenBook, Unknown, is_counted, room_for
from bailiff.tally.pace import Pace
from bailiff.tally.pages import Page, Pages
from bailiff.tally.paper import PaperPages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bailiff.clock import Clock
    from bailiff.cluster import Cluster
    from bailiff.decisions.policies import Book, Hold, OverTime, Store, Wish

# Seconds for which a book that was read is believed.
_FRESH = 1.0
# Seconds for one read or write: whoever waits has given up by then.
_PATIENCE = 10.0
# Seconds after which those are looked at who have come while others wait for a write.
_LOOK_AGAIN = 0.25
# Seconds, at most, before the book is read again that somebody else has written; times the tries.
_JITTER = 0.02
# Those who write at the same time as we: each try of ours has let another through.
_MOST_JITTER = 0.2
_FAULT = "was not read or written: see the log"

log = structlog.get_logger(__name__)


class TallyError(Exception):
    """It cannot be counted; the message says why, as the end of a sentence about the ConfigMap."""


class _Ask:
    """One who waits for an answer."""

    def __init__(self, wishes: Sequence[Wish], settings: OverTime) -> None:
        self.wishes = wishes
        self.settings = settings
        self.answer: asyncio.Future[Hold | None] = asyncio.get_running_loop().create_future()

    def tell(self, hold: Hold | None) -> None:
        if not self.answer.done():
            self.answer.set_result(hold)

    def fail(self, error: Exception) -> None:
        if not self.answer.done():
            self.answer.set_exception(error)


class _Verdict(NamedTuple):
    """What one is told, and whether only when the book is written."""

    hold: Hold | None
    waits: bool


class Tally:
    """Counts in the ConfigMap that the settings name. One event loop owns it."""

    def __init__(self, cluster: Cluster, clock: Clock) -> None:
        """Read nothing yet.

        Args:
            cluster: where the ConfigMap is.
            clock: instants are counted by it, so it should go by the API server's.
        """
        self._cluster = cluster
        self._pages = Pages(cluster)
        self._clock = clock
        self._pace = Pace(clock)
        self._store: Store | None = None
        self._page: Page | None = None
        self._read_at = -math.inf
        self._writes = 0
        self._reading: dict[Store, asyncio.Task[Page]] = {}
        self._asks: list[_Ask] = []
        self._work: asyncio.Task[None] | None = None

    def on_paper(self) -> Tally:
        """One that goes by the same ConfigMap, and counts in memory besides; nothing is written."""
        tally = Tally(self._cluster, self._clock)
        tally._pages = PaperPages(self._cluster)
        return tally

    def seen(self, store: Store) -> Book | Literal[Unknown.UNKNOWN]:
        """The book that was read or written last."""
        return UNKNOWN if self._page is None or store != self._store else self._page.book

    async def count(self, wishes: Sequence[Wish], settings: OverTime) -> Hold | None:
        """Count all of these, or none: then a budget holds them, and until when.

        Whoever gives up waiting may be counted all the same.

        Raises:
            TallyError: the book cannot be read or written.
            FencedError: see Cluster.fenced.
        """
        ask = _Ask(wishes, settings)
        self._asks.append(ask)
        if self._work is None:
            self._work = asyncio.create_task(self._answer_all(), name="tally")
        return await ask.answer

    async def look(self, wishes: Sequence[Wish], settings: OverTime) -> Hold | None:
        """What `count` would say now; nothing is counted. Raises as `count` does."""
        return room_for(await self.read(settings.store), wishes, self._clock.now())

    async def read(self, store: Store) -> Book:
        """The book as it is now, or was within the last second; TallyError."""
        try:
            return (await self._current(store)).book
        except (ClusterError, BookError, TimeoutError) as error:
            raise _told(error) from error

    async def _answer_all(self) -> None:
        """Until nobody waits."""
        try:
            while self._asks:
                await self._answer_some()
        except Exception:
            # Nobody awaits this task: whoever asks waits for an answer of his own.
            log.exception("counting has failed")
        finally:
            self._work = None
            left, self._asks = self._asks, []
            for ask in left:
                ask.fail(TallyError(_FAULT))

    async def _answer_some(self) -> None:
        """All who wait now, and name the same store as the first; each is told something."""
        store = self._asks[0].settings.store
        asks = self._take(store)
        try:
            await self._settle(store, asks)
        except (ClusterError, BookError, TimeoutError) as error:
            self._fail(store, asks, error if isinstance(error, FencedError) else _told(error))
        except BaseException:
            # A fault, or the end of the process: nobody is to wait for what does not come.
            self._fail(store, asks, TallyError(_FAULT))
            raise

    def _take(self, store: Store) -> list[_Ask]:
        asks = [ask for ask in self._asks if ask.settings.store == store]
        self._asks = [ask for ask in self._asks if ask.settings.store != store]
        return asks

    def _fail(self, store: Store, asks: list[_Ask], error: Exception) -> None:
        """Tell them, and those who have come meanwhile: they would wait as long for the same."""
        self._page = None
        for ask in (*asks, *self._take(store)):
            ask.fail(error)

    async def _settle(self, store: Store, asks: list[_Ask]) -> None:
        """Tell all of these, and those that come while they wait: they are put to the list."""
        for number in count(1):
            page = await self._current(store)
            # Who has given up is not counted, if that is still to be had.
            asks[:] = [ask for ask in asks if not ask.answer.done()]
            book, verdicts = self._judge(page.book, asks)
            if not book.is_changed:
                return _tell(asks, verdicts)
            if left := self._pace.left():
                _tell(asks, verdicts, waiting=False)
                await asyncio.sleep(min(left, _LOOK_AGAIN))
                asks += self._take(store)
                continue
            try:
                await self._write(store, page, book.closed())
            except ConflictError:
                self._page = None
                await asyncio.sleep(_jitter(number))
                continue
            return _tell(asks, verdicts)
        return None

    def _judge(self, page: Book, asks: list[_Ask]) -> tuple[OpenBook, list[_Verdict]]:
        """The book with all whom it lets go, one after the other, and what each is told."""
        now = self._clock.now()
        book = OpenBook(page, now, self._clock.latest())

        def judged(ask: _Ask) -> _Verdict:
            before = book.changes
            hold = book.ask(ask.wishes)
            stands = book.changes == before and is_counted(page, ask.wishes, now)
            return _Verdict(hold, waits=hold is None and not stands)

        return book, [judged(ask) for ask in asks]

    async def _current(self, store: Store) -> Page:
        is_fresh = self._clock.monotonic() - self._read_at < _FRESH
        if self._page is not None and store == self._store and is_fresh:
            return self._page
        # Whoever comes while it is read goes by that, too. It goes on though he gives up: would it
        # end with him, those who come one after the other would each begin it anew.
        if store not in self._reading:
            reading = asyncio.create_task(self._read(store), name="tally read")
            reading.add_done_callback(lambda done: done.cancelled() or done.exception())
            self._reading[store] = reading
        return await asyncio.shield(self._reading[store])

    async def _read(self, store: Store) -> Page:
        writes = self._writes
        try:
            async with asyncio.timeout(_PATIENCE):
                page = await self._pages.read(store)
        finally:
            del self._reading[store]
        if self._page is not None and store == self._store and writes != self._writes:
            # It may be older than what was written meanwhile.
            return self._page
        return self._keep(store, page)

    async def _write(self, store: Store, page: Page, book: Book) -> None:
        async with asyncio.timeout(_PATIENCE):
            written = await self._pages.write(store, page, book)
        self._writes += 1
        self._keep(store, written)
        if written.found is not None:
            self._pace.wrote(written.found.data)

    def _keep(self, store: Store, page: Page) -> Page:
        self._store, self._page, self._read_at = store, page, self._clock.monotonic()
        return page


def _tell(asks: list[_Ask], verdicts: list[_Verdict], *, waiting: bool = True) -> None:
    """Tell them; those that wait for the write only where it is done."""
    for ask, verdict in zip(asks, verdicts, strict=True):
        if waiting or not verdict.waits:
            ask.tell(verdict.hold)


def _jitter(number: int) -> float:
    return random.uniform(0, min(_JITTER * number, _MOST_JITTER))  # noqa: S311 - no secret


def _told(error: Exception) -> TallyError:
    if isinstance(error, BookError):
        return TallyError(f"cannot be counted with: {error}")
    if isinstance(error, TimeoutError):
        return TallyError(f"was not read or written within {_PATIENCE:g} s")
    return TallyError(f"could not be read or written: {error}")
