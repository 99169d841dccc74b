"""Answers who has the token of the kubeconfig, and nobody else."""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING

from bailiff_demo.errors import unauthorized
from bailiff_demo.http.answers import json_response

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

# What Kubernetes tells everybody (the ClusterRole system:public-info-viewer).
_PUBLIC = frozenset({"/healthz", "/livez", "/readyz", "/version"})


class AskingForToken:
    """ASGI middleware."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._bearer = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        answer = self._app if self._is_let_in(scope) else _REFUSAL
        await answer(scope, receive, send)

    def _is_let_in(self, scope: Scope) -> bool:
        if scope["type"] != "http" or scope["path"] in _PUBLIC:
            return True
        said = [value for name, value in scope["headers"] if name == b"authorization"]
        # In the same time however much of it is right.
        return len(said) == 1 and hmac.compare_digest(said[0], self._bearer)


_ERROR = unauthorized()
_REFUSAL = json_response(_ERROR.status(), _ERROR.code, {"www-authenticate": "Bearer"})
