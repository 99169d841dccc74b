"""Connections to one API server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import aiohttp

from bailiff.cluster.sending import FencedRequest

if TYPE_CHECKING:
    from bailiff.cluster.tls import Tls

# Bytes; what kubernetes_asyncio gives: a watch's event can be 1.5 MiB in etcd, more in JSON.
_READ_BUFFER = 2**21


def open_session(tls: Tls, max_connections: int) -> aiohttp.ClientSession:
    """A session over at most so many connections.

    It never asks the environment for a proxy: for aiohttp that is a thread for every request, a
    fifth of the CPU of an eviction. A login has asked once.

    Raises:
        ConfigError: the certificates cannot be used.
    """
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=max_connections, ssl=tls.context()),
        cookie_jar=aiohttp.DummyCookieJar(),
        read_bufsize=_READ_BUFFER,
        request_class=FencedRequest,
    )
