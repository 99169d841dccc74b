"""Maps of messages, and messages that stand for a text: what the containers of a pod consist of.

No message of the protos has a map of messages yet, so the ones here are made for the test, with the
names and numbers that Kubernetes gives to containers and their resources.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import copy_context
from typing import Annotated, Any

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from msgspec import Meta

from bailiff.grpc_api import counting
from bailiff.grpc_api.errors import FieldError
from bailiff.grpc_api.reading import READERS, Readers
from bailiff.grpc_api.wire import Wire
from bailiff.kinds.meta import Value
from bailiff.v1 import kubernetes_pb2

F = descriptor_pb2.FieldDescriptorProto
Quantity = Annotated[str, Meta(max_length=6)]


class Port(Value, frozen=True):
    name: Annotated[str, Meta(max_length=3)] = ""


class Container(Value, frozen=True):
    requests: Mapping[str, Quantity] = {}
    ports: Mapping[str, Port] = {}
    size_limit: Quantity = ""


class Numbered(Value, frozen=True):
    labels: Mapping[str, int] = {}


class OfNumbers(Value, frozen=True):
    requests: Mapping[str, int] = {}


class OfTexts(Value, frozen=True):
    ports: Mapping[str, str] = {}


def message_field(name: str, number: int, of: str, label: Any = F.LABEL_OPTIONAL) -> Any:
    return F(name=name, number=number, label=label, type=F.TYPE_MESSAGE, type_name=of)


def entry(name: str, of: str) -> Any:
    made = descriptor_pb2.DescriptorProto(name=name)
    made.options.map_entry = True
    made.field.add(name="key", number=1, label=F.LABEL_OPTIONAL, type=F.TYPE_STRING)
    made.field.append(message_field("value", 2, of))
    return made


def made_up() -> Any:
    file = descriptor_pb2.FileDescriptorProto(
        name="bailiff/v1/containers.proto", package="bailiff.v1", syntax="proto3"
    )
    for text, name in (("Quantity", "string"), ("Port", "name")):
        message = file.message_type.add(name=text)
        message.field.add(name=name, number=1, label=F.LABEL_OPTIONAL, type=F.TYPE_STRING)
    container = file.message_type.add(name="Container")
    for number, name, of in ((2, "Requests", "Quantity"), (3, "Ports", "Port")):
        made = entry(f"{name}Entry", f".bailiff.v1.{of}")
        container.nested_type.append(made)
        place = f".bailiff.v1.Container.{made.name}"
        container.field.append(message_field(name.lower(), number, place, F.LABEL_REPEATED))
    container.field.append(message_field("size_limit", 4, ".bailiff.v1.Quantity"))
    return descriptor_pool.DescriptorPool().AddSerializedFile(file.SerializeToString())


FILE = made_up()
MESSAGE = FILE.message_types_by_name["Container"]
MADE_UP = Readers(Wire(files=(FILE,)))


def container(**amounts: str) -> Any:
    message: Any = message_factory.GetMessageClass(MESSAGE)()
    for resource, amount in amounts.items():
        message.requests[resource].string = amount
    return message


def read(message: Any) -> Any:
    parsed = MADE_UP.parser(MESSAGE)(message.SerializeToString())
    return MADE_UP.of_message(Container, MESSAGE)(parsed)


def test_a_map_of_messages_is_read_by_its_keys() -> None:
    message = container(cpu="100m", memory="1Gi")
    message.ports["http"].name = "web"
    message.size_limit.string = "5Gi"
    expected = Container(
        requests={"cpu": "100m", "memory": "1Gi"}, ports={"http": Port("web")}, size_limit="5Gi"
    )
    assert read(message) == expected
    assert read(container()) == Container()


def test_an_empty_message_stands_for_the_zero_value() -> None:
    message = container(cpu="")
    message.ports["http"].SetInParent()
    assert read(message) == Container(requests={"cpu": ""}, ports={"http": Port()})


def test_what_is_wrong_in_a_map_is_told_by_its_key() -> None:
    with pytest.raises(FieldError) as caught:
        read(container(cpu="100m", memory="1234567"))
    assert caught.value.path == "requests['memory']"
    assert "at most 6 characters" in caught.value.reason
    message = container()
    message.ports["http"].name = "long"
    with pytest.raises(FieldError) as caught:
        read(message)
    assert caught.value.path == "ports['http'].name"


def test_the_entries_of_a_map_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def ask() -> None:
        counting.begin_counting()
        read(container(a="1", b="2", c="3"))

    monkeypatch.setattr(counting, "MAX_ITEMS", 2)
    with pytest.raises(FieldError) as caught:
        copy_context().run(ask)
    assert caught.value.path == "requests"


@pytest.mark.parametrize("structure", [OfNumbers, OfTexts])
def test_a_map_whose_values_are_something_else_is_seen_at_start(structure: Any) -> None:
    with pytest.raises(TypeError, match=r"bailiff\.v1\.\w+ is no"):
        MADE_UP.of_message(structure, MESSAGE)


def test_a_map_of_what_is_no_message_is_one_of_texts() -> None:
    with pytest.raises(TypeError, match="no map of texts"):
        READERS.of_message(Numbered, kubernetes_pb2.ObjectMeta.DESCRIPTOR)
