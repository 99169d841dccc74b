"""Where a node's kubelet is asked, from what the node says of itself.

Whoever may write a node's status chooses what we connect to: its own kubelet, and so whoever has
taken a node over (NodeRestriction keeps it from the status of others). What that may lead to, and
what is done about it:

1. **Our token goes elsewhere.** Before TLS has verified that the certificate is signed by the
   authority of kubelets, and is for the very address or name that we connect to, nothing is sent.
   Where that is turned off (`KubeletSettings.insecure`) the API server's token, with which pods can
   be evicted, is not sent at all: a token of its own or a client certificate has to be named.
   metrics-server sends its token in both cases; what it may do is read metrics.
   A kubelet that has been taken over has a certificate, and so sees the token that we show it. Who
   minds, names a client certificate, which nobody can use that it was shown to, or the token of
   a service account that may do nothing but `nodes/stats`. kubelets take no token that is bound to
   an audience of its own (they ask the API server for its usual ones).
2. **We knock where others cannot.** kube-apiserver's proxy to nodes refuses every address that is
   no global unicast one (isProxyableHostname in pkg/registry/core/node/strategy.go; Go's
   net.IP.IsGlobalUnicast): this machine, link-local ones, at which clouds serve their metadata,
   multicast, broadcast. So do we, for names too: what a name means is looked at after it was looked
   up, and connected to is what was looked at (`names`). Private networks stay allowed, since nodes
   live there; `KubeletSettings.networks` says which. All that is there to be had is a TLS
   handshake: the one request that follows is a GET of a fixed path, it only follows a certificate
   that is trusted, and no answer is shown to anybody but by its length and first words.
3. **Another node's summary.** A summary has to name the node that was asked for (`summaries`).

metrics-server does none of 2 and 3.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from bailiff.cluster.kubelets.errors import KubeletAddressError
from bailiff.kinds.names import is_dns_subdomain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bailiff.cluster.kubelets.settings import KubeletSettings, Network
    from bailiff.kinds import Node, NodeAddress

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

_MAX_PORT = 65535
_MAX_QUOTED = 100
_BROADCAST = ipaddress.IPv4Address("255.255.255.255")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where to connect to.

    Attributes:
        host: an IP address, or a DNS name in lower case; what the certificate has to be for.
        port: 1 to 65535.
        address: the IP address, None for a name.
    """

    host: str
    port: int
    address: Address | None

    def __str__(self) -> str:
        """As in a URL."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def endpoint_of(node: Node, settings: KubeletSettings) -> Endpoint:
    """Where the kubelet of a node is, by its status.

    The port is the status' own, or the default where it says none
    (NodeConnectionInfoGetter.GetConnectionInfo in pkg/kubelet/client/kubelet_client.go).

    Raises:
        KubeletAddressError: it says nothing that may be used.
    """
    found = _preferred(node.status.addresses, settings.address_types)
    if found is None:
        wanted = ", ".join(settings.address_types)
        raise KubeletAddressError(f"status.addresses: none of the types {wanted}")
    port = node.status.daemon_endpoints.kubelet_endpoint.port
    if port > _MAX_PORT:
        path = "status.daemonEndpoints.kubeletEndpoint.Port"
        raise KubeletAddressError(f"{path}: {port} is no port, 1 to 65535 are allowed")
    host, address = _host(found.address)
    if address is not None:
        check_allowed(address, settings.networks)
    return Endpoint(host, port if port > 0 else settings.default_port, address)


def _preferred(addresses: Sequence[NodeAddress], types: Sequence[str]) -> NodeAddress | None:
    for wanted in types:
        for one in addresses:
            if one.type == wanted:
                return one
    return None


def _host(text: str) -> tuple[str, Address | None]:
    if "%" not in text:
        # A zone (fe80::1%eth0) would name an interface of this machine.
        try:
            address = ipaddress.ip_address(text)
        except ValueError:
            pass
        else:
            return str(address), address
    name = text.lower()
    if is_dns_subdomain(name):
        return name, None
    quoted = repr(text[:_MAX_QUOTED])
    raise KubeletAddressError(f"status.addresses: {quoted} is neither an IP address nor a DNS name")


def check_allowed(address: Address, networks: Sequence[Network]) -> None:
    """Refuse an address at which no kubelet may be.

    Args:
        address: of version 4 or 6; one that holds an IPv4 address counts as that.
        networks: where kubelets are; empty: as the module says.

    Raises:
        KubeletAddressError: it must not be asked.
    """
    real = (address.version == 6 and address.ipv4_mapped) or address
    if networks:
        if not any(real in network for network in networks):
            raise KubeletAddressError(f"{address} is in none of the networks where kubelets are")
    elif not _is_global_unicast(real):
        raise KubeletAddressError(
            f"{address} is an address at which no node is reached: it is this machine's, "
            "link-local, multicast or broadcast"
        )


def _is_global_unicast(address: Address) -> bool:
    """As Go's net.IP.IsGlobalUnicast: private networks are."""
    return not (
        address.is_loopback
        or address.is_link_local
        or address.is_multicast
        or address.is_unspecified
        or address == _BROADCAST
    )
