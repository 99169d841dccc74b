"""Kubernetes' protobuf, as `kubectl create namespace|configmap|deployment …` sends it.

kubectl's generated clients have no way back to JSON, so what they create is read: the fields that
those commands set, with the field numbers of k8s.io/api's .proto files. Everything else speaks
JSON, answers included.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.protobuf import (
    descriptor_pb2,
    descriptor_pool,
    json_format,
    message,
    message_factory,
    unknown_fields,
)

from bailiff_demo import errors

if TYPE_CHECKING:
    from bailiff_demo.objects import JsonObject

MEDIA_TYPE = "application/vnd.kubernetes.protobuf"
_MAGIC = b"k8s\x00"
_PACKAGE = "bailiff.demo"
_Field = descriptor_pb2.FieldDescriptorProto

# By message the fields, each as NUMBER NAME TYPE. A type in brackets repeats; a `map` is of strings
# to strings.
_MESSAGES = {
    "Nothing": "",
    "Unknown": "1 typeMeta TypeMeta, 2 raw bytes",
    "TypeMeta": "1 apiVersion string, 2 kind string",
    "Meta": "1 name string, 2 generateName string, 3 namespace string, 11 labels map, "
    "12 annotations map",
    "Selector": "1 matchLabels map",
    "Port": "1 name string, 3 containerPort int32, 4 protocol string",
    "EnvVar": "1 name string, 2 value string",
    "Container": "1 name string, 2 image string, 3 command [string], 4 args [string], "
    "6 ports [Port], 7 env [EnvVar]",
    "PodSpec": "2 containers [Container], 3 restartPolicy string, 10 nodeName string",
    "Template": "1 metadata Meta, 2 spec PodSpec",
    "DeploymentSpec": "1 replicas int32, 2 selector Selector, 3 template Template",
    "IntOrString": "1 type int64, 2 intVal int32, 3 strVal string",
    "BudgetSpec": "1 minAvailable IntOrString, 2 selector Selector, 3 maxUnavailable IntOrString",
    "Preconditions": "1 uid string, 2 resourceVersion string",
}
# What a body may be.
_BODIES = {
    "Namespace": "1 metadata Meta",
    "ConfigMap": "1 metadata Meta, 2 data map",
    "Secret": "1 metadata Meta, 2 data bytes-map, 3 type string",
    "ServiceAccount": "1 metadata Meta",
    "Deployment": "1 metadata Meta, 2 spec DeploymentSpec",
    "PodDisruptionBudget": "1 metadata Meta, 2 spec BudgetSpec",
    "PriorityClass": "1 metadata Meta, 2 value int32, 3 globalDefault bool, 4 description string, "
    "5 preemptionPolicy string",
    "DeleteOptions": "1 gracePeriodSeconds int64, 2 preconditions Preconditions, "
    "4 propagationPolicy string, 5 dryRun [string]",
}
_MAPS = {"labels", "annotations", "matchLabels", "data"}
_SCALARS = {
    "string": _Field.TYPE_STRING,
    "bytes": _Field.TYPE_BYTES,
    "int32": _Field.TYPE_INT32,
    "int64": _Field.TYPE_INT64,
    "bool": _Field.TYPE_BOOL,
}


def _describe() -> descriptor_pool.DescriptorPool:
    file = descriptor_pb2.FileDescriptorProto(name="demo.proto", package=_PACKAGE, syntax="proto2")
    for name, fields in {**_MESSAGES, **_BODIES}.items():
        described = file.message_type.add(name=name)
        for field in filter(None, fields.split(", ")):
            number, called, kind = field.split()
            _add_field(described, called, int(number), kind)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return pool


def _add_field(owner: descriptor_pb2.DescriptorProto, name: str, number: int, kind: str) -> None:
    field = owner.field.add(name=name, json_name=name, number=number, label=_Field.LABEL_OPTIONAL)
    if kind.endswith("map"):
        entry = owner.nested_type.add(name=f"{name[0].upper()}{name[1:]}Entry")
        entry.options.map_entry = True
        _add_field(entry, "key", 1, "string")
        _add_field(entry, "value", 2, "bytes" if kind == "bytes-map" else "string")
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
        parsed = _parse(kind, envelope.raw)
        if _loses(parsed):
            raise errors.unsupported_media_type(("application/json",))
        found = _without_empty(json_format.MessageToDict(parsed))
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


def _loses(parsed: message.Message) -> bool:
    """Whether it says something, here or below, that is in none of the tables."""
    unknown = unknown_fields.UnknownFieldSet(parsed)
    if not all(_is_nothing(unknown[index].data) for index in range(len(unknown))):
        return True
    for field, value in parsed.ListFields():
        items = value if field.is_repeated else [value]
        if any(isinstance(item, message.Message) and _loses(item) for item in items):
            return True
    return False


def _is_nothing(data: object) -> bool:
    """Whether a field is as good as absent: Go writes empty times, statuses and strings, too."""
    if not isinstance(data, bytes):
        return data == 0
    try:
        return not _loses(_parse("Nothing", data))
    except message.DecodeError:
        return False


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
