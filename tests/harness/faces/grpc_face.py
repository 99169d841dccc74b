"""The gRPC face asked in REST's terms, so that both can answer one corpus."""

from __future__ import annotations

import base64
import re
from contextlib import asynccontextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import grpc
import msgspec
from google.protobuf import json_format
from google.rpc import error_details_pb2  # type: ignore[import-untyped]  # it ships no types
from grpc_status import rpc_status  # type: ignore[import-untyped]  # it ships no types
from prometheus_client import CollectorRegistry

from bailiff.decisions import (
    ChangeSummary,
    Decision,
    DecisionChange,
    DeviceDecisions,
    DeviceTaintRulePreview,
    Options,
)
from bailiff.grpc_api import GrpcSettings, create_server
from bailiff.v1 import eviction_decision_service_pb2 as pb
from bailiff.v1 import kubernetes_pb2
from bailiff.v1.eviction_decision_service_pb2_grpc import EvictionDecisionServiceStub
from tests.harness.clocks import START, ManualClock

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from google.protobuf.message import Message

    from bailiff.v1.eviction_decision_service_pb2_grpc import EvictionDecisionServiceAsyncStub

T = TypeVar("T")
M = TypeVar("M", bound="Message")

SERVICE = "bailiff.v1.EvictionDecisionService"
NOW = START
# The least that a question needs.
NODE = kubernetes_pb2.Node(metadata=kubernetes_pb2.ObjectMeta(name="node-1"))
POD = kubernetes_pb2.Pod(metadata=kubernetes_pb2.ObjectMeta(name="web-1"))


class InexpressibleError(ValueError):
    """A JSON body that no protobuf message can hold, such as a number where text belongs."""


class Face(NamedTuple):
    """A server under test and a way to it."""

    channel: grpc.aio.Channel
    stub: EvictionDecisionServiceAsyncStub
    registry: CollectorRegistry
    port: int

    def raw(self, method: str) -> grpc.aio.UnaryUnaryMultiCallable[bytes, bytes]:
        """A unary method, bytes for bytes."""
        call: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes]
        call = self.channel.unary_unary(f"/{SERVICE}/{method}")
        return call

    def raw_stream(self) -> grpc.aio.StreamStreamMultiCallable[bytes, bytes]:
        """DecideStream, bytes for bytes."""
        call: grpc.aio.StreamStreamMultiCallable[bytes, bytes]
        call = self.channel.stream_stream(f"/{SERVICE}/DecideStream")
        return call

    def sample(self, name: str, **labels: str) -> float:
        """A metric's value; 0 where there is none yet."""
        return self.registry.get_sample_value(name, labels) or 0.0


@asynccontextmanager
async def running(
    settings: GrpcSettings | None = None, *, now: datetime = NOW, options: Options | None = None
) -> AsyncIterator[Face]:
    """A server on a free loopback port, its clock standing at `now`."""
    registry = CollectorRegistry()
    server = create_server(
        settings or GrpcSettings(port=0), ManualClock(now), registry, options or Options()
    )
    port = await server.start()
    try:
        async with grpc.aio.insecure_channel(
            f"127.0.0.1:{port}", [("grpc.max_receive_message_length", -1)]
        ) as channel:
            yield Face(channel, EvictionDecisionServiceStub(channel), registry, port)
    finally:
        await server.stop(0)


async def ask(question: str, body: dict[str, Any], *, now: datetime = NOW) -> dict[str, Any]:
    """Ask over a real connection.

    Args:
        question: decide, node-taints, node, taint-change, device-taints or device-taint-rule.
        body: as REST takes it.
        now: the server's clock.

    Returns:
        What REST would answer, or `{"error": code, "path": path}` with REST's path (`$.node`).

    Raises:
        InexpressibleError: the body fits no message.
    """
    method, request = _QUESTIONS[question]
    async with running(now=now) as face:
        try:
            response = await getattr(face.stub, method)(message_of(body, request()))
        except grpc.aio.AioRpcError as error:
            return error_of(error)
    return _ANSWERS[question](response)


