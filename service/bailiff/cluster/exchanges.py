"""What passed between us and the API server, told to whoever counts it.

Metrics and the comparison of clocks need the same few facts of every answer. They are told by
the transport, the one place that all requests pass, so that no request can be forgotten.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

# For paths that name no resource: discovery, /version, /readyz.
OTHER = "other"


class Exchange(NamedTuple):
    """One request that was sent, and what became of it.

    Attributes:
        method: as `PATCH`.
        resource: plural, with its subresource, as `pods/status`; `other` for paths that name
            none. As many values as the client knows resources: fit for a metric's label.
        code: HTTP status; 0 where there was no answer.
        seconds: from when the request was handed to its connection pool until the head of the
            answer had come, or until it was given up.
        date: the answer's Date header as it came (RFC 9110, whole seconds), "" if there is none.
    """

    method: str
    resource: str
    code: int
    seconds: float
    date: str


Observer: TypeAlias = Callable[[Exchange], None]


def resource_of(path: str) -> str:
    """The resource that a path of the Kubernetes API is about, without any name.

    The paths are those of kubernetes.io/docs/reference/using-api/api-concepts, "Resource URIs":
    /api/v1 or /apis/GROUP/VERSION, then namespaces/NAMESPACE/ or not, RESOURCE, NAME, SUBRESOURCE.
    """
    parts = path.strip("/").split("/")
    rest = parts[2:] if parts[0] == "api" else parts[3:] if parts[0] == "apis" else []
    if len(rest) > 2 and rest[0] == "namespaces":
        rest = rest[2:]
    if not rest:
        return OTHER
    return f"{rest[0]}/{rest[2]}" if len(rest) > 2 else rest[0]
