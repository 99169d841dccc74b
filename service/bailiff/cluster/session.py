"""Connections to one API server, with its TLS, and by way of a proxy where there is one."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
from kubernetes_asyncio.client.rest import RESTClientObject

from bailiff.cluster.errors import ConfigError
from bailiff.cluster.sending import FencedRequest

if TYPE_CHECKING:
    from kubernetes_asyncio.client import Configuration

# The size kubernetes_asyncio gives: a watch's event can be 1.5 MiB in etcd, more in JSON.
_READ_BUFFER = 2**21


def open_session(configuration: Configuration, max_connections: int) -> aiohttp.ClientSession:
    """A session over at most so many connections.

    kubernetes_asyncio makes the connector from the configuration. Its session, though, looks the
    environment's proxy up for each request, in a thread: a fifth of the CPU of an eviction. Ours
    has looked once.

    Raises:
        ConfigError: the TLS files cannot be used.
    """
    configuration.connection_pool_maxsize = max_connections
    try:
        made: aiohttp.ClientSession = RESTClientObject(configuration).pool_manager
    except OSError as error:
        raise ConfigError(f"TLS files for {configuration.host}: {error}") from error
    connector = made.connector
    made.detach()
    return aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        read_bufsize=_READ_BUFFER,
        request_class=FencedRequest,
        proxy=configuration.proxy or environment_proxy(configuration.host or ""),
    )


def environment_proxy(url: str) -> str | None:
    """What HTTPS_PROXY or HTTP_PROXY and NO_PROXY say of this server, in upper or lower case."""
    parts = urlsplit(url)
    if parts.hostname is None or proxy_bypass(parts.hostname):
        return None
    return getproxies().get(parts.scheme)
