"""Kubernetes' protobuf, as `kubectl create namespace|configmap|deployment …` sends it.

kubectl's generated clients have no way back to JSON, so what they create is read: the fields that
those commands set, with the field numbers of k8s.io/api's .proto files. Everything else speaks
JSON, answers included.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message, message_factory

from bailiff_demo import errors

if TYPE_CHECKING:
    from bailiff_demo.objects import JsonObject

MEDIA_TYPE = "application/vnd.kubernetes.protobuf"
_MAGIC = b"k8s\x00"
_PACKAGE = "bailiff.demo"
_Field = descriptor_pb2.FieldDescriptorProto

# Message -> field -> (number, type). A type in brackets repeats; `map` is of strings to strings.
_MESSAGES: dict[str, dict[str, tuple[int, str]]] = {
    "Unknown": {"typeMeta": (1, "TypeMeta"), "raw": (2, "bytes")},
    "TypeMeta": {"apiVersion": (1, "string"), "kind": (2, "string")},
    "Meta": {
        "name": (1, "string"),
        "generateName": (2, "string"),
        "namespace": (3, "string"),
        "labels": (11, "map"),
        "annotations": (12, "map"),
    },
    "Selector": {"matchLabels": (1, "map")},
    "Port": {"name": (1, "string"), "containerPort": (3, "int32"), "protocol": (4, "string")},
    "EnvVar": {"name": (1, "string"), "value": (2, "string")},
    "Container": {
        "name": (1, "string"),
        "image": (2, "string"),
        "command": (3, "[string]"),
        "args": (4, "[string]"),
        "ports": (6, "[Port]"),
        "env": (7, "[EnvVar]"),
    },
    "PodSpec": {
        "containers": (2, "[Container]"),
        "restartPolicy": (3, "string"),
        "nodeName": (10, "string"),
    },
    "Template": {"metadata": (1, "Meta"), "spec": (2, "PodSpec")},
    "DeploymentSpec": {
        "replicas": (1, "int32"),
        "selector": (2, "Selector"),
        "template": (3, "Template"),
    },
    "IntOrString": {"type": (1, "int64"), "intVal": (2, "int32"), "strVal": (3, "string")},
    "BudgetSpec": {
        "minAvailable": (1, "IntOrString"),
        "selector": (2, "Selector"),
        "maxUnavailable": (3, "IntOrString"),
    },
    "Preconditions": {"uid": (1, "string"), "resourceVersion": (2, "string")},
    # From here on: what a body may be.
    "Namespace": {"metadata": (1, "Meta")},
    "ConfigMap": {"metadata": (1, "Meta"), "data": (2, "map")},
    "Secret": {"metadata": (1, "Meta"), "data": (2, "bytes map"), "type": (3, "string")},
    "ServiceAccount": {"metadata": (1, "Meta")},
    "Pod": {"metadata": (1, "Meta"), "spec": (2, "PodSpec")},
    "Deployment": {"metadata": (1, "Meta"), "spec": (2, "DeploymentSpec")},
    "PodDisruptionBudget": {"metadata": (1, "Meta"), "spec": (2, "BudgetSpec")},
    "PriorityClass": {
        "metadata": (1, "Meta"),
        "value": (2, "int32"),
        "globalDefault": (3, "bool"),
        "description": (4, "string"),
        "preemptionPolicy": (5, "string"),
    },
    "DeleteOptions": {
        "gracePeriodSeconds": (1, "int64"),
        "preconditions": (2, "Preconditions"),
        "propagationPolicy": (4, "string"),
        "dryRun": (5, "[string]"),
    },
}
_BODIES = (
    *("Namespace", "ConfigMap", "Secret", "ServiceAccount", "Pod", "Deployment"),
    *("PodDisruptionBudget", "PriorityClass", "DeleteOptions"),
)
_MAPS = {
    name
    for fields in _MESSAGES.values()
    for name, (_, kind) in fields.items()
    if kind.endswith("map")
}
_SCALARS = {
    "string": _Field.TYPE_STRING,
    "bytes": _Field.TYPE_BYTES,
    "int32": _Field.TYPE_INT32,
    "int64": _Field.TYPE_INT64,
    "bool": _Field.TYPE_BOOL,
}


def _describe() -> descriptor_pool.DescriptorPool:
    file = descriptor_pb2.FileDescriptorProto(name="demo.proto", package=_PACKAGE, syntax="proto2")
    for name, fields in _MESSAGES.items():
        described = file.message_type.add(name=name)
        for field, (number, kind) in fields.items():
            _add_field(described, field, number, kind)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return pool


def _add_field(owner: descriptor_pb2.DescriptorProto, name: str, number: int, kind: str) -> None:
    field = owner.field.add(name=name, json_name=name, number=number, label=_Field.LABEL_OPTIONAL)
    if kind.endswith("map"):
        entry = owner.nested_type.add(name=f"{name[0].upper()}{name[1:]}Entry")
        entry.options.map_entry = True
        _add_field(entry, "key", 1, "string")
        _add_field(entry, "value", 2, "bytes" if kind == "bytes map" else "string")
        kind = f"[{owner.name}.{entry.name}]"
    if kind.startswith("["):
        field.label, kind = _Field.LABEL_REPEATED, kind[1:-1]
    if kind in _SCALARS:
        field.type = _SCALARS[kind]
    else:
        field.type, field.type_name = _Field.TYPE_MESSAGE, f".{_PACKAGE}.{kind}"


_POOL = _describe()


def decode(body: bytes) -> JsonObject:
    """The object in a body of this media type, as its JSON.

    Raises:
        ApiError: 400, malformed; 415, an object that is read as JSON only.
    """
    if not body.startswith(_MAGIC):
        raise errors.bad_request("the body is no Kubernetes object in protobuf")
    try:
        envelope: Any = _parse("Unknown", body.removeprefix(_MAGIC))
        kind = envelope.typeMeta.kind
        if kind not in _BODIES:
            raise errors.unsupported_media_type(("application/json",))
        found = _without_empty(json_format.MessageToDict(_parse(kind, envelope.raw)))
    except (message.DecodeError, ValueError) as error:
        raise errors.bad_request(f"malformed protobuf: {error}") from error
    spec = found.get("spec", {})
    for name in ("minAvailable", "maxUnavailable"):
        if name in spec:
            # Type 1 is a string; the zero value of a number is left out.
            text = str(spec[name].get("type", "0")) == "1"
            spec[name] = spec[name].get("strVal", "") if text else spec[name].get("intVal", 0)
    if "gracePeriodSeconds" in found:
        # JSON of protobuf writes an int64 as a string.
        found["gracePeriodSeconds"] = int(found["gracePeriodSeconds"])
    return {"apiVersion": envelope.typeMeta.apiVersion, "kind": kind, **found}


def _without_empty(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Without the empty strings that Go writes for fields that are not set."""
    if isinstance(value, list):
        return [_without_empty(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        name: inner if name in _MAPS else _without_empty(inner)
        for name, inner in value.items()
        if inner != ""
    }


def _parse(name: str, data: bytes) -> message.Message:
    described = _POOL.FindMessageTypeByName(f"{_PACKAGE}.{name}")
    return message_factory.GetMessageClass(described).FromString(data)