def error_of(error: grpc.aio.AioRpcError) -> dict[str, Any]:
    """The stable code and the path, in REST's idiom."""
    info = error_details_pb2.ErrorInfo()
    bad = error_details_pb2.BadRequest()
    for detail in rpc_status.from_call(error).details:
        detail.Unpack(info)
        detail.Unpack(bad)
    field = bad.field_violations[0].field if bad.field_violations else ""
    path = re.sub("_([a-z])", lambda m: m[1].upper(), field)
    return {"error": info.reason.lower(), "path": f"$.{path}" if path else "$"}


def decision_of(message: Message) -> Decision:
    """A Decision message as the core's value."""
    return _value(message, Decision)


def message_of(body: dict[str, Any], message: M) -> M:
    """A body as a message; InexpressibleError."""
    try:
        return json_format.ParseDict(_with_raw(body), message, ignore_unknown_fields=True)
    except json_format.ParseError as error:
        raise InexpressibleError(str(error)) from error


def _with_raw(value: Any) -> Any:
    """With each fieldsV1 as protobuf has it: bytes that hold the JSON."""
    if isinstance(value, list):
        return [_with_raw(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        name: {"raw": base64.b64encode(msgspec.json.encode(part)).decode()}
        if name == "fieldsV1" and part is not None
        else _with_raw(part)
        for name, part in value.items()
    }


def _value(message: Message, kind: type[T]) -> T:
    fields = json_format.MessageToDict(message, always_print_fields_with_no_presence=True)
    return msgspec.convert(_without_prefix(fields), kind, strict=False)


def _without_prefix(value: object) -> object:
    """VERDICT_KEEP to KEEP, wherever there is a verdict."""
    if isinstance(value, dict):
        return {
            key: entry.removeprefix("VERDICT_") if key == "verdict" else _without_prefix(entry)
            for key, entry in value.items()
        }
    return [_without_prefix(entry) for entry in value] if isinstance(value, list) else value


def _one(response: pb.DecideResponse) -> dict[str, Any]:
    return _builtins(decision_of(response.decision))


def _many(response: pb.DecideNodeResponse) -> dict[str, Any]:
    return {"decisions": [_builtins(decision_of(d)) for d in response.decisions]}


def _changes(response: pb.DecideTaintChangeResponse) -> dict[str, Any]:
    summary = response.summary
    return {
        "changes": [_builtins(_value(c, DecisionChange)) for c in response.changes],
        "summary": _builtins(
            ChangeSummary(evict_now=summary.evict_now, evict_at=summary.evict_at, keep=summary.keep)
        ),
    }


def _devices(response: pb.DecideDeviceTaintsResponse) -> dict[str, Any]:
    return _builtins(_value(response, DeviceDecisions))


def _preview(response: pb.PreviewDeviceTaintRuleResponse) -> dict[str, Any]:
    return _builtins(_value(response, DeviceTaintRulePreview))


def _builtins(value: msgspec.Struct) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(value)
    return fields


_QUESTIONS: dict[str, tuple[str, type[Message]]] = {
    "decide": ("Decide", pb.DecideRequest),
    "node-taints": ("DecideNodeTaints", pb.DecideNodeTaintsRequest),
    "node": ("DecideNode", pb.DecideNodeRequest),
    "taint-change": ("DecideTaintChange", pb.DecideTaintChangeRequest),
    "device-taints": ("DecideDeviceTaints", pb.DecideDeviceTaintsRequest),
    "device-taint-rule": ("PreviewDeviceTaintRule", pb.PreviewDeviceTaintRuleRequest),
}
_ANSWERS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "decide": _one,
    "node-taints": _one,
    "node": _many,
    "taint-change": _changes,
    "device-taints": _devices,
    "device-taint-rule": _preview,
}
