"""How kubelets are asked: whom to trust, and every bound."""

from __future__ import annotations

import ipaddress
import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from bailiff.cluster.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

ADDRESS_TYPES = ("Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP")


class ViaApiServer(StrEnum):
    """Whether `/api/v1/nodes/NAME/proxy` is asked, which takes the right `nodes/proxy`.

    That right is much wider than `nodes/stats`: with it whoever has our login may run commands in
    the containers of every node.
    """

    NEVER = "never"
    WHERE_UNREACHABLE = "where-unreachable"
    ALWAYS = "always"


@dataclass(frozen=True, slots=True, kw_only=True)
class KubeletSettings:
    """Whom to trust, and bounds.

    Attributes:
        ca_file: certificates in PEM that may vouch for kubelets; None is what vouches for the API
            server, which is right where kubelets have their serving certificates from the cluster
            (`serverTLSBootstrap`).
        insecure: take whatever certificate a kubelet has, as metrics-server does by
            --kubelet-insecure-tls. The API server's token is never sent then.
        token_file: a token for kubelets alone, in place of that for the API server.
        certificate_file: a client certificate for kubelets alone, in PEM; no token is sent then,
            unless token_file is named as well.
        key_file: its private key, in PEM; None where it stands with the certificate.
        address_types: of a node's addresses the first of the first type that it has. Those of
            metrics-server's manifests; IP addresses first, since names are to be looked up.
        default_port: where a node's status names none, 1 to 65535. 10250: the kubelet's own.
        networks: where kubelets are. None named is everywhere but this machine, link-local,
            multicast and broadcast addresses, as kube-apiserver has it; see `endpoints`.
        connect_timeout: seconds for TCP and TLS, above 0. 2: a retransmission of SYN comes after 1.
        timeout: seconds for everything, above 0. 5: half of an interval.
        max_bytes: a longer answer is refused, 1 and up. 4 MiB: 110 pods of two containers are
            0.4 to 0.75 MiB (Go writes them with line breaks), and a node has 500 at the very most.
        max_kept: connections kept open from one round to the next, 0 and up; of file descriptors
            never more than half of what the process may have. See `kept`.
        via_api_server: whether the API server may be asked to ask.
    """

    ca_file: Path | None = None
    insecure: bool = False
    token_file: Path | None = None
    certificate_file: Path | None = None
    key_file: Path | None = None
    address_types: tuple[str, ...] = ("InternalIP", "ExternalIP", "Hostname")
    default_port: int = 10250
    networks: tuple[Network, ...] = ()
    connect_timeout: float = 2.0
    timeout: float = 5.0
    max_bytes: int = 4 * 2**20
    max_kept: int = 10_000
    via_api_server: ViaApiServer = ViaApiServer.NEVER

    def __post_init__(self) -> None:
        """Refuse what cannot be.

        Raises:
            ConfigError: the message names the setting and what is allowed.
        """
        unknown = set(self.address_types) - set(ADDRESS_TYPES)
        if unknown or not self.address_types:
            allowed = ", ".join(ADDRESS_TYPES)
            raise ConfigError(f"address_types: one or more of {allowed} are allowed")
        if not 1 <= self.default_port <= 65535:
            raise ConfigError("default_port: must be 1 to 65535")
        if self.max_bytes < 1 or self.max_kept < 0:
            raise ConfigError("max_bytes: must be 1 and up; max_kept: must be 0 and up")
        if self.key_file is not None and self.certificate_file is None:
            raise ConfigError("key_file: needs certificate_file")
        check_seconds("connect_timeout", self.connect_timeout)
        check_seconds("timeout", self.timeout)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderSettings:
    """How often, and how many at a time.

    Attributes:
        interval: seconds from one reading of a node to the next, 1 and up. 10: the kubelet's own
            eviction manager has that period (evictionMonitoringPeriod in
            pkg/kubelet/kubelet.go).
        concurrency: nodes that are read at a time in the first line, 1 and up. 256: 5,000 nodes in
            10 s leave each 0.5 s, several times what a kubelet takes. Times the longest answer it
            is the memory that they take at worst.
        slow_concurrency: nodes that are read at a time in the second line, 1 and up. 64: 5 % of
            5,000 nodes, of which each hangs for 5 s, have their turn every 20 s.
        patience: seconds after which a node leaves the first line for the second, above 0. 2: as
            long as a connection may take.
    """

    interval: float = 10.0
    concurrency: int = 256
    slow_concurrency: int = 64
    patience: float = 2.0

    def __post_init__(self) -> None:
        """Refuse what cannot be.

        Raises:
            ConfigError: the message names the setting and what is allowed.
        """
        check_seconds("interval", self.interval, least=1.0)
        check_seconds("patience", self.patience)
        if self.concurrency < 1 or self.slow_concurrency < 1:
            raise ConfigError("concurrency, slow_concurrency: must be 1 and up")


def check_seconds(name: str, value: float, least: float = 0.0) -> None:
    """Refuse a time that is none.

    Raises:
        ConfigError: it is 0 or less, less than `least`, infinite or no number.
    """
    if not math.isfinite(value) or value <= 0 or value < least:
        raise ConfigError(f"{name}: must be {f'{least:g} s and up' if least else 'above 0 s'}")
