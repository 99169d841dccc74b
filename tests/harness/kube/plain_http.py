"""One plain HTTP request, for waiting until a server is there; not the client under test."""

from __future__ import annotations

import http.client
import ssl
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_SECONDS = 10.0


def call(
    port: int,
    path: str,
    *,
    body: bytes | None = None,
    headers: dict[str, str] | None = None,
    ca: Path | None = None,
) -> tuple[int, bytes]:
    """GET, or POST a body, at 127.0.0.1; status and body. TLS if there is a CA to verify with.

    Raises:
        OSError, http.client.HTTPException: no answer.
    """
    connection = (
        http.client.HTTPConnection("127.0.0.1", port, timeout=_SECONDS)
        if ca is None
        else http.client.HTTPSConnection(
            "127.0.0.1",
            port,
            timeout=_SECONDS,
            context=ssl.create_default_context(cafile=str(ca)),
        )
    )
    try:
        connection.request("GET" if body is None else "POST", path, body, headers or {})
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()
