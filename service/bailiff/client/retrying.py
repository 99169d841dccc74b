"""When to ask again, and how long each attempt may take: no I/O, and instants are arguments.

All questions only ask, so repeating one is always safe. What is repeated is what may have an answer
soon: nobody there, no room, an attempt that hangs. Pauses have full jitter, so that clients that
failed together do not come again together, and are never shorter than the server asks for.
"""

from __future__ import annotations

import random
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bailiff.client import given
from bailiff.client.errors import UnauthenticatedError, is_repeated, late

if TYPE_CHECKING:
    from collections.abc import Callable

    from bailiff.client.errors import BailiffError

# Beyond these no pause is shorter than any that somebody may set.
_DOUBLINGS = 64


@dataclass(frozen=True, kw_only=True)
class Retries:
    """How often to ask again, and when.

    Attributes:
        attempts: at most so many in all; 1: never again.
        first_pause: the longest pause before the second attempt, in seconds; doubled for each
            further one.
        longest_pause: no pause of ours is longer, in seconds; the server may ask for more.
        budget: a client whose attempts fail may repeat so many at once; then each answer earns a
            tenth of another, so that many clients of a server in trouble add at most a tenth to its
            load.
    """

    attempts: int = 5
    first_pause: float = 0.1
    longest_pause: float = 5.0
    budget: int = 20

    def __post_init__(self) -> None:
        given.whole(self.attempts, "attempts", 1)
        given.whole(self.budget, "budget", 0)
        for name in ("first_pause", "longest_pause"):
            given.seconds(getattr(self, name), name)
        if not 0 <= self.first_pause <= self.longest_pause:
            raise ValueError("first_pause must be 0 or more, and not above longest_pause")


def asked_pause(seconds: float) -> float:
    """What a server asks for, as a pause that can be made: from 0 to a day."""
    return float(min(max(0.0, seconds), given.LONGEST_SECONDS))


class Budget:
    """What all calls of one client may still repeat. Threads share it."""

    # What a repetition costs; an answer earns 1.
    _COST = 10

    def __init__(self, most: int) -> None:
        self._most = most * self._COST
        self._left = self._most
        self._lock = threading.Lock()

    def earn(self) -> None:
        """An answer has come."""
        with self._lock:
            self._left = min(self._most, self._left + 1)

    def take(self) -> bool:
        """Whether one more may be repeated; it then counts as done."""
        with self._lock:
            if self._left < self._COST:
                return False
            self._left -= self._COST
            return True


class Attempts:
    """The attempts of one call."""

    def __init__(
        self,
        retries: Retries,
        budget: Budget,
        *,
        deadline: float,
        each: float,
        renewed: Callable[[], bool] = lambda: False,
        draw: Callable[[], float] = random.random,
    ) -> None:
        """None made yet.

        Args:
            retries: see there.
            budget: of the client.
            deadline: the instant at which the call is over, on the caller's clock, in seconds.
            each: an attempt takes at most so many seconds.
            renewed: whether there is a new token since the attempt that was told that it has none
                that counts.
            draw: a number from 0 to below 1.
        """
        self._retries = retries
        self._budget = budget
        self._deadline = deadline
        self._each = each
        self._renewed = renewed
        self._draw = draw
        self._made = 0
        self._known_again = False

    def begin(self, now: float) -> float:
        """The next attempt begins.

        Returns:
            How long it may take, in seconds.

        Raises:
            DeadlineError: there is no time left.
        """
        left = self._deadline - now
        if left <= 0:
            raise late()
        self._made += 1
        return min(self._each, left)

    def pause(self, error: BailiffError, now: float) -> float:
        """How long to wait before the next attempt, in seconds.

        Raises:
            BailiffError: the error itself, where there is to be none.
        """
        if self._has_new_token(error):
            return 0.0
        if not is_repeated(error.code) or self._made >= self._retries.attempts:
            raise error
        pause = self._drawn() + (error.retry_after or 0.0)
        if now + pause >= self._deadline or not self._budget.take():
            raise error
        return pause

    def _has_new_token(self, error: BailiffError) -> bool:
        """Once in a call: a token may have been renewed while the attempt was on its way."""
        if self._known_again or not isinstance(error, UnauthenticatedError):
            return False
        self._known_again = True
        return self._renewed()

    def answered(self) -> None:
        """The attempt has an answer."""
        self._budget.earn()

    def _drawn(self) -> float:
        longest = self._retries.first_pause * 2.0 ** min(self._made - 1, _DOUBLINGS)
        return self._draw() * min(longest, self._retries.longest_pause)
