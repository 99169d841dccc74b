"""What repeats is converted once, and what does not costs no memory."""

from __future__ import annotations

import pytest

from bailiff.decisions import Decision, Finding, ObjectReference, Verdict
from bailiff.grpc_api.decisions import DecisionWriter
from bailiff.grpc_api.errors import FieldError
from bailiff.grpc_api.wire import Interned
from bailiff.v1 import decision_pb2
from tests.harness.clocks import START


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
    writer = DecisionWriter()
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
        written = decision_pb2.Decision.FromString(writer.write(decision))
        assert (written.pod.name, written.node) == (f"on-{node}", node)
