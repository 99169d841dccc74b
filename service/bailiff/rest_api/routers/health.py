"""What the machines that keep Bailiff running ask: is it well, and what is it?"""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse, Response
from prometheus_client.exposition import choose_encoder
from pydantic import BaseModel, Field

import bailiff
from bailiff.rest_api.problems import ProblemCode, Refusal, problem_responses
from bailiff.rest_api.services import Given  # noqa: TC001 - as Request

KUBERNETES = "1.36.2"
# They are answered however long they have waited: see Admission.
PROBES = frozenset({"/healthz", "/readyz", "/metrics"})

router = APIRouter(tags=["Health"])
_SAMPLE = 'bailiff_rest_requests_total{method="GET",route="/healthz",status="200"} 3.0\n'


class Health(BaseModel):
    """The process is well."""

    status: str = Field(description="`ok`.", examples=["ok"])


class Version(BaseModel):
    """What is running."""

    version: str = Field(description="Of Bailiff.", examples=[bailiff.__version__])
    kubernetes: str = Field(
        description="The release of Kubernetes whose rules Bailiff follows, whatever release the "
        "cluster has.",
        examples=[KUBERNETES],
    )


@router.get("/healthz", operation_id="healthz", summary="Is the process alive?")
async def healthz() -> Health:
    """For liveness probes. Looks at nothing but the process itself."""
    return Health(status="ok")


@router.get(
    "/readyz",
    operation_id="readyz",
    summary="Should requests be sent here?",
    responses=problem_responses(ProblemCode.STOPPING),
)
async def readyz(services: Given) -> Health:
    """For readiness probes. 503 once the server is stopping.

    A cluster that cannot be reached does not make it unready: decisions from facts need none.
    """
    if services.stopping:
        detail = "the server finishes what it has and takes nothing new"
        raise Refusal(ProblemCode.STOPPING, detail)
    return Health(status="ok")


@router.get("/version", operation_id="version", summary="What is running?")
async def version() -> Version:
    """Bailiff's version, and the release of Kubernetes whose rules it follows."""
    return Version(version=bailiff.__version__, kubernetes=KUBERNETES)


@router.get(
    "/metrics",
    operation_id="metrics",
    summary="Metrics for Prometheus",
    response_class=PlainTextResponse,
    responses={200: {"content": {"text/plain": {"example": _SAMPLE}}}},
)
async def metrics(request: Request, services: Given) -> Response:
    """Text format 0.0.4, or OpenMetrics where the Accept header asks for it."""
    try:
        encode, media_type = choose_encoder(request.headers.get("accept", ""))
    except TypeError:  # the library's, of a version that is none
        encode, media_type = choose_encoder("")
    return Response(encode(services.registry), headers={"Content-Type": media_type})
