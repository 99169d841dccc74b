"""Asks the fence about lost nodes, beside all else: one that hangs holds up nobody."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.worker.timers.retrying import Again, Retrying

if TYPE_CHECKING:
    from collections.abc import Callable

    from bailiff.worker.systems.node_loss.fleet import Fleet
    from bailiff.worker.systems.node_loss.settings import Fence
    from bailiff.worker.systems.node_loss.watched import WatchedNode
    from bailiff.worker.systems.system import Parts

# Questions under way; each may be a program of its own.
_AT_A_TIME = 32
# Seconds between two questions about a machine that is not said to be off: it may be switched off
# later, or its controller may answer again. Doubled with each, up to the last number.
_ASK_AGAIN, _LONGEST = 60.0, 300.0


class Fencer(Retrying[str]):
    """By the name of the node, from when its turn has come until its machine is said to be off."""

    def __init__(
        self, parts: Parts, fence: Fence, fleet: Fleet, heard: Callable[[str], None]
    ) -> None:
        """Ask nothing yet.

        Args:
            parts: of the worker.
            fence: who knows.
            fleet: the nodes.
            heard: called with a node's name when there is an answer.
        """
        super().__init__(parts.clock, at_a_time=_AT_A_TIME)
        self._parts = parts
        self._fence = fence
        self._fleet = fleet
        self._heard = heard

    async def attempt(self, key: str, failures: int) -> Again | None:
        """See Retrying. Bounded by the deadline of the fence."""
        watched = self._fleet.get(key)
        if watched is None or not self._is_wanted(watched):
            return None
        turn, answer = watched.turn_at, await self._fence.ask(key)
        is_same = self._fleet.get(key) is watched and watched.turn_at is turn
        if not (is_same and self._is_wanted(watched)):
            # It came back, or is another: what was heard is of before.
            return None
        watched.fence.hear(answer, self._parts.clock.elapsed())
        self._heard(key)
        if answer.off:
            return None
        return Again.doubled(_ASK_AGAIN, failures, _LONGEST)

    async def drain(self) -> None:
        """See Retrying. No end waits for an answer: who cancels `run` breaks off the question."""

    def remind_of(self, watched: WatchedNode) -> None:
        """Have it asked about, where nothing is known and nobody asks.

        It was asked for before, and was not this worker's to ask; or what was said is refuted.
        """
        if watched.asked_at is not None and self._is_wanted(watched):
            self.remind(watched.name)

    def _is_wanted(self, watched: WatchedNode) -> bool:
        fence = watched.fence
        if watched.turn_at is None or fence.distrust or fence.says_off:
            return False
        return self._parts.marks.owns(watched.name) and self._parts.election.may_act()
