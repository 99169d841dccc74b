"""How much one caller may ask, so that it leaves something for the others."""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bailiff.access.errors import QuotaError

if TYPE_CHECKING:
    from bailiff.access.settings import AccessSettings


@dataclass(frozen=True, slots=True)
class Limits:
    """Of one caller: what it may have a second, save up, and have at a time."""

    requests: float
    bytes: float
    burst_requests: float
    burst_bytes: float
    at_a_time: int


class Account:
    """What one caller has left: requests, bytes, and requests at a time.

    Two token buckets that are filled whenever somebody looks. Bytes are taken when they have
    come or gone, since nobody knows before how many there will be: so they may fall below nothing,
    and then nothing is let in until they are above.
    """

    __slots__ = ("_bytes", "_filled", "_limits", "_requests", "under_way")

    def __init__(self, limits: Limits, now: float) -> None:
        """All that may be saved up is there."""
        self._limits = limits
        self._filled = now
        self._requests = limits.burst_requests
        self._bytes = limits.burst_bytes
        self.under_way = 0

    def begin(self, now: float) -> None:
        """A request begins; `end` is to follow.

        Raises:
            QuotaError: it may not; `retry_after` says when it may.
        """
        limits = self._limits
        if self.under_way >= limits.at_a_time:
            raise QuotaError(
                f"{limits.at_a_time} requests of this caller are being answered already", 1
            )
        self.again(now)
        self.under_way += 1

    def again(self, now: float) -> None:
        """One more request, if only of a stream that is under way; raises QuotaError."""
        limits, passed = self._limits, now - self._filled
        self._filled = now
        size = self._bytes + passed * limits.bytes
        self._bytes = min(limits.burst_bytes, size)
        requests = self._requests + passed * limits.requests
        self._requests = min(limits.burst_requests, requests)
        if self._bytes <= 0:
            raise _beyond(f"{limits.bytes:.0f} bytes a second", -self._bytes / limits.bytes)
        if self._requests < 1:
            lacking = (1 - self._requests) / limits.requests
            raise _beyond(f"{limits.requests:g} requests a second", lacking)
        self._requests -= 1

    def end(self) -> None:
        """A request that began is over."""
        self.under_way -= 1

    def spend(self, count: int) -> None:
        """So many bytes have come, or gone."""
        self._bytes -= count


class Quotas:
    """The accounts of all callers."""

    def __init__(self, settings: AccessSettings) -> None:
        """Nobody has asked yet."""
        self._most = settings.max_callers
        self._limits = Limits(
            settings.max_requests_per_second,
            settings.max_bytes_per_second,
            float(settings.max_burst_requests),
            float(settings.max_burst_bytes),
            settings.max_concurrent_requests,
        )
        # Who has not asked for longest first.
        self._accounts: OrderedDict[str, Account] = OrderedDict()

    def __len__(self) -> int:
        return len(self._accounts)

    def begin(self, caller: str, now: float) -> Account:
        """A request of a caller begins, at `now` in elapsed seconds.

        Returns:
            What it is to be charged to, and ended at.

        Raises:
            QuotaError: see Account; or as many callers as are remembered are being answered.
        """
        account = self._accounts.get(caller)
        if account is None:
            account = self._open(caller, now)
        else:
            self._accounts.move_to_end(caller)
        account.begin(now)
        return account

    def _open(self, caller: str, now: float) -> Account:
        if len(self._accounts) >= self._most and not self._forget_one():
            raise QuotaError(f"{self._most} callers are being answered already", 1)
        account = self._accounts[caller] = Account(self._limits, now)
        return account

    def _forget_one(self) -> bool:
        """Who has not asked for longest, and has nothing under way; whether there is one.

        Who has something under way would begin anew beside it, and have twice its due at a time.
        """
        for _ in range(len(self._accounts)):
            caller, account = next(iter(self._accounts.items()))
            if not account.under_way:
                del self._accounts[caller]
                return True
            self._accounts.move_to_end(caller)  # so that it is not passed over again next time
        return False


def _beyond(limit: str, seconds: float) -> QuotaError:
    message = f"one caller may have {limit}"
    return QuotaError(message, max(1, math.ceil(seconds)))
