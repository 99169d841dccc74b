"""Who asks a process, from what the command line says."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bailiff.access import (
    AccessMetrics,
    AccessSettings,
    ClusterReviewer,
    Guard,
    StaticTokens,
    TokenFileError,
)
from bailiff.bootstrap.access import is_loopback
from bailiff.bootstrap.choices import ClusterUnusable
from bailiff.clock import SystemClock
from bailiff.cluster import ClusterError, ClusterSettings, connect

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from prometheus_client import CollectorRegistry

    from bailiff.access import Reviewer
    from bailiff.bootstrap.access import AccessChoice
    from bailiff.bootstrap.choices import ClusterChoice

# Bytes of an answer about a caller: far above what its groups and extra words come to.
_LONGEST_ANSWER = 1024 * 1024


class TokensUnusableError(Exception):
    """The file of tokens does not serve; the message names the option, and says why."""


@dataclass(frozen=True, kw_only=True)
class Guarding:
    """All that the guard of a process is made of, read when the process starts.

    Attributes:
        choice: of the command line.
        cluster: whose API server is asked.
        settings: of the environment.
        tokens: of the file, if there is one.
        metrics: where callers are counted, registered already.
    """

    choice: AccessChoice
    cluster: ClusterChoice
    settings: AccessSettings
    tokens: StaticTokens | None
    metrics: AccessMetrics

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[Guard]:
        """A guard for the running loop.

        Raises:
            ClusterError: it is to ask an API server, and cannot log in there.
        """
        async with contextlib.AsyncExitStack() as stack:
            guard = Guard(
                self.settings,
                SystemClock(),
                tokens=self.tokens,
                reviewer=await self._reviewer(stack),
                certificates=self.choice.client_ca_file is not None,
                metrics=self.metrics,
            )
            yield await stack.enter_async_context(guard.running())

    @contextlib.asynccontextmanager
    async def open_at_start(self) -> AsyncIterator[Guard]:
        """As `open`; raises ClusterUnusable where that does."""
        async with contextlib.AsyncExitStack() as stack:
            try:
                guard = await stack.enter_async_context(self.open())
            except ClusterError as error:
                raise ClusterUnusable(str(error)) from error
            yield guard

    async def _reviewer(self, stack: contextlib.AsyncExitStack) -> Reviewer | None:
        """Over connections of its own: who asks for much must not be waited for by who asks."""
        if not self.choice.token_webhook:
            return None
        settings, choice = self.settings, self.cluster
        bounds = ClusterSettings(
            request_timeout=settings.review_timeout_seconds,
            max_requests=settings.max_reviews,
            max_watches=1,
            max_response_bytes=_LONGEST_ANSWER,
        )
        cluster = await connect(
            choice.kubeconfig,
            context=choice.context,
            in_cluster=choice.in_cluster,
            settings=bounds,
        )
        await stack.enter_async_context(cluster)
        return ClusterReviewer(cluster, settings.audience)


def guarding_of(
    choice: AccessChoice,
    cluster: ClusterChoice,
    host: str,
    registry: CollectorRegistry,
) -> Guarding | None:
    """What guards the ports of a process; None: nobody is asked who he is, on this machine only.

    Raises:
        SettingsError: the environment has a setting that cannot be.
        TokensUnusableError: the file of tokens does not serve.
    """
    settings = AccessSettings.read()
    if not choice.asks_who and _is_only_here(host):
        return None
    metrics = AccessMetrics()
    registry.register(metrics)
    return Guarding(
        choice=choice,
        cluster=cluster,
        settings=settings,
        tokens=_tokens(choice),
        metrics=metrics,
    )


def _is_only_here(host: str) -> bool:
    try:
        return is_loopback(host)
    except OSError:
        return False  # who listens tells of it, or finds a name by then, of whoever


def _tokens(choice: AccessChoice) -> StaticTokens | None:
    path = choice.token_auth_file
    if path is None:
        return None
    try:
        return StaticTokens(path)
    except TokenFileError as error:
        raise TokensUnusableError(f"--token-auth-file: {path}: {error}") from error
