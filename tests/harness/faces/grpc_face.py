"""The gRPC face asked in REST's terms, so that both can answer one corpus."""

from __future__ import annotations

import asyncio
import base64
import re
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import grpc
import msgspec
from google.protobuf import json_format, message_factory
from google.protobuf.struct_pb2 import Struct
from google.rpc import error_details_pb2  # type: ignore[import-untyped]  # it ships no types
from grpc_status import rpc_status  # type: ignore[import-untyped]  # it ships no types
from prometheus_client import CollectorRegistry

from bailiff.decisions import SYSTEMS, Options, Systems
from bailiff.grpc_api import GrpcSettings, create_server
from bailiff.grpc_api.services import SERVICES
from bailiff.serving import ByteBudget, Gate
from bailiff.tracing import NO_TRACER
from bailiff.v1 import kubernetes_pb2
from bailiff.v1.eviction_decision_service_pb2_grpc import EvictionDecisionServiceStub
from tests.harness.clocks import START, ManualClock

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from google.protobuf.descriptor import FieldDescriptor, MethodDescriptor
    from google.protobuf.message import Message

    from bailiff.access import Guard
    from bailiff.tracing import Tracer
    from bailiff.v1.eviction_decision_service_pb2_grpc import EvictionDecisionServiceAsyncStub

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
    budget: ByteBudget

    async def ask(self, question: str, request: Message) -> Message:
        """The answer to a question of the core's table."""
        answer = await self.raw_of(question)(request.SerializeToString())
        return answer_of(question, answer)

    def raw_of(self, question: str) -> grpc.aio.UnaryUnaryMultiCallable[bytes, bytes]:
        """The method that asks a question, bytes for bytes."""
        method = method_of(question)
        call: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes]
        call = self.channel.unary_unary(f"/{method.containing_service.full_name}/{method.name}")
        return call

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
    settings: GrpcSettings | None = None,
    *,
    now: datetime = NOW,
    options: Options | None = None,
    systems: Systems = SYSTEMS,
    budget: ByteBudget | None = None,
    is_proxy: Callable[[str], bool] = lambda _: False,
    guard: Guard | None = None,
    gate: Gate | None = None,
    tracer: Tracer = NO_TRACER,
) -> AsyncIterator[Face]:
    """A server on a free loopback port, its clock standing at `now`."""
    registry = CollectorRegistry()
    budget = budget or ByteBudget()
    server = create_server(
        settings or GrpcSettings(port=0),
        ManualClock(now),
        registry,
        options or Options(),
        systems,
        budget=budget,
        is_proxy=is_proxy,
        guard=guard,
        gate=gate,
        tracer=tracer,
    )
    port = await server.start()
    try:
        async with grpc.aio.insecure_channel(
            f"127.0.0.1:{port}", [("grpc.max_receive_message_length", -1)]
        ) as channel:
            yield Face(channel, EvictionDecisionServiceStub(channel), registry, port, budget)
    finally:
        await server.stop(0)


async def until_taken(budget: ByteBudget, expected: int) -> None:
    """Wait for the server to give back the rest: a caller may have its answer a moment before."""
    async with asyncio.timeout(20):
        while budget.taken != expected:
            await asyncio.sleep(0.01)


async def ask(
    question: str, body: dict[str, Any], *, now: datetime = NOW, systems: Systems = SYSTEMS
) -> dict[str, Any]:
    """Ask over a real connection.

    Args:
        question: its name in the core's table.
        body: as REST takes it.
        now: the server's clock.
        systems: what the server asks.

    Returns:
        What REST would answer, or `{"error": code, "path": path}` with REST's path (`$.node`).

    Raises:
        InexpressibleError: the body fits no message.
    """
    request = request_of(question, body)
    async with running(now=now, systems=systems) as face:
        try:
            response = await face.ask(question, request)
        except grpc.aio.AioRpcError as error:
            return error_of(error)
    return plain(response)


def method_of(question: str) -> MethodDescriptor:
    """The method that asks a question of this name."""
    name = question[:1].upper() + question[1:]
    found = (one.methods_by_name.get(name) for one in SERVICES.values())
    return next(one for one in found if one is not None)


