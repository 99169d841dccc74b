"""What one application works with, and what its operations are given of that: FastAPI's Depends.

The operations of the questions are given nothing: see question_route.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, TypeVar

from fastapi import Depends, Request

from bailiff.lookup import LookUps, NodePools
from bailiff.rest_api.problems import ProblemCode, Refusal
from bailiff.serving import Gate
from bailiff.tracing import NO_TRACER
from bailiff.tracing.decided import decided

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from prometheus_client import CollectorRegistry

    from bailiff.clock import Clock
    from bailiff.decisions import Answer, Options, Plan, Systems
    from bailiff.rest_api.bodies import Bodies
    from bailiff.rest_api.metrics import Metrics
    from bailiff.serving import ByteBudget, Threads
    from bailiff.tracing import Tracer
    from bailiff.webhooks import Admission

A = TypeVar("A", bound="Answer")

NO_CLUSTER = "Bailiff was given no cluster to read: start it with --kubeconfig or --in-cluster"


@dataclass(kw_only=True)
class Services:
    """What one application works with; `app.state.services`.

    Attributes:
        systems: who answers, and what can be asked of them.
        clock: the instant of questions that name none.
        options: of questions that bring none.
        metrics: where decisions are counted.
        registry: its metrics, and those of the whole process.
        bodies: who takes those of questions.
        threads: where those are answered that take long.
        budget: of the bytes that clients make the process hold.
        gate: through which work on the event loop begins.
        look_ups: of a cluster; None: there is none to read.
        nodes: of that cluster; None: likewise.
        max_queue_age: seconds that a request waits for a turn of the event loop.
        max_review_bytes: of the longest AdmissionReview.
        admission: the hooks of this application; None: it has none.
        tracer: makes a span of what the core is asked.
        stopping: requests are not welcome any more. Set before the server stops, for good.
    """

    systems: Systems
    clock: Clock
    options: Options
    metrics: Metrics
    registry: CollectorRegistry
    bodies: Bodies
    threads: Threads
    budget: ByteBudget
    gate: Gate = field(default_factory=Gate)
    look_ups: LookUps | None = None
    nodes: NodePools | None = None
    max_queue_age: float = math.inf
    max_review_bytes: int = 0
    admission: Admission | None = None
    tracer: Tracer = NO_TRACER
    stopping: bool = False

    def carry_out(self, plan: Plan[A], question: str) -> A:
        """The answer to a question of this name, whose decisions are counted."""
        given = decided(self.tracer, question, plan)
        self.metrics.count(given)
        return given

    async def answer(self, planned: Awaitable[Plan[A]], question: str) -> A:
        """The answer to what is planned by what a cluster has; `question` as of `carry_out`.

        Raises:
            LookUpError: the cluster could not be read, or has too many objects.
            OverloadedError: it takes long, and others do.
        """
        return await self.do(await planned, question)

    async def do(self, plan: Plan[A], question: str) -> A:
        """The answer, worked out where nobody waits for it too long; `question` as of `carry_out`.

        Raises:
            OverloadedError: it takes long, and others do.
        """
        if plan.is_quick:
            return self.carry_out(plan, question)
        return await self.threads.run(self.carry_out, plan, question, written=plan.told)


async def _services(request: Request) -> Services:
    services: Services = request.app.state.services
    return services


Given = Annotated[Services, Depends(_services)]


async def _cluster(services: Given) -> LookUps:
    if services.look_ups is None:
        raise Refusal(ProblemCode.NO_CLUSTER, NO_CLUSTER)
    return services.look_ups


Cluster = Annotated[LookUps, Depends(_cluster)]
