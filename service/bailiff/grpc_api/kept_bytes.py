"""Bytes that streams keep from one message to the next: in the process's budget, and in shares."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from bailiff.addresses import peer_of
from bailiff.grpc_api.errors import OverloadedError
from bailiff.turns import ASKED_FROM

if TYPE_CHECKING:
    from types import TracebackType

    from bailiff.serving import ByteBudget

# Of the budget: what all streams keep together, and those of one address. Nobody can be made to
# give back what it keeps, so the rest is for messages.
_ALL, _OF_ONE = 2, 4


class NoRoomError(OverloadedError):
    """There is no room for what a stream would keep."""


class KeptBytes:
    """What all streams of a server keep."""

    def __init__(self, budget: ByteBudget) -> None:
        """Nothing is kept yet; the budget is the process's."""
        self._budget = budget
        self._taken = 0
        self._taken_by: Counter[str] = Counter()

    def of_stream(self) -> KeptByStream:
        """For a stream that begins: the call that is being answered."""
        return KeptByStream(self, peer_of(ASKED_FROM.get()))

    def take(self, count: int, peer: str) -> bool:
        """Keep so many bytes more, or less; False: they do not fit, and nothing changes."""
        most = self._budget.most
        if count > 0:
            own = self._taken_by[peer] + count
            if self._taken + count > most // _ALL or (peer and own > most // _OF_ONE):
                return False
            if not self._budget.take(count, long=True):
                return False
        else:
            self._budget.give_back(-count)
        self._taken += count
        self._taken_by[peer] += count
        if not self._taken_by[peer]:
            del self._taken_by[peer]
        return True


class KeptByStream:
    """What one stream keeps; given back where it ends."""

    def __init__(self, kept: KeptBytes, peer: str) -> None:
        """Nothing yet; `KeptBytes.of_stream` is what callers use."""
        self._kept = kept
        self._peer = peer
        self._count = 0

    def set(self, count: int) -> None:
        """From now on it keeps so many bytes.

        Raises:
            NoRoomError: there is no room for them.
        """
        if not self._kept.take(count - self._count, self._peer):
            raise NoRoomError("there is no room for what this stream would keep, so it ends")
        self._count = count

    def __enter__(self) -> KeptByStream:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._kept.take(-self._count, self._peer)
        self._count = 0
