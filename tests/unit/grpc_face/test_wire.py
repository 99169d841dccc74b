"""What repeats is converted once, and what does not costs no memory."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.decisions import Decision, Finding, ObjectReference, Verdict
from bailiff.grpc_api.counting import count_fields
from bailiff.grpc_api.decisions import AnswerCache, write_decision
from bailiff.grpc_api.errors import FieldError
from bailiff.grpc_api.wire import Interned
from bailiff.turns import LONG_PROTOBUF
from bailiff.v1 import decision_pb2
from bailiff.v1 import eviction_decision_service_pb2 as pb
from bailiff.v1 import kubernetes_pb2 as kube
from tests.harness.clocks import START
from tests.harness.faces.go_bytes import integer, nested, varint
from tests.harness.faces.grpc_face import Face

TAINTED = kube.Node(spec=kube.NodeSpec(taints=[kube.Taint(key="a", effect="NoExecute")]))
TOLERANT = kube.Pod(spec=kube.PodSpec(tolerations=[kube.Toleration(operator="Exists")]))
BOUND = kube.Pod(spec=kube.PodSpec(node_name="n"))
NAMED = kube.Pod(metadata=kube.ObjectMeta(name="p"))
NODE = kube.Node(metadata=kube.ObjectMeta(name="n"))


@pytest.mark.parametrize(
    "pieces",
    [
        pytest.param([{"pod": TOLERANT, "node": TAINTED}, {"pod": NAMED}], id="a pod"),
        pytest.param([{"pod": NAMED}, {"pod": TOLERANT, "node": TAINTED}], id="the other way"),
        pytest.param([{"pod": TOLERANT, "node": NODE}, {"node": TAINTED}], id="a node"),
        pytest.param(
            [{"pod": BOUND, "node": NODE}, {"pod": TOLERANT, "node": TAINTED}], id="a spec"
        ),
    ],
)
@pytest.mark.parametrize("padding", [0, LONG_PROTOBUF], ids=["short", "long"])
async def test_a_message_in_pieces_is_the_whole(
    face: Face, pieces: list[dict[str, Any]], padding: int
) -> None:
    data = b"".join(pb.DecideRequest(**piece).SerializeToString() for piece in pieces)
    whole = pb.DecideRequest.FromString(data)
    data += nested(20_000, bytes(padding))  # a field that nobody knows
    told = pb.DecideResponse.FromString(await face.raw("Decide")(data))
    assert told == await face.stub.Decide(whole)
    assert told.decision.reason == "ToleratedForever"


def test_the_same_bytes_are_converted_once() -> None:
    seen: list[bytes] = []

    def convert(data: bytes) -> list[bytes]:
        seen.append(data)
        return [data]

    read = Interned(convert)
    assert read(b"a") is read(b"a") is read.known(b"a")
    assert seen == [b"a"]


def test_it_stays_small_whatever_comes() -> None:
    read = Interned(len)
    for number in range(3 * Interned.MAX_ENTRIES):
        read(number.to_bytes(4, "big"))
    assert len(read._values) <= Interned.MAX_ENTRIES
    assert read((1).to_bytes(4, "big")) == 4


@pytest.mark.parametrize(("size", "kept"), [(Interned.MAX_BYTES, True), (10_000, False)])
def test_only_what_is_short_is_kept(size: int, kept: bool) -> None:
    read = Interned(len)
    assert read(bytes(size)) == size
    assert (read.known(bytes(size)) is not None) is kept


def test_what_cannot_be_converted_is_not_kept() -> None:
    def fail(_: bytes) -> None:
        raise FieldError("no")

    read = Interned(fail)
    for _ in range(2):
        with pytest.raises(FieldError):
            read(b"a")
    assert not read._values


def test_answers_that_share_a_finding_are_each_about_their_own_node() -> None:
    finding = Finding(system="a", verdict=Verdict.KEEP, reason="NoTaint", message="none")
    kept = AnswerCache()
    for node in ("node-1", "node-2", "node-1"):
        decision = Decision(
            pod=ObjectReference(name=f"on-{node}"),
            node=node,
            verdict=Verdict.KEEP,
            decided_at=START,
            reason="NoTaint",
            message="none",
            findings=(finding,),
        )
        written = decision_pb2.Decision.FromString(write_decision(decision, kept))
        assert (written.pod.name, written.node) == (f"on-{node}", node)


# Fields by number: bytes, numbers of any size, fixed ones, and a group around others.
FIELDS = st.one_of(
    st.builds(nested, st.integers(1, 2**20), st.binary(max_size=300)),
    st.builds(integer, st.integers(1, 2**20), st.integers(0, 2**64 - 1)),
    st.binary(min_size=8, max_size=8).map(lambda data: varint(7 << 3 | 1) + data),
    st.binary(min_size=4, max_size=4).map(lambda data: varint(7 << 3 | 5) + data),
)


@given(fields=st.lists(FIELDS, max_size=20))
def test_fields_are_counted_as_they_stand_in_a_message(fields: list[bytes]) -> None:
    assert count_fields(b"".join(fields), 100) == len(fields)
    group = varint(9 << 3 | 3) + b"".join(fields) + varint(9 << 3 | 4)
    assert count_fields(group, 100) == len(fields) + 2


@given(data=st.binary(max_size=50))
def test_what_is_no_message_is_left_to_the_parser(data: bytes) -> None:
    assert count_fields(data, 100) <= len(data)


def test_counting_stops_where_there_are_too_many() -> None:
    assert count_fields(nested(1) * 1000, 10) == 11
