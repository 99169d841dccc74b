"""Routes that leave their template behind, for the metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette import routing

if TYPE_CHECKING:
    from starlette.routing import Match
    from starlette.types import Scope


class Route(routing.Route):
    """Starlette's route; FastAPI's router tells what matched only of FastAPI's own."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """As Starlette's, and puts the route into the scope."""
        match, child = super().matches(scope)
        if child:
            child["route"] = self
        return match, child
