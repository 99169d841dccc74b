"""Objects as the API server's own protobuf, to prove that ours reads the same fields.

The envelope: four magic bytes, then a runtime.Unknown whose field 2 holds the object
(apimachinery pkg/runtime/serializer/protobuf, pkg/runtime/generated.proto).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bailiff.cluster import NODES, PODS, Request

if TYPE_CHECKING:
    from bailiff.cluster import Cluster, Resource

CONTENT_TYPE = "application/vnd.kubernetes.protobuf"
_MAGIC = b"k8s\x00"
_RAW_FIELD = 2
_LENGTH_DELIMITED = 2


async def pod_bytes(cluster: Cluster, name: str, namespace: str) -> bytes:
    """A k8s.io.api.core.v1.Pod as the server marshals it."""
    return await _object_bytes(cluster, PODS.path(namespace, name))


async def node_bytes(cluster: Cluster, name: str) -> bytes:
    """A k8s.io.api.core.v1.Node as the server marshals it."""
    return await _object_bytes(cluster, NODES.path("", name))


async def bytes_of(
    cluster: Cluster, resource: Resource[Any], name: str, namespace: str = ""
) -> bytes:
    """An object of any kind as the server marshals it."""
    return await _object_bytes(cluster, resource.path(namespace, name))


async def _object_bytes(cluster: Cluster, path: str) -> bytes:
    return unwrap(await cluster.send(Request("GET", path, accept=CONTENT_TYPE)))


def unwrap(envelope: bytes) -> bytes:
    """The object inside the envelope.

    Raises:
        ValueError: this is no such envelope.
    """
    if not envelope.startswith(_MAGIC):
        raise ValueError(f"not Kubernetes' protobuf: begins with {envelope[:8]!r}")
    at = len(_MAGIC)
    while at < len(envelope):
        key, at = _varint(envelope, at)
        if key & 7 != _LENGTH_DELIMITED:
            raise ValueError(f"field {key >> 3} of the envelope has wire type {key & 7}")
        size, at = _varint(envelope, at)
        if key >> 3 == _RAW_FIELD:
            return envelope[at : at + size]
        at += size
    raise ValueError("the envelope has no object")


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
