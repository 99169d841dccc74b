"""The hardest bodies found so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

# Seconds by which a tick may come late.
MOST = 0.1
_TOLD = 5
_TIMES = 3


class Found:
    """The worst so far, by how late the tick came: of a body that seems bad the best of three."""

    def __init__(self) -> None:
        self.worst: list[tuple[float, str]] = []
        self.tried = 0

    def measure(self, ask: Callable[[], tuple[float, str]], words: str) -> float:
        """Ask; again where the tick came late, as the machine may have had something else to do.

        Returns:
            Seconds by which the tick came late, at the least.
        """
        gap, came = ask()
        for _ in range(_TIMES - 1):
            if gap > MOST / 2:
                gap = min(gap, ask()[0])
        self.tried += 1
        self.worst = sorted([*self.worst, (gap, f"{words}: {came}")], reverse=True)[:_TOLD]
        return gap
