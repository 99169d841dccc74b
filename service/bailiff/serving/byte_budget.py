"""How many bytes of bodies and answers a process may hold at a time."""

from __future__ import annotations

# A quarter of the 512 MiB that the chart gives a pod of the decision API.
DEFAULT_BYTES = 128 * 1024 * 1024


class ByteBudget:
    """Counts bytes that clients make a process hold: messages under way, in and out.

    One for all ports of a process, since all of them draw on the same memory. To be used in one
    thread.

    Attributes:
        most: bytes that may be held at a time.
        taken: bytes that are held now.
    """

    __slots__ = ("most", "taken")

    def __init__(self, most: int = DEFAULT_BYTES) -> None:
        """Nothing is held yet; `most` is 1 and up."""
        self.most = most
        self.taken = 0

    def take(self, count: int) -> bool:
        """Hold so many bytes more; False: they do not fit, and none is taken."""
        if self.taken + count > self.most:
            return False
        self.taken += count
        return True

    def give_back(self, count: int) -> None:
        """Hold so many bytes less: as many as were taken, once."""
        self.taken -= count
