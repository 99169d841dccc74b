"""What all HTTP ports of a process have in common."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bailiff.serving.byte_budget import ByteBudget
from bailiff.serving.gate import Gate
from bailiff.serving.intake import Intake
from bailiff.serving.pieces import Pieces
from bailiff.serving.refusals import Refusals
from bailiff.serving.settings import EdgeSettings, split

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry


@dataclass(frozen=True)
class Edge:
    """One for all ports of a process that are served by one event loop.

    Attributes:
        budget: of the bytes that clients make the process hold.
        refusals: where those are counted who are not served.
        settings: see there; its bytes are the budget's where `of` makes it.
        gate: through which work on the event loop begins.
        intake: in which those wait to be read from who send much.
        pieces: tells whether what has come over HTTP is looked at now.
    """

    budget: ByteBudget = field(default_factory=ByteBudget)
    refusals: Refusals = field(default_factory=Refusals)
    settings: EdgeSettings = field(default_factory=EdgeSettings)
    gate: Gate = field(default_factory=Gate)
    intake: Intake = field(default_factory=Intake)
    pieces: Pieces = field(default_factory=Pieces)

    @classmethod
    def of(cls, settings: EdgeSettings, registry: CollectorRegistry | None = None) -> Edge:
        """As the settings have it; metrics go into the registry."""
        return cls(ByteBudget(settings.max_bytes_under_way), Refusals(registry), settings)

    @property
    def allowed_hosts(self) -> list[str]:
        """Names that every port answers to."""
        return split(self.settings.allowed_hosts)

    @property
    def trusted_proxies(self) -> list[str]:
        """Addresses and networks whose forwarded headers are believed."""
        return split(self.settings.trusted_proxies)

    def is_proxy(self, address: str) -> bool:
        """Whether an address is a trusted proxy's; "" is nobody's."""
        networks = self.settings.networks
        if not networks or not address:
            return False
        known = ipaddress.ip_address(address.partition("%")[0])
        if isinstance(known, ipaddress.IPv6Address):
            known = known.ipv4_mapped or known
        return any(known in network for network in networks)
