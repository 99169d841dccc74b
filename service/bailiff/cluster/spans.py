"""A span for each request to the API server, within what it is sent for."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from bailiff.cluster.exchanges import resource_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bailiff.cluster.request import Request
    from bailiff.tracing import Tracer

# The first status that is a failure to who sends.
_FAILURES = 400


def template_of(path: str) -> str:
    """A path without the names in it, as `/api/v1/namespaces/{namespace}/pods/{name}/status`.

    What lies behind a subresource, as of a kubelet that is asked by way of the API server, is left
    out. So there are as many templates as the client knows resources.
    """
    parts = path.strip("/").split("/")
    head = 2 if parts[0] == "api" else 3
    base, rest = parts[:head], parts[head:]
    if len(rest) > 2 and rest[0] == "namespaces":
        base, rest = [*base, "namespaces", "{namespace}"], rest[2:]
    if len(rest) > 1:
        rest = [rest[0], "{name}", *rest[2:3]]
    return "/".join(["", *base, *rest])


@contextmanager
def spanning(tracer: Tracer, request: Request) -> Iterator[Callable[[int], None]]:
    """A span until the head of the answer has come; gives what is to be called with its status."""
    if not tracer.enabled:
        yield _nobody
        return
    template = template_of(request.path)
    attributes = {
        "http.request.method": request.method,
        "url.template": template,
        "bailiff.kubernetes.resource": resource_of(request.path),
    }
    with tracer.call(f"{request.method} {template}", attributes) as span:

        def answered(status: int) -> None:
            span.set({"http.response.status_code": status})
            if status >= _FAILURES:
                span.fail(str(status))

        try:
            yield answered
        except BaseException as error:
            span.fail(type(error).__name__)
            raise


def _nobody(status: int) -> None:
    """Nobody is told."""
