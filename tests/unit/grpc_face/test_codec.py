"""Values of the core and messages go together by the names of their fields, and by nothing else."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import msgspec
import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from msgspec import Meta
from msgspec import inspect as types

from bailiff.decisions import SYSTEMS, ObjectReference, Verdict
from bailiff.decisions.decision import TraceStep
from bailiff.decisions.device_taints.claims import DeviceTaintSource
from bailiff.decisions.device_taints.findings import DeviceTaintSubject
from bailiff.decisions.node_taints import NodeTaintSubject
from bailiff.grpc_api.errors import FieldError, snake
from bailiff.grpc_api.fields import OTHERS, fields_of, is_union, message_of
from bailiff.grpc_api.reading import READERS
from bailiff.grpc_api.services import method_of
from bailiff.grpc_api.writing import Writers
from bailiff.kinds import Pod, Taint, Time, Toleration
from bailiff.kinds.meta import Int32, Value
from bailiff.v1 import decision_pb2, kubernetes_pb2
from bailiff.v1 import eviction_decision_service_pb2 as pb
from tests.harness.clocks import START

if TYPE_CHECKING:
    from collections.abc import Iterator

    from google.protobuf.descriptor import Descriptor
    from google.protobuf.message import Message

    from bailiff.grpc_api.fields import Structure

T = TypeVar("T", bound=msgspec.Struct)

SUBJECTS = {one.__struct_config__.tag: one for one in SYSTEMS.subjects}


def pairs() -> Iterator[tuple[Structure, Descriptor]]:
    """Every type of a question, an answer and what is in them, with its message."""
    seen: set[tuple[Structure, str]] = set()
    todo: list[tuple[Structure, Descriptor]] = []
    for name, question in SYSTEMS.questions.items():
        method = method_of(question)
        assert method is not None, name
        todo += [(question.facts, method.input_type), (question.answer, method.output_type)]
    while todo:
        structure, message = todo.pop()
        if (structure, message.full_name) in seen or set(message.fields_by_name) == {"raw"}:
            continue
        seen.add((structure, message.full_name))
        yield structure, message
        todo += within(structure, message)


def within(structure: Structure, message: Descriptor) -> Iterator[tuple[Structure, Descriptor]]:
    for field in fields_of(structure, message):
        if not isinstance(field.kind, types.StructType) or field.place is None:
            continue
        found = message_of(field.place)
        if is_union(found):
            for tag, subject in SUBJECTS.items():
                yield subject, message_of(found.fields_by_name[snake(str(tag))])
        elif not found.GetOptions().map_entry:
            yield field.kind.cls, found


PAIRS = list(pairs())


@pytest.mark.parametrize(
    ("structure", "message"), PAIRS, ids=[f"{s.__name__}-{m.name}" for s, m in PAIRS]
)
def test_a_type_and_its_message_have_the_same_fields(
    structure: Structure, message: Descriptor
) -> None:
    ours = {field.name: field for field in fields_of(structure, message)}
    left = set(message.fields_by_name) - set(ours) - {OTHERS}
    # The metadata of nodes alone is read with its managed fields; a Volume's source is embedded.
    assert left == {"ObjectMeta": {"managed_fields"}, "Volume": {"volume_source"}}.get(
        structure.__name__, set()
    )
    for field in ours.values():
        assert field.place is not None, field.name
        # Reports are told by the systems' names, which have hyphens.
        assert re.sub("-(.)", lambda at: at[1].upper(), field.written) == field.place.json_name
        if field.is_optional and message_kind(field) == "scalar":
            assert field.place.has_presence, field.name


def message_kind(field: Any) -> str:
    return "message" if field.place.message_type is not None else "scalar"


def test_the_types_are_all_found() -> None:
    found = {structure.__name__ for structure, _ in PAIRS}
    assert {"Pod", "NodeMeta", "ResourceSlice", "ClaimDecision", "NodeTaintSubject"} <= found
    assert len(PAIRS) > 50


def write_step(subject: Any) -> decision_pb2.TraceStep:
    step = TraceStep(rule="r", outcome="o", message="m", subject=subject)
    write = Writers({}).of(TraceStep, decision_pb2.TraceStep.DESCRIPTOR)
    return decision_pb2.TraceStep.FromString(write(step, None))


def test_what_may_be_absent_is_told_from_zero() -> None:
    zero = NodeTaintSubject(
        taint=Taint(key="a"),
        taint_index=0,
        toleration=Toleration(toleration_seconds=0),
        toleration_index=0,
    )
    told = write_step(zero).subject.node_taint
    assert told.HasField("toleration_index")
    assert told.toleration.HasField("toleration_seconds")
    assert not told.HasField("added_at")
    absent = DeviceTaintSubject(
        device=DeviceTaintSource(claim=ObjectReference()), taint=Taint(key="a")
    )
    other = write_step(absent).subject.device_taint
    assert other.HasField("device")
    assert not other.HasField("toleration_index")
    assert not other.HasField("toleration")


class Colour(StrEnum):
    RED = "red"


class Short(Value, frozen=True):
    key: Annotated[str, Meta(max_length=3)] = ""


class Patterned(Value, frozen=True):
    key: Annotated[str, Meta(pattern="^a")] = ""


class AllPatterned(Value, frozen=True):
    systems: tuple[Annotated[str, Meta(pattern="^a")], ...] = ()


class AllShort(Value, frozen=True):
    systems: tuple[Annotated[str, Meta(max_length=3)], ...] = ()


class Positive(Value, frozen=True):
    priority: Annotated[int, Meta(ge=0)] = 0


class Needed(Value, frozen=True):
    time_added: Time


class Judged(Value, frozen=True):
    verdict: Verdict


class Unknown(Value, frozen=True):
    colour: str = ""


class Absentable(Value, frozen=True):
    key: str | None = None


class Coloured(Value, frozen=True):
    verdict: Colour = Colour.RED


def read(structure: type[T], message: Any) -> T:
    data = message.SerializeToString()
    value: T = READERS.of_message(structure, message.DESCRIPTOR)(
        READERS.parser(message.DESCRIPTOR)(data)
    )
    return value


@pytest.mark.parametrize(
    ("structure", "good", "bad", "path"),
    [
        (Short, kubernetes_pb2.Taint(key="abc"), kubernetes_pb2.Taint(key="abcd"), "key"),
        (Short, kubernetes_pb2.Taint(key="äöü"), kubernetes_pb2.Taint(key="äöüß"), "key"),
        (Patterned, kubernetes_pb2.Taint(key="ab"), kubernetes_pb2.Taint(key="ba"), "key"),
        (
            Positive,
            kubernetes_pb2.PodSpec(priority=0),
            kubernetes_pb2.PodSpec(priority=-1),
            "priority",
        ),
        (
            AllPatterned,
            pb.DecideRequest(systems=["a", "ab"]),
            pb.DecideRequest(systems=["a", "b"]),
            "systems[1]",
        ),
        (
            AllShort,
            pb.DecideRequest(systems=["abc"]),
            pb.DecideRequest(systems=["abc", "abcd"]),
            "systems[1]",
        ),
        (
            Needed,
            kubernetes_pb2.Taint(time_added=Timestamp(seconds=1)),
            kubernetes_pb2.Taint(),
            "time_added",
        ),
        (
            Judged,
            decision_pb2.Finding(verdict=decision_pb2.VERDICT_KEEP),
            decision_pb2.Finding(),
            "verdict",
        ),
    ],
    ids=[
        "characters",
        "not bytes",
        "pattern",
        "number",
        "pattern in a list",
        "characters in a list",
        "missing",
        "unspecified",
    ],
)
def test_what_a_type_allows_is_held(
    structure: type[msgspec.Struct], good: Message, bad: Message, path: str
) -> None:
    assert read(structure, good)
    with pytest.raises(FieldError) as caught:
        read(structure, bad)
    assert caught.value.path == path


@pytest.mark.parametrize(
    ("structure", "message"),
    [
        (Unknown, kubernetes_pb2.Taint),
        (Absentable, kubernetes_pb2.Taint),
        (Coloured, decision_pb2.Finding),
        (Judged, decision_pb2.TraceStep),
    ],
    ids=["no such field", "never absent", "another enumeration", "no such field either"],
)
def test_what_does_not_go_together_is_seen_at_start(
    structure: type[msgspec.Struct], message: Any
) -> None:
    for make in (READERS.of_message, Writers({}).of):
        with pytest.raises((TypeError, KeyError)):
            make(structure, message.DESCRIPTOR)


class Lights(Value, frozen=True):
    """The section of a system that the protos do not know."""

    out_at: Time
    steps: tuple[Int32, ...] = ()


class LightsRequest(Value, frozen=True):
    pod: Pod = Pod()
    street_lights: Lights | None = None


class LightsNeeded(Value, frozen=True):
    street_lights: Lights


def lights(**section: Any) -> pb.DecideRequest:
    request = pb.DecideRequest()
    request.others["streetLights"].update(section)
    return request


def test_a_section_that_the_protos_do_not_know_is_read_as_rest_reads_it() -> None:
    asked = read(LightsRequest, lights(outAt="2026-01-01T00:00:00Z", steps=[1, 2], more=None))
    assert asked.street_lights == Lights(out_at=START, steps=(1, 2))
    assert read(LightsRequest, pb.DecideRequest()).street_lights is None


@pytest.mark.parametrize("structure", [LightsRequest, SYSTEMS.questions["decide"].facts])
def test_a_section_that_a_question_has_not_is_refused_as_over_rest(structure: Any) -> None:
    request = pb.DecideRequest()
    request.others["stretLights"].update({})
    with pytest.raises(FieldError, match="unknown field, allowed are ") as caught:
        read(structure, request)
    assert caught.value.path == "others['stretLights']"


@pytest.mark.parametrize(
    ("request_", "path"),
    [
        (pb.DecideRequest(), "others['streetLights']"),
        (lights(), "others['streetLights'].out_at"),
        (lights(outAt=7), "others['streetLights'].out_at"),
        (lights(outAt="2026-01-01T00:00:00Z", steps=["a"]), "others['streetLights'].steps[0]"),
    ],
    ids=["absent", "empty", "wrong", "deep"],
)
def test_what_is_wrong_with_it_is_named(request_: pb.DecideRequest, path: str) -> None:
    with pytest.raises(FieldError) as caught:
        read(LightsNeeded, request_)
    assert caught.value.path == path
