"""What operations are given besides their parameters: FastAPI's Depends.

The operations of the questions are given nothing: see question_route.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends, Request
from prometheus_client import CollectorRegistry

from bailiff.rest_api.look_ups import LiveAnswers
from bailiff.rest_api.problems import ProblemCode, Refusal


class Readiness:
    """Whether to send requests here. Turned off before the server stops, never on again."""

    def __init__(self) -> None:
        self.stopping = False

    def check(self) -> None:
        """Refuse once the server is stopping.

        Raises:
            Refusal: stopping.
        """
        if self.stopping:
            detail = "the server finishes what it has and takes nothing new"
            raise Refusal(ProblemCode.STOPPING, detail)


@dataclass(frozen=True, kw_only=True)
class Services:
    """What one application works with; `app.state.services`.

    Attributes:
        registry: its metrics, and those of the whole process.
        cluster: answers about the objects of a cluster; None: there is none to read.
        readiness: whether requests are welcome.
    """

    registry: CollectorRegistry
    cluster: LiveAnswers | None
    readiness: Readiness = field(default_factory=Readiness)


async def _services(request: Request) -> Services:
    services: Services = request.app.state.services
    return services


_Services = Annotated[Services, Depends(_services)]


async def _cluster(services: _Services) -> LiveAnswers:
    if services.cluster is None:
        detail = "Bailiff was given no cluster to read: start it with --kubeconfig or --in-cluster"
        raise Refusal(ProblemCode.NO_CLUSTER, detail)
    return services.cluster


async def _readiness(services: _Services) -> Readiness:
    return services.readiness


async def _registry(services: _Services) -> CollectorRegistry:
    return services.registry


Cluster = Annotated[LiveAnswers, Depends(_cluster)]
Ready = Annotated[Readiness, Depends(_readiness)]
Metered = Annotated[CollectorRegistry, Depends(_registry)]
