"""The present login, and how it is renewed while requests go on with it.

Files are looked at every minute, and read again if one has changed. What says when it ends is
renewed before that. Beyond that, a login is renewed when the server has refused it. All of this is
done in one task, whatever number of requests ask for it, and a request waits for it only where it
has no login that is still valid: a plugin that takes 4 s may well outlast a request that lasts 3 s
at most, and the next request finds what it gave.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeAlias

from bailiff.cluster.errors import ConfigError, UnreachableError

if TYPE_CHECKING:
    from bailiff.clock import Clock
    from bailiff.cluster.login import Login, Read

Warn: TypeAlias = Callable[[str], None]

# Seconds between two looks at files. A service account token is replaced at 80 % of its life, an
# hour and more; client-go reads its file every minute too (client-go transport/token_source.go),
# certificates every five (transport/cert_rotation.go, ca_rotation.go).
_FILE_PERIOD = 60.0
# Renew this many seconds before an announced expiry, so that no request is sent with a token
# that dies on the way; half of what is left when that is less.
_EXPIRY_MARGIN = 60.0
# Seconds from one renewal to the next where the first failed, or the server has refused the
# login: neither may start a plugin for every request.
_MIN_PERIOD = 5.0
# Seconds; what is announced to end sooner is renewed no more often than this.
_SHORTEST = 1.0


class Log(Protocol):
    """Where a login tells what becomes of it, such as a logger of structlog."""

    def info(self, event: str, **facts: object) -> object:
        """Something that was to be expected."""
        ...

    def warning(self, event: str, **facts: object) -> object:
        """Something that somebody should look at."""
        ...


class Credentials:
    """The login of one client. Start it, and close it: in between a task of its own renews.

    Used by one event loop, by any number of its tasks.
    """

    def __init__(
        self, read: Read, clock: Clock, login_timeout: float, log: Log, warn: Warn | None = None
    ) -> None:
        """Nothing is read yet.

        Args:
            read: gives a login, or raises ConfigError.
            clock: says when a login has expired.
            login_timeout: seconds that one reading may take.
            log: is told what becomes of it.
            warn: is told of what is dangerous about a login, once; None writes it to the log.
        """
        self._read = read
        self._clock = clock
        self._timeout = login_timeout
        self._log = log
        self._warn = warn or self._log_danger
        self._told: frozenset[str] = frozenset()
        self._login: Login | None = None
        self._trouble = ""
        self._renew_at = self._look_at = float("-inf")
        self._read_at = self._refused_at = float("-inf")
        self._keeper: asyncio.Task[None] | None = None
        self._renewal: asyncio.Task[None] | None = None
        self._closed = False

    async def start(self) -> None:
        """Log in, and stay logged in until `close`.

        Raises:
            ConfigError: there is no usable login; nothing is left to be closed.
        """
        try:
            await self.current()
        except BaseException:
            await self.close()
            raise
        self._keeper = asyncio.create_task(self._keep())

    async def close(self) -> None:
        """End all renewing, and with it a plugin that runs."""
        self._closed = True
        tasks = [task for task in (self._keeper, self._renewal) if task is not None]
        for task in tasks:
            task.cancel()
        for outcome in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(outcome, Exception):
                raise outcome

    async def current(self) -> Login:
        """The login to use for the next request.

        Where none could be had in place of one that has expired, that one: the server is the
        judge of it.

        Raises:
            ConfigError: there never was a usable one.
            UnreachableError: closed.
        """
        if self._keeper is not None and self._keeper.done() and not self._closed:
            self._keeper.result()
        if self._login is None or (self._expired(self._login) and self._may_wait(self._read_at)):
            await self._renewed()
        if self._login is None:
            raise ConfigError(self._trouble)
        return self._login

    async def after_rejection(self, rejected: Login) -> Login | None:
        """Another login than one that was answered with 401, or None where there is none.

        Raises:
            UnreachableError: closed.
        """
        if self._proves_the_same(rejected) and self._may_wait(self._refused_at):
            self._refused_at = self._clock.monotonic()
            await self._renewed()
        return None if self._proves_the_same(rejected) else self._login

    async def after_failure(self, used: Login) -> None:
        """Look at the files of a login at once, because a connection with it failed.

        It may have failed in TLS, for a CA or a certificate that has been replaced: a server that
        takes no client without one says so in TLS 1.3 by hanging up after the handshake.

        Raises:
            UnreachableError: closed.
        """
        if self._login is used and used.files.changed():
            await self._renewed()

    def _proves_the_same(self, rejected: Login) -> bool:
        return self._login is not None and self._login.proves_the_same(rejected)

    def _expired(self, login: Login) -> bool:
        return login.expires_at is not None and self._clock.now() >= login.expires_at

    def _may_wait(self, last: float) -> bool:
        """Whether a renewal is under way, or the last for this reason is long enough ago."""
        return self._renewing() or self._clock.monotonic() - last >= _MIN_PERIOD

    def _renewing(self) -> bool:
        return self._renewal is not None and not self._renewal.done()

    async def _renewed(self) -> None:
        """Wait for the end of the renewal under way, else of a new one; it may have failed.

        Whoever waits may be cancelled, and the renewal goes on for the others.
        """
        if self._closed:
            raise UnreachableError("the client is closed")
        renewal = self._renewal
        if renewal is None or renewal.done():
            renewal = self._renewal = asyncio.create_task(self._renew())
        await asyncio.wait({renewal})
        if renewal.cancelled():
            raise UnreachableError("the client is closed")
        renewal.result()

    async def _keep(self) -> None:
        while True:
            now = self._clock.monotonic()
            await asyncio.sleep(min(self._renew_at, self._look_at) - now)
            await self._look()

    async def _look(self) -> None:
        now = self._clock.monotonic()
        due = now >= self._renew_at
        if not due and now >= self._look_at:
            self._look_at = now + _FILE_PERIOD
            due = self._login is not None and self._login.files.changed()
        if due:
            await self._renewed()

    async def _renew(self) -> None:
        try:
            async with asyncio.timeout(self._timeout):
                login = await self._read()
            self._take(login)
        except TimeoutError:
            self._failed(f"no credentials after {self._timeout:g} s")
        except ConfigError as error:
            self._failed(error.message)
        except Exception as error:  # noqa: BLE001 - see below
            # A file that somebody writes while we run may break any parser (a RecursionError of
            # YAML, an OverflowError of an expiry). It must not end a worker that has a login. The
            # type alone is told: the words may quote the file.
            self._failed(f"{type(error).__name__} while reading the login")
        self._read_at = self._clock.monotonic()

    def _take(self, login: Login) -> None:
        if self._login is not None and login.host != self._login.host:
            # What was seen of one cluster must not be acted upon in another.
            raise ConfigError("another server than at the start; the client stays with that one")
        if self._login is not None and not self._login.proves_the_same(login):
            self._log.info("logged in anew", host=login.host, expires_at=login.expires_at)
        self._login = login
        self._trouble = ""
        self._tell(frozenset(login.dangers()))
        now = self._clock.monotonic()
        self._renew_at, self._look_at = now + self._lifetime(login), now + _FILE_PERIOD

    def _log_danger(self, danger: str) -> None:
        self._log.warning("the login to the cluster is not safe", reason=danger)

    def _tell(self, dangers: frozenset[str]) -> None:
        for danger in sorted(dangers - self._told):
            self._warn(danger)
        self._told = dangers

    def _lifetime(self, login: Login) -> float:
        """Seconds until a login is renewed because it says that it ends."""
        if login.expires_at is None:
            return float("inf")
        left = (login.expires_at - self._clock.now()).total_seconds()
        return max(left - min(_EXPIRY_MARGIN, left / 2), _SHORTEST)

    def _failed(self, trouble: str) -> None:
        if self._login is not None and trouble != self._trouble:
            self._log.warning("the login is not renewed, the old one stays in use", reason=trouble)
        self._trouble = trouble
        self._renew_at = self._clock.monotonic() + _MIN_PERIOD
