"""Which proxy a connection goes by, as Go decides it for kubectl and every controller.

The rules are those of Go's net/http.ProxyFromEnvironment (golang.org/x/net/http/httpproxy) in Go
1.26, which Kubernetes 1.37 is built with: upper case before lower case, and of NO_PROXY the
networks, ports and dots that Python's urllib knows nothing of.
"""

from __future__ import annotations

import ipaddress
import os
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import SplitResult, urlsplit

from bailiff.cluster.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

_Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
# What stands before an IPv4 address that is written as one of IPv6.
_MAPPED_BITS = 96
_DEFAULT_PORTS = {"http": 80, "https": 443}


def checked_proxy(url: str, source: str) -> str:
    """A proxy that we can go by.

    Args:
        url: of the proxy; may hold a password, which no error shows.
        source: what names it, for errors, as `proxy-url`.

    Raises:
        ConfigError: not http or https, or there is no host in it.
    """
    parts = _split(url)
    if parts is None or not parts.hostname:
        raise ConfigError(f"{source} is not the URL of a proxy")
    if parts.scheme not in _DEFAULT_PORTS:
        raise ConfigError(
            f"{source}: proxies of kind {parts.scheme} are not supported, only http and https"
        )
    return url


def environment_proxy(url: str, environ: Mapping[str, str] = os.environ) -> str | None:
    """What HTTPS_PROXY or HTTP_PROXY, and NO_PROXY, say of this server; None is no proxy.

    Raises:
        ConfigError: a proxy that we cannot go by; or HTTP_PROXY in a CGI program, where it may
            be a header that a stranger has sent (https://go.dev/s/cgihttpproxy).
    """
    server = urlsplit(url)
    name = f"{server.scheme.upper()}_PROXY"
    proxy = _value(environ, name)
    if server.scheme not in _DEFAULT_PORTS or not server.hostname or not proxy:
        return None
    if server.scheme == "http" and environ.get("REQUEST_METHOD"):
        raise ConfigError("HTTP_PROXY is not trusted where REQUEST_METHOD is set, as in CGI")
    port = server.port or _DEFAULT_PORTS[server.scheme]
    if _goes_direct(server.hostname, port, _value(environ, "NO_PROXY")):
        return None
    return checked_proxy(_with_scheme(proxy), name)


def _value(environ: Mapping[str, str], name: str) -> str:
    return environ.get(name) or environ.get(name.lower()) or ""


def _with_scheme(proxy: str) -> str:
    parts = _split(proxy)
    complete = parts is None or (parts.scheme and parts.netloc)
    return proxy if complete else f"http://{proxy}"


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises where it is no number
    except ValueError:
        return None
    return parts


def _goes_direct(host: str, port: int, no_proxy: str) -> bool:
    # An address may be followed by %ZONE.
    address = _address(host.partition("%")[0])
    if host == "localhost" or (address is not None and address.is_loopback):
        return True
    entries = [entry for part in no_proxy.split(",") if (entry := part.strip().lower())]
    return any(_matches(entry, host, address, str(port)) for entry in entries)


def _matches(entry: str, host: str, address: _Address | None, port: str) -> bool:
    if entry == "*":
        return True
    network = _network(entry)
    if network is not None:
        return address is not None and address in network
    name, wanted = _name_and_port(entry)
    if wanted not in {"", port}:
        return False
    named = _address(name)
    if named is not None or address is not None:
        return named == address
    return _in_domain(host, name)


def _in_domain(host: str, domain: str) -> bool:
    """`a.b` means itself and what is below it, `.a.b` and `*.a.b` only what is below."""
    below = domain.removeprefix("*") if domain.startswith("*.") else domain
    if not below.startswith("."):
        return bool(below) and (host == below or host.endswith(f".{below}"))
    return host.endswith(below)


def _name_and_port(entry: str) -> tuple[str, str]:
    """As Go's net.SplitHostPort; where that refuses, all of it is the name."""
    name, colon, port = entry.rpartition(":")
    if not colon:
        return entry, ""
    if name.startswith("[") and name.endswith("]"):
        return name[1:-1], port
    return (entry, "") if ":" in name else (name, port)


def _address(text: str) -> _Address | None:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    return (address.version == 6 and address.ipv4_mapped) or address


def _network(entry: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    if not entry.partition("/")[2].isdecimal():
        return None
    try:
        network = ipaddress.ip_network(entry, strict=False)
    except ValueError:
        return None
    mapped = network.version == 6 and network.network_address.ipv4_mapped
    if mapped and network.prefixlen >= _MAPPED_BITS:
        return ipaddress.IPv4Network((mapped, network.prefixlen - _MAPPED_BITS), strict=False)
    return network
