"""The client of all kubelets: a summary, or the configuration, of one node at a time."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import bailiff
from bailiff.clock import SystemClock
from bailiff.cluster.kubelets.answers import Answer
from bailiff.cluster.kubelets.connection import BUFFER, opened
from bailiff.cluster.kubelets.detours import Detours
from bailiff.cluster.kubelets.endpoints import endpoint_of
from bailiff.cluster.kubelets.errors import (
    KubeletAddressError,
    KubeletError,
    KubeletUnreachableError,
)
from bailiff.cluster.kubelets.failures import check_form, check_status, told
from bailiff.cluster.kubelets.kept import Kept
from bailiff.cluster.kubelets.login import KubeletLogin
from bailiff.cluster.kubelets.names import Names
from bailiff.cluster.kubelets.settings import KubeletSettings, ViaApiServer
from bailiff.cluster.kubelets.summaries import MeasuredNode, decode_summary
from bailiff.cluster.kubelets.turns import Turns
from bailiff.cluster.request import Request
from bailiff.cluster.resource import NODES

if TYPE_CHECKING:
    import ssl
    from datetime import datetime

    from bailiff.clock import Clock
    from bailiff.cluster.client import Cluster
    from bailiff.cluster.credentials import Warn
    from bailiff.cluster.kubelets.connection import Connection
    from bailiff.cluster.kubelets.endpoints import Endpoint
    from bailiff.cluster.kubelets.login import Shown
    from bailiff.cluster.tls import Tls
    from bailiff.cluster.wire import Wire
    from bailiff.kinds import Node

_SUMMARY = "/stats/summary"
_CONFIGURATION = "/configz"
# Requests by way of the API server at a time: more than whoever reads summaries ever sends at once,
# so that none waits here for those that hang. The API server does not count them among those it
# bounds: to a proxy they are long-running ones (BasicLongRunningRequestCheck in k8s.io/apiserver).
_MOST_PROXIED = 1024
# Pieces of work of a millisecond or two.
_BUSY = 16


@dataclass(frozen=True, slots=True)
class SummaryRead:
    """The summary of one node as it was read.

    Attributes:
        measured: what the kubelet said.
        received: when all of it had come, by our clock.
        seconds: that reading it took, decoding included.
        size: bytes of JSON.
        via_api_server: by way of the API server.
    """

    measured: MeasuredNode
    received: datetime
    seconds: float
    size: int
    via_api_server: bool


class Kubelets:
    """All kubelets of one cluster. Get one with `connect_kubelets`; close it.

    One instance belongs to one event loop; any number of its tasks may use it at a time, and each
    is what bounds how many that are. Environment variables that name proxies are not looked at, and
    redirects not followed. A token that a kubelet refuses is not renewed for that, since a kubelet
    may be hostile: the login renews itself.
    """

    def __init__(
        self, login: KubeletLogin, settings: KubeletSettings, clock: Clock, proxy: Wire | None
    ) -> None:
        self._login = login
        self._settings = settings
        self._clock = clock
        self._proxy = proxy
        self._kept = Kept(clock, settings.max_kept)
        self._detours = Detours(clock)
        self._buffer = bytearray(BUFFER)
        self._turns = Turns()
        self._names = Names()
        self._tls: Tls | None = None
        self._context: ssl.SSLContext | None = None
        self._closed = False

    @property
    def is_busy(self) -> bool:
        """Whether answers come in faster than they are worked off.

        Who begins still more then makes all of them late, and those that have come furthest too.
        """
        return self._turns.waiting >= _BUSY

    async def summary(self, node: Node) -> SummaryRead:
        """The summary of a node; takes the right `get` on `nodes/stats`.

        Raises:
            KubeletError: see `errors`.
        """
        began = self._clock.monotonic()
        body, proxied = await self._fetched(node, _SUMMARY)
        with told(f"{_SUMMARY} of {node.metadata.name}"):
            async with self._turns.one():
                measured = decode_summary(body, node.metadata.name)
        seconds = self._clock.monotonic() - began
        return SummaryRead(measured, self._clock.now(), seconds, len(body), proxied)

    async def configuration(self, node: Node) -> bytes:
        """The kubelet's own configuration, as JSON: `{"kubeletconfig": {...}}`.

        It takes the right `get` on `nodes/configz`, which kubelets know since Kubernetes 1.33
        (feature KubeletFineGrainedAuthz in pkg/kubelet/server/auth.go); before that `nodes/proxy`.

        Raises:
            KubeletError: see `errors`.
        """
        body, _ = await self._fetched(node, _CONFIGURATION)
        return body

    async def close(self) -> None:
        """Close all idle connections; what is under way ends with an error, or is closed after."""
        self._closed = True
        self._kept.clear()
        try:
            await self._login.close()
        finally:
            if self._proxy is not None:
                await self._proxy.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _fetched(self, node: Node, path: str) -> tuple[bytes, bool]:
        """What the node says at that path, and whether the API server was asked to ask."""
        way = self._settings.via_api_server
        name = node.metadata.name
        if way is ViaApiServer.ALWAYS or self._detours.has(name):
            return await self._proxied(name, path), True
        try:
            return await self._straight(node, path), False
        except (KubeletAddressError, KubeletUnreachableError) as error:
            if way is ViaApiServer.NEVER:
                raise
            straight = error
        try:
            body = await self._proxied(name, path)
        except KubeletError as error:
            both = f"{straight.message}; by way of the API server: {error.message}"
            raise type(error)(both) from error
        self._detours.add(name)
        return body, True

    async def _proxied(self, name: str, path: str) -> bytes:
        assert self._proxy is not None  # noqa: S101 - made where the settings ask for it
        request = Request("GET", NODES.path("", name, "proxy") + path)
        with told(request.what):
            return await self._proxy.send(request)

    async def _straight(self, node: Node, path: str) -> bytes:
        settings = self._settings
        with told(f"the kubelet of {node.metadata.name}"):
            endpoint = endpoint_of(node, settings)
        with told(f"https://{endpoint}{path}"):
            if self._closed:
                raise KubeletUnreachableError("the client is closed")
            shown = await self._login.current()
            answer = Answer(settings.max_bytes)
            try:
                async with asyncio.timeout(settings.timeout):
                    await self._asked(endpoint, path, shown, answer)
            except TimeoutError:
                raise TimeoutError(f"no whole answer within {settings.timeout:g} s") from None
            finally:
                answer.end()
            check_status(answer)
            check_form(answer)
        return answer.body

    async def _asked(self, endpoint: Endpoint, path: str, shown: Shown, answer: Answer) -> None:
        head = _head(endpoint, path, shown)
        context = self._context_for(shown.tls)
        kept = self._kept.take(endpoint)
        if kept is not None:
            try:
                await self._over(kept, endpoint, head, answer, context)
            except (KubeletUnreachableError, OSError):
                # The kubelet has closed it as we asked, or has started anew since.
                if answer.has_begun:
                    raise
            else:
                return
        fresh = await self._opened(endpoint, context)
        await self._over(fresh, endpoint, head, answer, context)

    async def _over(
        self,
        connection: Connection,
        endpoint: Endpoint,
        head: bytes,
        answer: Answer,
        context: ssl.SSLContext,
    ) -> None:
        try:
            await connection.get(head, answer, self._buffer)
        except BaseException:
            connection.close()
            raise
        if answer.may_be_followed and context is self._context and not self._closed:
            self._kept.put(endpoint, connection)
        else:
            connection.close()

    async def _opened(self, endpoint: Endpoint, context: ssl.SSLContext) -> Connection:
        seconds = self._settings.connect_timeout
        try:
            async with asyncio.timeout(seconds):
                addresses = await self._names.resolve(endpoint, self._settings.networks)
                return await opened(endpoint, addresses, context, self._turns)
        except TimeoutError:
            raise KubeletUnreachableError(f"no connection within {seconds:g} s") from None

    def _context_for(self, tls: Tls) -> ssl.SSLContext:
        """Made anew when certificates change; connections of before are not used again."""
        if self._context is None or self._tls != tls:
            self._context, self._tls = tls.context(), tls
            self._kept.clear()
        return self._context


def _head(endpoint: Endpoint, path: str, shown: Shown) -> bytes:
    lines = [
        f"GET {path} HTTP/1.1",
        f"Host: {endpoint}",
        "Accept: application/json",
        "Accept-Encoding: identity",
        f"User-Agent: bailiff/{bailiff.__version__}",
    ]
    if shown.authorization is not None:
        lines.append(f"Authorization: {shown.authorization}")
    return "\r\n".join([*lines, "", ""]).encode("ascii")


async def connect_kubelets(
    cluster: Cluster,
    settings: KubeletSettings | None = None,
    clock: Clock | None = None,
    warn: Warn | None = None,
) -> Kubelets:
    """A client for the kubelets of a cluster; sends no request yet. Close it before the cluster.

    Args:
        cluster: whose login it uses, unless the settings name another.
        settings: whom to trust, and bounds.
        clock: when files are looked at, and connections given up.
        warn: is told of what is dangerous about the login; None writes it to the log.

    Raises:
        ConfigError: files that are named cannot be used, or `KubeletSettings.insecure` without
            anything that may be shown to strangers.
    """
    bounds = settings or KubeletSettings()
    time = clock or SystemClock()
    login = KubeletLogin(cluster.login, bounds, time, warn)
    await login.start()
    proxy = None
    if bounds.via_api_server is not ViaApiServer.NEVER:
        # Connections of their own, and no pace: a node that hangs says nothing about the API
        # server, and must slow down no eviction.
        proxy = cluster.beside(
            replace(
                cluster.settings,
                request_timeout=bounds.timeout,
                max_requests=_MOST_PROXIED,
                max_response_bytes=bounds.max_bytes,
            )
        )
    return Kubelets(login, bounds, time, proxy)
