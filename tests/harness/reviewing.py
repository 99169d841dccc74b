"""An API server that knows callers and their rights, for guards under test."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

from bailiff.access import DENIED, AccessSettings, Caller, Denied, Guard, Right, StaticTokens
from bailiff.cluster import UnreachableError
from tests.harness.clocks import LoopClock, ManualClock

ALICE = Caller(name="alice", groups=("ops",))


@dataclass
class Reviewer:
    """Answers from what it is told.

    Attributes:
        callers: by their tokens.
        rights: that callers have, by their names.
        seconds: that each answer takes.
        away: whether nobody is there.
        asked: the subject of each question, in order.
        at_once: the most questions that were under way at a time.
    """

    callers: dict[str, Caller] = field(default_factory=lambda: {"good": ALICE})
    rights: set[tuple[str, Right]] = field(default_factory=set)
    seconds: float = 0.0
    away: bool = False
    asked: list[object] = field(default_factory=list)
    at_once: int = 0
    _under_way: int = 0

    async def who(self, token: str) -> Caller | Denied:
        await self._answering(token)
        return self.callers.get(token, DENIED)

    async def may(self, caller: Caller, right: Right) -> bool | Denied:
        await self._answering((caller.name, right))
        return True if (caller.name, right) in self.rights else DENIED

    async def _answering(self, subject: object) -> None:
        self.asked.append(subject)
        self._under_way += 1
        self.at_once = max(self.at_once, self._under_way)
        try:
            await asyncio.sleep(self.seconds)
        finally:
            self._under_way -= 1
        if self.away:
            raise UnreachableError("POST /apis: connection refused")


def guard_by(reviewer: Reviewer | None = None, **settings: float) -> Guard:
    """A guard on the loop's time."""
    given = AccessSettings.model_validate(settings)
    return Guard(given, LoopClock(), reviewer=reviewer or Reviewer())


def guard_by_file(folder: Path) -> Guard:
    """A guard who knows one token, "good", by a file in this folder."""
    return Guard(AccessSettings(), ManualClock(), tokens=StaticTokens(_file_in(folder)))


class BrokenTokens(StaticTokens):
    """Tokens whose file is looked at well until `broken` is set, which is a fault of ours."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.broken = asyncio.Event()

    async def run(self) -> None:
        await self.broken.wait()
        raise RuntimeError("can't start new thread")


def broken_tokens(folder: Path) -> BrokenTokens:
    """They know "good", as of `guard_by_file`."""
    return BrokenTokens(_file_in(folder))


def _file_in(folder: Path) -> Path:
    tokens = folder / "tokens.csv"
    tokens.write_text("good,alice,1\n")
    return tokens
