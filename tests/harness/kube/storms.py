"""Answers that a proxy gives instead of the API server, to many requests in a row."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from aiohttp import web

if TYPE_CHECKING:
    import random

# The answer to a request; None passes it on.
Storm = Callable[[web.BaseRequest], web.StreamResponse | None]

_PAGE = "<html><head><title>404 Not Found</title></head><body>nginx</body></html>"


def about_pods_and_nodes(request: web.BaseRequest) -> bool:
    """Whether it is one of those that an eviction is made of; discovery and Leases are not."""
    return request.path.startswith("/api/v1/")


class NotFoundStorm:
    """404 from those who do not know: the pods are there.

    To a read, the page of a load balancer that has lost its way. To a write, as `rng` has it, that
    page, a Status without reason or details, one about another pod, or one about a namespace.
    """

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def __call__(self, request: web.BaseRequest) -> web.StreamResponse | None:
        """See Storm."""
        if not about_pods_and_nodes(request):
            return None
        shapes = [_page] if request.method == "GET" else [_page, _bare, _other_pod, _namespace]
        return self._rng.choice(shapes)()


class TooManyStorm:
    """429 with Retry-After 1 to all but so many requests a second.

    Watches pass: the API server counts their seats for a moment only.

    Args:
        per_second: how many requests about pods and nodes are let through.

    Attributes:
        asked: how many came, by second since the storm began.
        passed: how many were let through, likewise.
    """

    def __init__(self, per_second: int) -> None:
        self._per_second = per_second
        self._begun = time.monotonic()
        self.asked: list[int] = []
        self.passed: list[int] = []

    def __call__(self, request: web.BaseRequest) -> web.StreamResponse | None:
        """See Storm."""
        if not about_pods_and_nodes(request) or "watch" in request.query:
            return None
        second = int(time.monotonic() - self._begun)
        while len(self.asked) <= second:
            self.asked.append(0)
            self.passed.append(0)
        self.asked[second] += 1
        if self.passed[second] >= self._per_second:
            return refusal(429, "TooManyRequests")
        self.passed[second] += 1
        return None


def refusal(code: int, reason: str) -> web.StreamResponse:
    """A Status of the proxy's own."""
    headers = {"Retry-After": "1"} if code == 429 else {}
    return _status(code, reason, "the proxy says so", headers=headers)


def _page() -> web.StreamResponse:
    return web.Response(status=404, text=_PAGE, content_type="text/html")


def _bare() -> web.StreamResponse:
    return _status(404, "", "the server could not find the requested resource")


def _other_pod() -> web.StreamResponse:
    details = {"name": "somebody-else", "kind": "pods"}
    return _status(404, "NotFound", 'pods "somebody-else" not found', details)


def _namespace() -> web.StreamResponse:
    details = {"name": "chaos", "kind": "namespaces"}
    return _status(404, "NotFound", 'namespaces "chaos" not found', details)


def _status(
    code: int,
    reason: str,
    message: str,
    details: dict[str, str] | None = None,
    headers: dict[str, str] | None = None,
) -> web.StreamResponse:
    status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code}
    status |= {"reason": reason, "message": message, "details": details or {}}
    return web.json_response(status, status=code, headers=headers)