def answer_of(question: str, data: bytes) -> Message:
    """The bytes of an answer as the question's message."""
    made: Any = message_factory.GetMessageClass(method_of(question).output_type)
    answer: Message = made.FromString(data)
    return answer


def request_of(question: str, body: dict[str, Any]) -> Message:
    """A body as the question's message; InexpressibleError."""
    request: Message = message_factory.GetMessageClass(method_of(question).input_type)()
    return message_of(body, request)


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


def message_of(body: dict[str, Any], message: M) -> M:
    """A body as a message; InexpressibleError."""
    try:
        return json_format.ParseDict(_as_protobuf(body), message, ignore_unknown_fields=True)
    except json_format.ParseError as error:
        raise InexpressibleError(str(error)) from error


# What is nothing but JSON in protobuf; maps of quantities, and a quantity.
_RAW = ("fieldsV1", "summary", "configuration")
_QUANTITIES = ("limits", "requests", "overhead", "allocatedResources")
_QUANTITY = "sizeLimit"


def _as_protobuf(value: Any) -> Any:
    """A part of a body as protobuf's own JSON has it."""
    if isinstance(value, list):
        return [_as_protobuf(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {name: _named(name, part) for name, part in value.items()}


def _named(name: str, part: Any) -> Any:
    if name in _RAW and part is not None:
        return {"raw": base64.b64encode(msgspec.json.encode(part)).decode()}
    if name in _QUANTITIES and isinstance(part, dict):
        return {resource: {"string": quantity} for resource, quantity in part.items()}
    if name == _QUANTITY and part is not None:
        return {"string": part}
    if name == "volumes" and isinstance(part, list):
        return [_volume(one) for one in part]
    return _as_protobuf(part)


def _volume(volume: dict[str, Any]) -> dict[str, Any]:
    """With its source in a message of its own."""
    source = {name: part for name, part in volume.items() if name != "name"}
    return {"name": volume.get("name", ""), "volumeSource": _as_protobuf(source)}


def plain(message: Message) -> dict[str, Any]:
    """An answer as REST would give it, but that what is zero is left out wherever it may be."""
    if message.DESCRIPTOR.name == "Subject":
        kind = message.WhichOneof("kind")
        subject: Message = getattr(message, kind or "")
        if isinstance(subject, Struct):
            return json_of(subject)
        place = message.DESCRIPTOR.fields_by_name[kind or ""]
        return {"kind": place.json_name} | plain(subject)
    found = {place.json_name: _part(place, value) for place, value in message.ListFields()}
    if message.DESCRIPTOR.name == "Reports":
        others: dict[str, Any] = found.pop("others", {})
        return {_kebab(name): report for name, report in found.items()} | others
    return found


def _part(place: FieldDescriptor, value: Any) -> Any:
    if place.message_type is not None and place.message_type.GetOptions().map_entry:
        return {key: json_of(one) if isinstance(one, Struct) else one for key, one in value.items()}
    return [_item(place, item) for item in value] if place.is_repeated else _item(place, value)


def _item(place: FieldDescriptor, value: Any) -> Any:
    if place.enum_type is not None:
        return place.enum_type.values_by_number[value].name.removeprefix("VERDICT_")
    if place.message_type is None:
        return value
    if place.message_type.full_name == "google.protobuf.Timestamp":
        return msgspec.to_builtins(value.ToDatetime(UTC))
    return plain(value)


def json_of(value: Struct) -> dict[str, Any]:
    """A google.protobuf.Struct, whose numbers are all floats."""
    told: dict[str, Any] = _whole(json_format.MessageToDict(value))
    return told


def _whole(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _whole(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_whole(part) for part in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _kebab(name: str) -> str:
    return re.sub("[A-Z]", lambda m: f"-{m[0].lower()}", name)


def without_zeros(value: Any) -> Any:
    """JSON without what is empty or zero, which protobuf does not write."""
    if isinstance(value, dict):
        parts = ((name, without_zeros(part)) for name, part in value.items())
        return {name: part for name, part in parts if part not in _ZEROS}
    return [without_zeros(part) for part in value] if isinstance(value, list) else value


_ZEROS: tuple[Any, ...] = ("", 0, False, [], {}, None)
