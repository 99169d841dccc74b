"""Server reflection, so that grpcurl and its like need no proto files.

grpcio-reflection serves grpc.reflection.v1alpha only. The v1 that clients ask first differs in its
package name and in nothing else (grpc/grpc-proto, grpc/reflection/v1/reflection.proto), so the same
handler answers for both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool
from google.rpc import error_details_pb2  # type: ignore[import-untyped]  # it ships no types
from grpc_reflection.v1alpha import reflection_pb2  # type: ignore[import-untyped]  # ships no types
from grpc_reflection.v1alpha.reflection import aio  # type: ignore[import-untyped]  # as above

if TYPE_CHECKING:
    from collections.abc import Iterable

    from google.protobuf.descriptor import Descriptor, FileDescriptor, ServiceDescriptor

_ALPHA = reflection_pb2.DESCRIPTOR.services_by_name["ServerReflection"]
_V1 = "grpc.reflection.v1"
_METHOD = _ALPHA.methods[0].name


def add_reflection(services: Iterable[ServiceDescriptor], server: grpc.aio.Server) -> None:
    """Describe these services, the details of their errors, and reflection itself.

    The descriptions come from a pool of their own: what else a process has loaded is nobody's
    business.
    """
    pool = descriptor_pool.DescriptorPool()
    seen: set[str] = set()
    names = []
    for service in (*services, _ALPHA):
        _add_file(service.file, pool, seen)
        names.append(service.full_name)
    # No service's file names them, and without them a client prints an error's details as bytes.
    _add_file(error_details_pb2.DESCRIPTOR, pool, seen)
    pool.Add(_as_v1(_ALPHA.file))
    stable_name = f"{_V1}.{_ALPHA.name}"
    handler = _handler(aio.ReflectionServicer([*names, stable_name], pool=_Symbols(pool)))
    for name in (_ALPHA.full_name, stable_name):
        server.add_registered_method_handlers(name, {_METHOD: handler})


class _Symbols:
    """A pool that finds methods too.

    Protobuf's own does not, and then `grpcurl describe SERVICE.METHOD` fails.
    """

    def __init__(self, pool: descriptor_pool.DescriptorPool) -> None:
        self._pool = pool

    def FindFileContainingSymbol(self, symbol: str) -> FileDescriptor:  # noqa: N802 - protobuf's
        try:
            return self._pool.FindFileContainingSymbol(symbol)
        except KeyError:
            owner, _, member = symbol.rpartition(".")
            found = self._pool.FindFileContainingSymbol(owner)
            if not _has_member(found, owner, member):
                raise
            return found

    def __getattr__(self, name: str) -> object:
        return getattr(self._pool, name)


def _has_member(file: FileDescriptor, owner: str, member: str) -> bool:
    service = file.services_by_name.get(owner.rpartition(".")[2])
    return service is not None and member in service.methods_by_name


def _handler(
    servicer: aio.ReflectionServicer,
) -> grpc.RpcMethodHandler[object, object]:
    return grpc.stream_stream_rpc_method_handler(
        servicer.ServerReflectionInfo,
        request_deserializer=reflection_pb2.ServerReflectionRequest.FromString,
        response_serializer=reflection_pb2.ServerReflectionResponse.SerializeToString,
    )


def _add_file(file: FileDescriptor, pool: descriptor_pool.DescriptorPool, seen: set[str]) -> None:
    if file.name in seen:
        return
    seen.add(file.name)
    for dependency in file.dependencies:
        _add_file(dependency, pool, seen)
    proto = descriptor_pb2.FileDescriptorProto.FromString(file.serialized_pb)
    for message in proto.message_type:
        _name_for_json(message, file.message_types_by_name[message.name])
    pool.Add(proto)


def _name_for_json(proto: descriptor_pb2.DescriptorProto, message: Descriptor) -> None:
    """Protoc leaves the JSON names out for Python, and grpcurl would print `evict_at`."""
    for field in proto.field:
        field.json_name = message.fields_by_name[field.name].json_name
    for nested in proto.nested_type:
        _name_for_json(nested, message.nested_types_by_name[nested.name])


def _as_v1(alpha: FileDescriptor) -> descriptor_pb2.FileDescriptorProto:
    proto = descriptor_pb2.FileDescriptorProto.FromString(alpha.serialized_pb)
    old, new = f".{proto.package}.", f".{_V1}."
    proto.name = proto.name.replace("v1alpha", "v1")
    proto.package = _V1
    for field in (field for message in proto.message_type for field in message.field):
        if field.type_name:
            field.type_name = field.type_name.replace(old, new)
    for method in proto.service[0].method:
        method.input_type = method.input_type.replace(old, new)
        method.output_type = method.output_type.replace(old, new)
    return proto
