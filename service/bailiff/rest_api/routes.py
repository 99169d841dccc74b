"""From a path to its endpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette import routing

if TYPE_CHECKING:
    from starlette.routing import Match
    from starlette.types import ASGIApp, Receive, Scope, Send


class Route(routing.Route):
    """Starlette's route, which leaves itself behind for the metrics.

    FastAPI's router does that for FastAPI's own routes only.
    """

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """As Starlette's, and puts the route into the scope."""
        match, child = super().matches(scope)
        if child:
            child["route"] = self
        return match, child


class Switch:
    """Looks up paths without parameters, and leaves everything else to the router.

    The router tries one pattern after the other, which costs more than a decision does.
    """

    def __init__(self, router: routing.Router) -> None:
        self._router: ASGIApp = router
        self._fixed = {
            (method, route.path): route
            for route in router.routes
            if isinstance(route, Route) and not route.param_convertors
            for method in route.methods or ()
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection scope."""
        # Behind a proxy that strips a prefix, the path is still the whole one: the router knows.
        route = None
        if scope["type"] == "http" and not scope["root_path"]:
            route = self._fixed.get((scope["method"], scope["path"]))
        if route is None:
            await self._router(scope, receive, send)
            return
        scope["route"] = route
        await route.app(scope, receive, send)
