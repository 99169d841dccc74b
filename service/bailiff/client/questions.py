"""What can be asked: the names that both transports have for a question, and its types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from google.protobuf.message import Message

from bailiff.v1 import eviction_decision_service_pb2 as pb
from bailiff.v1 import scheduling_service_pb2 as scheduling

Q = TypeVar("Q", bound=Message)
A = TypeVar("A", bound=Message)
# A question as a user writes it: its message, or what REST's body would be, in which objects may be
# messages.
Json: TypeAlias = Mapping[str, Any]

DECISIONS = "bailiff.v1.EvictionDecisionService"
SCHEDULING = "bailiff.v1.SchedulingService"


@dataclass(frozen=True)
class Question(Generic[Q, A]):
    """A question of the server's table.

    Attributes:
        path: over REST, below `/v1/`.
        service: over gRPC.
        method: over gRPC; the one that answers in parts is named by it and `InParts`.
        asked: the message of the question.
        answer: the message of the answer.
        in_parts: whether its answers may be longer than one gRPC message.
    """

    path: str
    service: str
    method: str
    asked: type[Q]
    answer: type[A]
    in_parts: bool = True

    @property
    def grpc_path(self) -> str:
        """Of the method that gives an answer of any length."""
        return f"/{self.service}/{self.method}{'InParts' if self.in_parts else ''}"


DECIDE = Question(
    "decisions", DECISIONS, "Decide", pb.DecideRequest, pb.DecideResponse, in_parts=False
)
DECIDE_BATCH = Question(
    "decisions/batch", DECISIONS, "DecideBatch", pb.DecideBatchRequest, pb.DecideBatchResponse
)
PREVIEW_TAINT_CHANGE = Question(
    *("previews/taint-change", DECISIONS, "PreviewTaintChange"),
    pb.PreviewTaintChangeRequest,
    pb.PreviewTaintChangeResponse,
)
PREVIEW_DEVICE_TAINT_RULE = Question(
    *("previews/device-taint-rule", DECISIONS, "PreviewDeviceTaintRule"),
    pb.PreviewDeviceTaintRuleRequest,
    pb.PreviewDeviceTaintRuleResponse,
)
PLAN_PRESSURE_ROUND = Question(
    *("pressure/round", DECISIONS, "PlanPressureRound"),
    pb.PlanPressureRoundRequest,
    pb.PlanPressureRoundResponse,
)
RANK_FOR_PRESSURE = Question(
    *("pressure/ranking", DECISIONS, "RankForPressure"),
    pb.RankForPressureRequest,
    pb.RankForPressureResponse,
)
ADMIT_UNDER_PRESSURE = Question(
    *("pressure/admission", DECISIONS, "AdmitUnderPressure"),
    pb.AdmitUnderPressureRequest,
    pb.AdmitUnderPressureResponse,
    in_parts=False,
)
READ_EVICTION_CONFIGURATION = Question(
    *("pressure/configuration", DECISIONS, "ReadEvictionConfiguration"),
    pb.ReadEvictionConfigurationRequest,
    pb.ReadEvictionConfigurationResponse,
    in_parts=False,
)
JUDGE_NODES = Question(
    *("scheduling/nodes", SCHEDULING, "JudgeNodes"),
    scheduling.JudgeNodesRequest,
    scheduling.JudgeNodesResponse,
)
