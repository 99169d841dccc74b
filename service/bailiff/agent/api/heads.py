"""What stands before the body of a request to the API server."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode, urlsplit

import bailiff

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bailiff.cluster.login import Login
    from bailiff.cluster.request import Request


def head_of(request: Request, login: Login, more: Mapping[str, str]) -> bytes:
    """The head of a request, with these headers besides its own."""
    server = urlsplit(login.host)
    query = f"?{urlencode(request.query)}" if request.query else ""
    lines = [
        f"{request.method} {server.path.rstrip('/')}{request.path}{query} HTTP/1.1",
        f"Host: {server.netloc}",
        f"Accept: {request.accept}",
        "Accept-Encoding: identity",
        f"User-Agent: bailiff/{bailiff.__version__}",
    ]
    if request.body is not None:
        lines += [f"Content-Type: {request.content_type}", f"Content-Length: {len(request.body)}"]
    if login.authorization is not None:
        lines.append(f"Authorization: {login.authorization}")
    lines += [f"{name}: {value}" for name, value in more.items()]
    return "\r\n".join([*lines, "", ""]).encode("ascii")
