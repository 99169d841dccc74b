"""What a client can be asked, whichever way it goes; `async_asking.py` has the same to await."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Self

from bailiff.client import questions as asked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bailiff.client.questions import A, Json, Q, Question
    from bailiff.v1 import eviction_decision_service_pb2 as pb
    from bailiff.v1 import scheduling_service_pb2 as scheduling


class Asking(ABC):
    """The questions of Bailiff.

    A question is its message, or a mapping with REST's names in which objects are as kubectl prints
    them, or messages. An answer is a message, the same over both transports. `timeout` is for the
    whole call, in seconds, with all its attempts; None: as the client is set. All of them raise a
    `BailiffError`, and a TypeError or ValueError where `timeout` is no time.
    """

    @abstractmethod
    def ask(self, question: Question[Q, A], facts: Q | Json, timeout: float | None = None) -> A:
        """The answer to any question of `bailiff.client.questions`."""

    @abstractmethod
    def ask_in_parts(
        self, question: Question[Q, A], facts: Q | Json, timeout: float | None = None
    ) -> Iterator[A]:
        """The parts of a long answer as they come; merged in their order they are the answer.

        Over REST it is one part. Once the first part is there nothing is repeated, and the others
        have what is left of the whole call's time.
        """

    @abstractmethod
    def close(self) -> None:
        """Close the connections. The client cannot be used afterwards."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def decide(
        self, question: pb.DecideRequest | Json, *, timeout: float | None = None
    ) -> pb.DecideResponse:
        """Should this pod be evicted, and when?"""
        return self.ask(asked.DECIDE, question, timeout)

    def decide_batch(
        self, question: pb.DecideBatchRequest | Json, *, timeout: float | None = None
    ) -> pb.DecideBatchResponse:
        """Which of up to 20,000 pods should be evicted, and when?"""
        return self.ask(asked.DECIDE_BATCH, question, timeout)

    def decide_batch_in_parts(
        self, question: pb.DecideBatchRequest | Json, *, timeout: float | None = None
    ) -> Iterator[pb.DecideBatchResponse]:
        """The same, as the parts of the answer come."""
        return self.ask_in_parts(asked.DECIDE_BATCH, question, timeout)

    def preview_taint_change(
        self, question: pb.PreviewTaintChangeRequest | Json, *, timeout: float | None = None
    ) -> pb.PreviewTaintChangeResponse:
        """What would adding or removing these taints do?"""
        return self.ask(asked.PREVIEW_TAINT_CHANGE, question, timeout)

    def preview_device_taint_rule(
        self, question: pb.PreviewDeviceTaintRuleRequest | Json, *, timeout: float | None = None
    ) -> pb.PreviewDeviceTaintRuleResponse:
        """What does this DeviceTaintRule do, or would it?"""
        return self.ask(asked.PREVIEW_DEVICE_TAINT_RULE, question, timeout)

    def plan_pressure_round(
        self, question: pb.PlanPressureRoundRequest | Json, *, timeout: float | None = None
    ) -> pb.PlanPressureRoundResponse:
        """What would the kubelet's eviction manager do on this node now?"""
        return self.ask(asked.PLAN_PRESSURE_ROUND, question, timeout)

    def rank_for_pressure(
        self, question: pb.RankForPressureRequest | Json, *, timeout: float | None = None
    ) -> pb.RankForPressureResponse:
        """Who would go first, were this signal low?"""
        return self.ask(asked.RANK_FOR_PRESSURE, question, timeout)

    def admit_under_pressure(
        self, question: pb.AdmitUnderPressureRequest | Json, *, timeout: float | None = None
    ) -> pb.AdmitUnderPressureResponse:
        """May this pod start on a node under these pressures?"""
        return self.ask(asked.ADMIT_UNDER_PRESSURE, question, timeout)

    def read_eviction_configuration(
        self, question: pb.ReadEvictionConfigurationRequest | Json, *, timeout: float | None = None
    ) -> pb.ReadEvictionConfigurationResponse:
        """Is this kubelet's eviction configuration right, and what does it come to?"""
        return self.ask(asked.READ_EVICTION_CONFIGURATION, question, timeout)

    def judge_nodes(
        self, question: scheduling.JudgeNodesRequest | Json, *, timeout: float | None = None
    ) -> scheduling.JudgeNodesResponse:
        """Which of up to 20,000 nodes would take this pod, and until when could it stay there?"""
        return self.ask(asked.JUDGE_NODES, question, timeout)
