"""The connections of the running server, so that faults can cut them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from starlette.types import Scope


@dataclass(slots=True)
class Connections:
    """Finds the transport of a request by the address of its client.

    Attributes:
        protocols: uvicorn's open connections.
        watches: client address and resource of each running watch.
    """

    protocols: set[Any] = field(default_factory=set)
    watches: dict[tuple[str, int], str] = field(default_factory=dict)

    def cut(self, client: tuple[str, int]) -> bool:
        """Abort one connection without a farewell; whether it was there."""
        for protocol in list(self.protocols):
            if protocol.client is not None and tuple(protocol.client) == client:
                protocol.transport.abort()
                return True
        return False

    def drop_watches(self, resource: str | None) -> int:
        """Cut the watches of a resource, or all; how many there were."""
        found = [c for c, watched in self.watches.items() if resource in (None, watched)]
        return sum(self.cut(client) for client in found)


def client_of(scope: Scope) -> tuple[str, int]:
    """Address and port of the client."""
    host, port = scope["client"]
    return host, port
