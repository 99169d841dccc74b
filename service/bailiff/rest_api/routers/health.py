"""What the people and machines that keep Bailiff running ask: is it well, and what is it?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
from prometheus_client.exposition import choose_encoder

import bailiff
from bailiff.kinds.meta import Value
from bailiff.rest_api.exchange import JSON, header, reply
from bailiff.rest_api.operation import Operation
from bailiff.rest_api.problems import ProblemCode, Refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from prometheus_client import CollectorRegistry
    from starlette.types import Receive, Scope, Send

KUBERNETES = "1.36.2"


class Health(Value, frozen=True):
    """The process is well.

    Attributes:
        status: `ok`.
    """

    status: str


class Version(Value, frozen=True):
    """What is running.

    Attributes:
        version: of Bailiff.
        kubernetes: the version of Kubernetes whose rules it follows.
    """

    version: str
    kubernetes: str


class Readiness:
    """Whether to send requests here. Turned off before the server stops, never on again."""

    def __init__(self) -> None:
        self.stopping = False

    def check(self) -> Health:
        """The answer of /readyz.

        Raises:
            Refusal: stopping.
        """
        if self.stopping:
            detail = "the server finishes what it has and takes nothing new"
            raise Refusal(ProblemCode.STOPPING, detail)
        return Health(status="ok")


@dataclass(frozen=True, kw_only=True)
class Upkeep(Operation):
    """A GET that needs no facts.

    Attributes:
        media_type: of the answer.
        example: an answer.
    """

    media_type: str = "application/json"
    example: object


_OK = {"status": "ok"}
HEALTHZ = Upkeep(
    id="healthz",
    path="/healthz",
    summary="Is the process alive?",
    description="For liveness probes. Looks at nothing but the process itself.",
    answer=Health,
    codes=(),
    example=_OK,
)
READYZ = Upkeep(
    id="readyz",
    path="/readyz",
    summary="Should requests be sent here?",
    description=(
        "For readiness probes. 503 once the server is stopping. A cluster that cannot be reached "
        "does not make it unready: decisions from facts need none."
    ),
    answer=Health,
    codes=(ProblemCode.STOPPING,),
    example=_OK,
)
VERSION = Upkeep(
    id="version",
    path="/version",
    summary="What is running?",
    description="Bailiff's version, and the Kubernetes version whose rules it follows.",
    answer=Version,
    codes=(),
    example={"version": bailiff.__version__, "kubernetes": KUBERNETES},
)
METRICS = Upkeep(
    id="metrics",
    path="/metrics",
    summary="Metrics for Prometheus",
    description="Text format 0.0.4, or OpenMetrics where the Accept header asks for it.",
    answer=str,
    codes=(),
    media_type="text/plain",
    example='bailiff_rest_decisions_total{system="node-taints",verdict="EVICT_AT"} 3.0\n',
)
UPKEEP = (HEALTHZ, READYZ, VERSION, METRICS)


class JsonEndpoint:
    """ASGI endpoint that answers with a value."""

    def __init__(self, answer: Callable[[], object]) -> None:
        self._answer = answer

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """Serve one request."""
        body = msgspec.json.encode(self._answer())
        await reply(send, body, media_type=JSON, head=scope["method"] == "HEAD")


class MetricsEndpoint:
    """ASGI endpoint that writes down a registry."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """Serve one request."""
        accept = (header(scope, b"accept") or b"").decode("latin-1")
        encode, media_type = choose_encoder(accept)
        body = encode(self._registry)
        await reply(send, body, media_type=media_type.encode(), head=scope["method"] == "HEAD")
