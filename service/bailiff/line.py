"""A queue of many peers, in which nobody's length is another's delay."""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Container

T = TypeVar("T")


class Line(Generic[T]):
    """Peers take turns; what is one peer's comes in the order in which it was added.

    A peer that had nothing here goes first, once, before those that have waiting what they had
    before: so whoever asks now and then hardly waits for those who ask for much. That is what
    FQ-CoDel does for packets (RFC 8290, 4.2), with one item in place of a number of bytes.
    """

    def __init__(self) -> None:
        """Nobody waits."""
        self._fresh: OrderedDict[str, deque[T]] = OrderedDict()
        # Those that have had their turn. They stay for one round more when they have nothing left,
        # or a peer would be fresh with each of its items.
        self._others: OrderedDict[str, deque[T]] = OrderedDict()
        self._length = 0

    def __len__(self) -> int:
        """How many wait."""
        return self._length

    def add(self, peer: str, item: T) -> None:
        """At the end of what is this peer's."""
        queue = self._others.get(peer)
        if queue is None:
            queue = self._fresh.setdefault(peer, deque())
        queue.append(item)
        self._length += 1

    def put_back(self, peer: str, item: T) -> None:
        """What was taken is next again, but for what peers have that had nothing here.

        Of several the last that was taken is put back first.
        """
        queue = self._fresh.get(peer)
        if queue is None:
            queue = self._others.setdefault(peer, deque())
            self._others.move_to_end(peer, last=False)
        queue.appendleft(item)
        self._length += 1

    def pop(self, but: Container[str] = ()) -> T:
        """The next one, but for those of some peers, which keep their places.

        Raises:
            IndexError: nobody waits, or only they do.
        """
        queue = self._next(but)
        self._length -= 1
        item = queue.popleft()
        if not self._length:
            self._others.clear()
        return item

    def pop_last(self, peer: str) -> T:
        """What was added last of this peer, out of its turn.

        Raises:
            LookupError: it has nothing here.
        """
        queue = self._queue(peer)
        item = queue.pop()
        self._shorter(peer, queue)
        return item

    def remove(self, peer: str, item: T) -> bool:
        """Take out what will not be waited for; whether it was here. Looks at all of this peer."""
        try:
            queue = self._queue(peer)
            queue.remove(item)
        except (KeyError, ValueError):
            return False
        self._shorter(peer, queue)
        return True

    def _queue(self, peer: str) -> deque[T]:
        return self._fresh.get(peer) or self._others[peer]

    def _shorter(self, peer: str, queue: deque[T]) -> None:
        """Something was taken out elsewhere than in front."""
        self._length -= 1
        if not queue:
            # One that has had its turn keeps its place in the round.
            self._fresh.pop(peer, None)
        if not self._length:
            self._others.clear()

    def _next(self, but: Container[str]) -> deque[T]:
        """Of the peer whose turn it is, which goes to the end."""
        for peers in (self._fresh, self._others):
            while (peer := next((one for one in peers if one not in but), None)) is not None:
                queue = peers.pop(peer)
                if queue:
                    self._others[peer] = queue
                    return queue
        raise IndexError("nobody waits")
