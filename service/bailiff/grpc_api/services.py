"""Our services, by what the protos say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bailiff.v1 import eviction_decision_service_pb2, scheduling_service_pb2

if TYPE_CHECKING:
    from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor

    from bailiff.decisions import Question

FILES = (eviction_decision_service_pb2.DESCRIPTOR, scheduling_service_pb2.DESCRIPTOR)
# By name, without the package.
SERVICES: dict[str, ServiceDescriptor] = {
    name: service for file in FILES for name, service in file.services_by_name.items()
}
FULL_NAMES = frozenset(service.full_name for service in SERVICES.values())
# The methods with several requests in a call; no two services have methods of one name.
STREAMS = frozenset(
    method.name
    for service in SERVICES.values()
    for method in service.methods
    if method.client_streaming
)
IN_PARTS = "InParts"


def method_of(question: Question[Any]) -> MethodDescriptor | None:
    """The method that asks a question; None: the protos do not know it yet."""
    name = question.name[:1].upper() + question.name[1:]
    service = SERVICES.get(question.service)
    return None if service is None else service.methods_by_name.get(name)


def in_parts_of(method: MethodDescriptor) -> MethodDescriptor | None:
    """The method that gives the same answers in several messages; None: none does."""
    return method.containing_service.methods_by_name.get(method.name + IN_PARTS)
