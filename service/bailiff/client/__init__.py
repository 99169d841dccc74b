"""A client of Bailiff: REST and gRPC, with `await` and without, the same types over all of them.

    from bailiff.client import GrpcClient

    with GrpcClient("127.0.0.1:9090") as client:
        answer = client.decide({"pod": pod, "node": node})

`messages` has all types of questions and answers. docs/api/client.md tells the rest.
"""

try:
    import httpx2 as _httpx2  # noqa: F401 - what the server's environment lacks, told at once
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "bailiff.client needs httpx2, which the server does not: install bailiff-client into an"
        " environment of its own (docs/api/client.md)",
        name="httpx2",
    ) from error

from bailiff.client.asking import Asking
from bailiff.client.async_asking import AsyncAsking
from bailiff.client.async_grpc_client import AsyncGrpcClient
from bailiff.client.async_node_stream import AsyncNodeStream
from bailiff.client.async_rest_client import AsyncRestClient
from bailiff.client.errors import (
    BailiffError,
    DeadlineError,
    Failure,
    FieldError,
    ForbiddenError,
    InvalidQuestionError,
    NotFoundError,
    OverloadedError,
    ServerError,
    TooLongError,
    UnauthenticatedError,
    UnavailableError,
)
from bailiff.client.grpc_client import GrpcClient
from bailiff.client.judging import Terms
from bailiff.client.node_stream import NodeStream
from bailiff.client.rest_client import RestClient
from bailiff.client.retrying import Retries
from bailiff.client.settings import ClientSettings, Tls

__all__ = [
    "Asking",
    "AsyncAsking",
    "AsyncGrpcClient",
    "AsyncNodeStream",
    "AsyncRestClient",
    "BailiffError",
    "ClientSettings",
    "DeadlineError",
    "Failure",
    "FieldError",
    "ForbiddenError",
    "GrpcClient",
    "InvalidQuestionError",
    "NodeStream",
    "NotFoundError",
    "OverloadedError",
    "RestClient",
    "Retries",
    "ServerError",
    "Terms",
    "Tls",
    "TooLongError",
    "UnauthenticatedError",
    "UnavailableError",
]
