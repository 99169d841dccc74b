"""The gRPC face without a connection, so that only what a question costs is seen."""

from __future__ import annotations

import math
from typing import Any

from prometheus_client import CollectorRegistry

from bailiff.decisions import SYSTEMS, Options
from bailiff.grpc_api import GrpcSettings
from bailiff.grpc_api.bounds import MessageBounds
from bailiff.grpc_api.kept_bytes import KeptBytes
from bailiff.grpc_api.metrics import GrpcMetrics
from bailiff.grpc_api.questions import AskedByMethod, Desk
from bailiff.serving import ByteBudget, Threads
from tests.harness.clocks import ManualClock
from tests.harness.faces.grpc_face import NOW, answer_of, method_of, plain, request_of


async def ask_in_process(
    question: str, body: dict[str, Any], *, aside: bool = False
) -> dict[str, Any]:
    """As `ask`, without a connection and with a server's clock at NOW; RefusedError is raised.

    Args:
        question: its name in the core's table.
        body: as REST takes it.
        aside: answer it as if it were long.
    """
    asked = asked_in_process(question, Threads(1, math.inf, ByteBudget()))
    data = request_of(question, body).SerializeToString()
    answer = asked.answer_long(data, in_one=True) if aside else await asked.answer(data)
    return plain(answer_of(question, answer))


def asked_in_process(question: str, threads: Threads) -> AskedByMethod:
    """A question of the core's table, answered with these threads by a clock at NOW."""
    metrics = GrpcMetrics(CollectorRegistry())
    bounds, kept = MessageBounds(GrpcSettings()), KeptBytes(ByteBudget())
    desk = Desk(ManualClock(NOW), Options(), bounds, metrics, threads, kept)
    return AskedByMethod(SYSTEMS.questions[question], method_of(question), desk)
