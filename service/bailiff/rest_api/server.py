"""The REST face as a server in the running event loop, which the gRPC face shares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.rest_api.protocol import bounded_protocol
from bailiff.serving import HttpServer

if TYPE_CHECKING:
    from fastapi import FastAPI

    from bailiff.rest_api.settings import RestSettings


class RestServer(HttpServer):
    """The application behind a protocol that bounds heads and connections."""

    def __init__(self, app: FastAPI, settings: RestSettings) -> None:
        """Prepare; nothing is bound yet."""
        super().__init__(
            app,
            settings.host,
            settings.port,
            http=bounded_protocol(settings),
            timeout_keep_alive=settings.keep_alive_seconds,
        )
        self._readiness = app.state.services.readiness

    async def stop(self, grace: float) -> None:
        """As HttpServer's, and says so on /readyz first."""
        self._readiness.stopping = True
        await super().stop(grace)
