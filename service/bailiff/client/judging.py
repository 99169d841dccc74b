"""Pods that a stream of scheduling verdicts is asked about."""

from __future__ import annotations

from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bailiff.client import given, grpc_words
from bailiff.client.errors import UNREADABLE, Failure, TooLongError, error_of
from bailiff.v1.kubernetes_pb2 import Pod
from bailiff.v1.scheduling_service_pb2 import (
    JudgeNodesResponse,
    JudgeNodesStreamRequest,
    JudgeNodesStreamResponse,
    PodsToJudge,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
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


class Judging:
    """Pods that are asked about so many at a time, and fewer where their answers are too long."""

    def __init__(self, pods: Iterable[Pod | Json], terms: Terms | None, most: int) -> None:
        """None asked about yet; InvalidQuestionError."""
        self._terms = _message_of(terms or Terms())
        asked = [grpc_words.message_of(pod, Pod) for pod in given.listed(pods, "$.pods")]
        self._left = deque(asked[begin : begin + most] for begin in range(0, len(asked), most))
        self.answers: list[JudgeNodesResponse] = []

    def __iter__(self) -> Iterator[JudgeNodesStreamRequest]:
        """The next question, until all have their answers."""
        while self._left:
            asked = PodsToJudge(pods=self._left[0])
            asked.MergeFrom(self._terms)
            yield JudgeNodesStreamRequest(pods=asked)

    def take(self, answer: JudgeNodesStreamResponse) -> None:
        """The answer to the last question; ServerError where it is not one for each pod."""
        answers, pods = answer.judged.answers, self._left[0]
        if len(answers) != len(pods):
            told = f"{len(answers)} answers about {len(pods)} pods"
            raise error_of(Failure(UNREADABLE, told))
        self.answers += answers
        self._left.popleft()

    @contextmanager
    def halved_if_too_long(self) -> Iterator[None]:
        """Ask about half as many where the answer is too long; one pod's stays an error."""
        try:
            yield
        except TooLongError:
            pods = self._left[0]
            if len(pods) < 2:
                raise
            half = len(pods) // 2
            self._left[0] = pods[half:]
            self._left.appendleft(pods[:half])


def _message_of(terms: Terms) -> PodsToJudge:
    given.kind(terms, Terms, "terms are Terms")
    told = {
        "nodes": given.listed(terms.nodes, "$.nodes"),
        "now": terms.now,
        "options": terms.options,
    }
    return grpc_words.message_of(told, PodsToJudge)
