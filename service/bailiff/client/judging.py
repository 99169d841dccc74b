"""Pods that a stream of scheduling verdicts is asked about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bailiff.client import grpc_words
from bailiff.v1.kubernetes_pb2 import Pod
from bailiff.v1.scheduling_service_pb2 import JudgeNodesStreamRequest, PodsToJudge

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from bailiff.client.questions import Json
    from bailiff.v1.eviction_decision_service_pb2 import Options


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What else a question about pods may say.

    Attributes:
        nodes: only these of the registered nodes count, for the scores, too; none: all.
        now: the instant to judge for; None: the server's clock.
        options: what to do otherwise than the server is set.
    """

    nodes: tuple[str, ...] = ()
    now: datetime | None = None
    options: Options | None = None


def pods_of(pods: Iterable[Pod | Json]) -> list[Pod]:
    """As messages; InvalidQuestionError."""
    return [grpc_words.message_of(pod, Pod) for pod in pods]


def asked_about(pods: Sequence[Pod], terms: Terms | None) -> JudgeNodesStreamRequest:
    """What asks about them."""
    terms = terms or Terms()
    asked = PodsToJudge(pods=pods, nodes=terms.nodes, options=terms.options)
    if terms.now is not None:
        asked.now.FromDatetime(terms.now)
    return JudgeNodesStreamRequest(pods=asked)
