"""Questions from protobuf to the core's facts."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypedDict

from msgspec.structs import replace

from bailiff.decisions import (
    MAX_DEVICE_PODS,
    MAX_PODS,
    NO_OVERRIDES,
    DeviceFacts,
    DeviceTaintRuleFacts,
    Facts,
    NodeFacts,
    OptionOverrides,
    TaintChangeFacts,
    TaintObservation,
    TaintSelector,
)
from bailiff.grpc_api.errors import FieldError
from bailiff.grpc_api.kubernetes import read_node, read_pod, read_taint
from bailiff.grpc_api.meta import read_time
from bailiff.grpc_api.resource import brings_devices, read_devices, read_rule
from bailiff.grpc_api.wire import (
    Interned,
    WireMessage,
    check_number,
    parse,
    read_all,
    read_within,
    wire_class,
)
from bailiff.turns import PODS_A_TURN, aside
from bailiff.v1 import eviction_decision_service_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from bailiff.kinds import Node, Pod

_DecideRequest = wire_class(pb.DecideRequest)
_DecideNodeTaintsRequest = wire_class(pb.DecideNodeTaintsRequest)
_DecideNodeRequest = wire_class(pb.DecideNodeRequest)
_DecideDeviceTaintsRequest = wire_class(pb.DecideDeviceTaintsRequest)
_PreviewDeviceTaintRuleRequest = wire_class(pb.PreviewDeviceTaintRuleRequest)
_DecideTaintChangeRequest = wire_class(pb.DecideTaintChangeRequest)
_DecideStreamRequest = wire_class(pb.DecideStreamRequest)
_Options = wire_class(pb.Options)
_TaintObservation = wire_class(pb.TaintObservation)
_TaintSelector = wire_class(pb.TaintSelector)


class _Asked(TypedDict):
    now: datetime | None
    options: OptionOverrides


class _Common(_Asked):
    first_observed: tuple[TaintObservation, ...]


def read_facts(data: bytes) -> Facts:
    """A DecideRequest.

    Raises:
        RefusedError: malformed, or a field missing or wrong.
    """
    request = parse(_DecideRequest, data)
    facts = _facts(request)
    return replace(facts, **read_devices(request)) if brings_devices(request) else facts


def read_node_taints_facts(data: bytes) -> Facts:
    """A DecideNodeTaintsRequest; errors as `read_facts`."""
    return _facts(parse(_DecideNodeTaintsRequest, data))


async def read_node_facts(data: bytes) -> NodeFacts:
    """A DecideNodeRequest; errors as `read_facts`. Lets others run in between."""
    request = parse(_DecideNodeRequest, data)
    node = _required_node(request)
    pods = await _pods(request.pods)
    facts = NodeFacts(node=node, pods=pods, **_common(request))
    if not brings_devices(request):
        return facts
    return replace(facts, **await aside(len(data), read_devices, request))


async def read_change_facts(data: bytes) -> TaintChangeFacts:
    """A DecideTaintChangeRequest; errors as `read_facts`. Lets others run in between."""
    request = parse(_DecideTaintChangeRequest, data)
    node = _required_node(request)
    pods = await _pods(request.pods)
    return TaintChangeFacts(
        node=node,
        pods=pods,
        add_taints=tuple(read_all("add_taints", read_taint, request.add_taints)),
        remove_taints=tuple(read_all("remove_taints", _selector, request.remove_taints)),
        **_common(request),
    )


def read_stream_request(data: bytes) -> tuple[str, bytes]:
    """The id of a DecideStreamRequest and its batch, still as bytes; none is an empty one.

    Raises:
        RefusedError: malformed.
    """
    request = parse(_DecideStreamRequest, data)
    return request.request_id, request.batch


def read_device_facts(data: bytes) -> DeviceFacts:
    """A DecideDeviceTaintsRequest; errors as `read_facts`."""
    request = parse(_DecideDeviceTaintsRequest, data)
    pods = _device_pods(request)
    return DeviceFacts(pods=pods, **read_devices(request), **_asked(request))


def read_rule_facts(data: bytes) -> DeviceTaintRuleFacts:
    """A PreviewDeviceTaintRuleRequest; errors as `read_facts`."""
    request = parse(_PreviewDeviceTaintRuleRequest, data)
    if not request.HasField("rule"):
        raise FieldError("required", "rule")
    rule = read_within("rule", read_rule, request.rule)
    pods = _device_pods(request)
    return DeviceTaintRuleFacts(rule=rule, pods=pods, **read_devices(request), **_asked(request))


def _device_pods(request: WireMessage) -> tuple[Pod, ...]:
    check_number("pods", request.pods, MAX_DEVICE_PODS)
    return tuple(read_all("pods", read_pod, request.pods))


def _facts(request: WireMessage) -> Facts:
    if not request.HasField("pod"):
        raise FieldError("required", "pod")
    pod = read_within("pod", read_pod, request.pod)
    node = read_within("node", read_node, request.node) if request.HasField("node") else None
    bound = read_time(request.bound_at, "bound_at") if request.HasField("bound_at") else None
    return Facts(pod=pod, node=node, bound_at=bound, **_common(request))


def _asked(request: WireMessage) -> _Asked:
    return {"now": _now(request), "options": _overrides(request)}


def _common(request: WireMessage) -> _Common:
    observed = request.first_observed
    return {
        "now": _now(request),
        "first_observed": tuple(read_all("first_observed", _observation, observed))
        if observed
        else (),
        "options": _overrides(request),
    }


def _now(request: WireMessage) -> datetime | None:
    return read_time(request.now, "now") if request.HasField("now") else None


def _overrides(request: WireMessage) -> OptionOverrides:
    if not request.HasField("options"):
        return NO_OVERRIDES
    return read_within("options", _options, request.options)


def _required_node(request: WireMessage) -> Node:
    if not request.HasField("node"):
        raise FieldError("required", "node")
    return read_within("node", read_node, request.node)


async def _pods(messages: Sequence[WireMessage]) -> tuple[Pod, ...]:
    check_number("pods", messages, MAX_PODS)
    if len(messages) <= PODS_A_TURN:
        return tuple(read_all("pods", read_pod, messages))
    pods: list[Pod] = []
    for start in range(0, len(messages), PODS_A_TURN):
        pods += read_all("pods", read_pod, messages[start : start + PODS_A_TURN], start)
        await asyncio.sleep(0)
    return tuple(pods)


def _convert_options(data: bytes) -> OptionOverrides:
    options = parse(_Options, data)
    return OptionOverrides(
        **{
            name: getattr(options, name)
            for name in OptionOverrides.__struct_fields__
            if options.HasField(name)
        }
    )


def _convert_observation(data: bytes) -> TaintObservation:
    observation = parse(_TaintObservation, data)
    if not observation.HasField("time"):
        raise FieldError("required", "time")
    return TaintObservation(
        key=observation.key,
        value=observation.value,
        effect=observation.effect,
        time=read_time(observation.time, "time"),
    )


def _convert_selector(data: bytes) -> TaintSelector:
    selector = parse(_TaintSelector, data)
    return TaintSelector(key=selector.key, effect=selector.effect)


_options = Interned(_convert_options)
_observation = Interned(_convert_observation)
_selector = Interned(_convert_selector)
