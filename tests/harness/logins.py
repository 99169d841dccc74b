"""Logins for tests of how they are renewed, on the virtual time of the loop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest
import structlog

from bailiff.cluster.credentials import Credentials
from bailiff.cluster.login import FilesRead, Login
from tests.harness.clocks import START, LoopClock

TIMEOUT = 30.0


def login(
    token: str, until: float | None = None, files: FilesRead | None = None, host: str = "https://k"
) -> Login:
    """A login that expires at that second of the test."""
    expires = None if until is None else START + timedelta(seconds=until)
    own = files or FilesRead()
    return Login(host, authorization=token, expires_at=expires, files=own)


class Script:
    """A reader that gives one login after another, or fails.

    Attributes:
        takes: seconds for each.
        began: when each reading began, in seconds of the test.
        most: how many ran at a time.
        ended: how many came to their end, one that was cancelled included.
    """

    def __init__(self, *logins: Login | Exception, takes: float = 0.0) -> None:
        self._logins = list(logins)
        self.takes = takes
        self.began: list[float] = []
        self.ended = self.most = 0

    async def __call__(self) -> Login:
        self.began.append(seconds())
        self.most = max(self.most, len(self.began) - self.ended)
        try:
            await asyncio.sleep(self.takes)
        finally:
            self.ended += 1
        # What comes after the script is its last line again.
        found = self._logins.pop(0) if len(self._logins) > 1 else self._logins[0]
        if isinstance(found, Exception):
            raise found
        return found


def seconds() -> float:
    return asyncio.get_running_loop().time()


async def at(second: float) -> None:
    """Wait until shortly after a second of the test, so that what happens then has happened."""
    await asyncio.sleep(second + 0.001 - seconds())


@pytest.fixture
async def started():
    """Starts credentials, and closes them."""
    running: list[Credentials] = []

    async def start(read: Callable[[], Awaitable[Login]]) -> Credentials:
        credentials = Credentials(read, LoopClock(), TIMEOUT, structlog.get_logger())
        await credentials.start()
        running.append(credentials)
        return credentials

    yield start
    for each in running:
        await each.close()


async def token(credentials: Credentials) -> str | None:
    return (await credentials.current()).authorization
