"""Who is under way: so many at a time, of each peer a share, and who waits longest makes room.

A call that the server waits for costs nobody time, only its place. So a place is refused only where
none is held by a call that waits, whose client has had its chance.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from bailiff.grpc_api.errors import OverloadedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from bailiff.grpc_api.errors import RefusedError


class Place:
    """Of one call, which holds it in a `with` statement around all that it does.

    At the end of the statement the place is given back. A call that was ended by `end`, which
    cancels its task, leaves the statement with the error that `end` was given.

    Attributes:
        peer: whose it is (`Connection.counted_as`); empty: not to be told from others, and
            without a share.
        error: why the call has been ended, once it has.
    """

    __slots__ = ("_places", "_task", "deadline", "error", "peer", "since")

    def __init__(self, places: Places, peer: str) -> None:
        """Of the task that runs."""
        self.peer = peer
        self.error: RefusedError | None = None
        self._places = places
        self._task = asyncio.current_task()
        self.since = 0.0
        self.deadline = 0.0

    def end(self, error: RefusedError) -> None:
        """Let the call raise this where it waits."""
        if self._task is not None:
            self.error = error
            self._task.cancel()

    def __enter__(self) -> Place:
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        self._places.leave(self)
        if self.error is not None and isinstance(error, asyncio.CancelledError):
            if self._task is not None:
                self._task.uncancel()
            raise self.error from None


class Places:
    """Places of calls of one kind.

    Attributes:
        waiting: those that wait for their clients, longest first.
    """

    def __init__(self, most: int, what: str, grace: float, now: Callable[[], float]) -> None:
        """All are free.

        Args:
            most: places; one peer has at most half of them.
            what: who takes them, as `calls`, for those who are refused.
            grace: seconds that a call may wait before it makes room for others.
            now: tells seconds.
        """
        self._most = most
        self._share = (most + 1) // 2
        self._what = what
        self._grace = grace
        self._now = now
        self._taken = 0
        self._taken_by: dict[str, int] = {}
        self.waiting: dict[Place, None] = {}

    def enter(self, peer: str, seconds: float) -> Place:
        """Take a place, for the task that runs, which waits for its client first.

        Args:
            peer: of the client.
            seconds: how long it may wait.

        Raises:
            OverloadedError: there is none, and nobody to make room.
        """
        taken_by = self._taken_by
        if peer and taken_by.get(peer, 0) >= self._share:
            self._make_room(peer)
        elif self._taken >= self._most:
            self._make_room("")
        self._taken += 1
        taken_by[peer] = taken_by.get(peer, 0) + 1
        place = Place(self, peer)
        place.since = now = self._now()
        place.deadline = now + seconds
        self.waiting[place] = None
        return place

    def leave(self, place: Place) -> None:
        """Give a place back, once, however its call has ended."""
        self.waiting.pop(place, None)
        if place.error is None:
            self._give_back(place)

    def wait(self, place: Place, seconds: float) -> None:
        """From here on the call waits for its client, at most so many seconds."""
        place.since = self._now()
        place.deadline = place.since + seconds
        self.waiting[place] = None

    def work(self, place: Place) -> None:
        """From here on it does not wait any more."""
        self.waiting.pop(place, None)

    def expire(self, error: Callable[[], RefusedError]) -> None:
        """End those that have waited for too long."""
        now = self._now()
        for place in [one for one in self.waiting if one.deadline <= now]:
            self._end(place, error())

    def _make_room(self, peer: str) -> None:
        """End the call that has waited longest: of this peer, or of the one with the most."""
        before = self._now() - self._grace
        heaviest = peer or max(
            {one.peer for one in self.waiting}, key=self._taken_by.__getitem__, default=""
        )
        for place in self.waiting:
            if place.peer == heaviest and place.since <= before:
                self._end(
                    place, OverloadedError(f"others want the place of {self._what} that wait")
                )
                return
        raise OverloadedError(f"{self._taken} {self._what} are under way already")

    def _end(self, place: Place, error: RefusedError) -> None:
        """Its place is free at once: what it still does is to be told."""
        del self.waiting[place]
        self._give_back(place)
        place.end(error)

    def _give_back(self, place: Place) -> None:
        self._taken -= 1
        left = self._taken_by[place.peer] - 1
        if left:
            self._taken_by[place.peer] = left
        else:
            del self._taken_by[place.peer]
