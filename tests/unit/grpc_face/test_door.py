"""Who gets through the door where it is full, and whose bytes make room for others'."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
from typing import TYPE_CHECKING, Any

import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc  # type: ignore[import-untyped]  # no types
from prometheus_client import CollectorRegistry

from bailiff.grpc_api import GrpcSettings
from bailiff.grpc_api.bounds import MessageBounds
from bailiff.grpc_api.connection import Connection
from bailiff.grpc_api.doorman import Doorman
from bailiff.grpc_api.errors import OverloadedError
from bailiff.grpc_api.frames import PREFACE
from bailiff.grpc_api.metrics import GrpcMetrics
from bailiff.serving import ByteBudget
from bailiff.serving.intake import LONG_PIECE, Intake
from bailiff.serving.places import Place
from bailiff.v1 import eviction_decision_service_pb2 as pb
from tests.harness.faces.grpc_face import NODE, POD, SERVICE, Face, running
from tests.harness.faces.http2 import DATA, HEADERS, Http2Client, frame, message

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

BATCH, STREAM = (f"/{SERVICE}/{name}" for name in ("DecideBatch", "DecideStream"))
REQUEST = pb.DecideRequest(pod=POD, node=NODE)
MIB, MB = 1024 * 1024, 1_000_000
LIMIT = 20.0  # seconds for anything here; it is never reached


async def is_answered(face: Face) -> bool:
    """Whether somebody who comes from 127.0.0.1, as nobody else here, is answered."""
    health = health_pb2_grpc.HealthStub(face.channel)
    told = await health.Check(health_pb2.HealthCheckRequest(), timeout=LIMIT)
    return bool(told.status == health_pb2.HealthCheckResponse.SERVING)


def ended(face: Face, reason: str) -> float:
    return face.sample("bailiff_grpc_connections_ended_total", reason=reason)


def seen(face: Face) -> float:
    """How many connections there are, and how many were refused."""
    return face.sample("bailiff_grpc_connections") + ended(face, "refused")


@contextlib.asynccontextmanager
async def connected(face: Face, *addresses: str) -> AsyncIterator[list[Http2Client]]:
    """Clients from these addresses, each once the server has it."""
    clients: list[Http2Client] = []
    before = seen(face)
    try:
        async with asyncio.timeout(LIMIT):
            clients += [await Http2Client.connect(face.port, address=one) for one in addresses]
            while seen(face) < before + len(addresses):
                await asyncio.sleep(0.01)
        yield clients
    finally:
        for one in clients:
            await one.close()


async def test_four_addresses_at_work_leave_places_to_others() -> None:
    settings = GrpcSettings(port=0, max_connections=32, max_connections_per_peer=8)
    crowd = [f"127.0.0.{number}" for number in (2, 3, 4, 5)] * 8
    async with running(settings) as face, connected(face, *crowd) as clients:
        for one in clients:
            one.call(STREAM)
        assert await is_answered(face)


async def test_a_quiet_connection_makes_room_and_one_with_a_call_does_not() -> None:
    two, others = ["127.0.0.2"] * 2, ["127.0.0.3", "127.0.0.4"]
    async with (
        running(GrpcSettings(port=0, max_connections=4)) as face,
        connected(face, *two, *others) as (busy, quiet, *more),
    ):
        stream = busy.call(STREAM)
        await busy.send(stream, message(b""))
        async with asyncio.timeout(LIMIT):
            while stream not in busy.answers:
                await asyncio.sleep(0.01)
        assert await is_answered(face)
        await asyncio.wait_for(quiet.closed.wait(), LIMIT)
        assert not any(one.closed.is_set() for one in (busy, *more))
        assert (ended(face, "room"), ended(face, "refused")) == (1, 0)


async def test_an_answer_that_is_on_its_way_keeps_its_connection(door: Door) -> None:
    one = door.connection("10.0.0.1")
    one.wire.unsent = 1
    assert not one.make_room()
    one.wire.unsent = 0
    assert one.make_room()
    assert one.wire.is_closing()


async def test_that_there_are_no_descriptors_left_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    short = [OSError(errno.EMFILE, "Too many open files")]
    accept = socket.socket.accept

    def accepted(listening: socket.socket) -> Any:
        if short:
            raise short.pop()
        return accept(listening)

    monkeypatch.setattr("bailiff.serving.listener._PAUSE", 0.05)
    monkeypatch.setattr(socket.socket, "accept", accepted)
    async with running() as face:
        assert await is_answered(face)
        assert ended(face, "open_files") == 1


# Bytes.


async def stall(client: Http2Client, size: int) -> asyncio.Task[None]:
    """Send a message but for its last byte, as far as it is taken."""
    return asyncio.create_task(client.send(client.call(BATCH), message(bytes(size))[:-1]))


@contextlib.asynccontextmanager
async def stalled(face: Face) -> AsyncIterator[None]:
    """Three addresses have begun messages of more bytes than there are."""
    addresses = [f"127.0.0.{number}" for number in (2, 3, 4)] * 2
    async with connected(face, *addresses) as clients:
        sending = [await stall(one, 2 * MIB) for one in clients]
        taken = -1
        async with asyncio.timeout(LIMIT):
            while face.budget.taken > taken or not taken:
                taken = face.budget.taken
                await asyncio.sleep(0.2)
        yield
        for one in sending:
            one.cancel()


async def test_long_messages_leave_a_quarter_of_the_bytes_to_others() -> None:
    budget = ByteBudget(4 * MIB, spared_seconds=2 * LIMIT)
    async with running(budget=budget) as face, stalled(face):
        assert 2 * MIB < budget.taken <= 3 * MIB
        assert budget.take(200_000)
        budget.give_back(200_000)


class Slow:
    """A client of another port, whose body has not come yet."""

    is_cut = False

    def cut(self) -> None:
        self.is_cut = True


async def test_who_stalls_for_longest_is_cut_off_where_others_need_the_room() -> None:
    budget, slow = ByteBudget(4 * MIB, spared_seconds=1), Slow()
    async with running(budget=budget) as face, stalled(face):
        budget.owes(slow)
        await asyncio.sleep(1.1)
        assert budget.take(MIB, long=True)
        assert not slow.is_cut
        assert ended(face, "bytes") > 0
        budget.give_back(MIB)
        assert await is_answered(face)


def test_a_long_question_leaves_a_quarter_of_the_bytes_while_it_is_answered() -> None:
    budget = ByteBudget(4 * MIB)
    bounds = MessageBounds(GrpcSettings(), budget)
    budget.take(3 * MIB)
    with pytest.raises(OverloadedError), bounds.admit(bytes(300 * 1024), 4 * MIB):
        pass
    with bounds.admit(bytes(200 * 1024), 4 * MIB):
        assert budget.taken > 3 * MIB


# Connections without sockets.


class Wire(asyncio.Transport):
    """The client's end of nothing."""

    def __init__(self) -> None:
        super().__init__()
        self._is_closing = False
        self.unsent = 0
        self.is_read = True

    def is_closing(self) -> bool:
        return self._is_closing

    def abort(self) -> None:
        self._is_closing = True

    def pause_reading(self) -> None:
        self.is_read = False

    def resume_reading(self) -> None:
        self.is_read = True

    def get_write_buffer_size(self) -> int:
        return self.unsent


class Led(Connection):
    """One that grpcio never gets."""

    wire: Wire


class Door:
    """Connections of a doorman, from wherever."""

    def __init__(self) -> None:
        self.now = 100.0
        self.budget = ByteBudget(MIB, clock=lambda: self.now)
        self.doorman = Doorman(
            GrpcSettings(),
            self.budget,
            GrpcMetrics(CollectorRegistry()),
            lambda address: address == "10.9.9.9",
            lambda: self.now,
            Intake(turn_bytes=LONG_PIECE),
        )
        self.made: list[Led] = []

    def connection(self, address: str) -> Led:
        place = self.doorman.places.take(address)
        assert isinstance(place, Place)
        made = Led(self.doorman, lambda _: None, place, secured=False)
        made.wire = Wire()
        made.connection_made(made.wire)
        made.inbound.feed(PREFACE, self.now)
        self.made.append(made)
        return made

    def hold(self, one: Led, size: int, stream: int = 1) -> bool:
        """Let it send so much of a message of 1 MB; whether there was room."""
        begun = frame(HEADERS, 4, stream) + frame(DATA, 0, stream, message(bytes(MB))[:5])
        pieces = [frame(DATA, 0, stream, bytes(10_000))] * (size // 10_000)
        one.inbound.feed(begun + b"".join(pieces), self.now)
        self.doorman.shares.weigh(one)
        return one.taken > 0


@pytest.fixture
async def door() -> AsyncIterator[Door]:
    """All that is held is given back in the end."""
    made = Door()
    yield made
    for one in made.made:
        for key in list(one.answers):
            one.end_answer(key)
        one.connection_lost(None)
    assert (made.budget.taken, made.doorman.places.taken) == (0, 0)


SAME = ("2001:db8::1", "2001:db8::2")
OTHER = "2001:db8:0:1::1"
PROXY = "10.9.9.9"


async def test_an_ipv6_network_is_one_peer(door: Door) -> None:
    one, two, other = (door.connection(address) for address in (*SAME, OTHER))
    assert (one.address, two.address) == SAME
    assert one.counted_as == two.counted_as != other.counted_as
    assert one.inbound.pacing is two.inbound.pacing is not other.inbound.pacing
    assert door.hold(one, 400_000)
    assert not door.hold(two, 400_000), "it has half of the bytes"
    assert door.hold(other, 300_000)


async def test_a_proxy_has_its_address_and_shares_nothing(door: Door) -> None:
    one, two = (door.connection(PROXY) for _ in range(2))
    assert (one.address, one.is_proxy) == (PROXY, True)
    assert one.inbound.pacing is not two.inbound.pacing
    assert door.hold(one, 400_000)
    assert door.hold(two, 300_000)


async def test_who_does_not_read_its_answers_is_cut_off_for_others(door: Door) -> None:
    unread, sending = door.connection("10.0.0.1"), door.connection("10.0.0.2")
    door.doorman.begin_answer(unread, "answer", 200_000)
    door.now += 0.5
    assert door.hold(sending, 300_000)
    door.now += 0.6
    assert door.budget.take(400_000)
    door.budget.give_back(400_000)
    assert (unread.wire.is_closing(), sending.wire.is_closing()) == (True, False)


async def test_who_cuts_itself_off_gives_all_back(door: Door) -> None:
    one = door.connection(PROXY)
    assert door.hold(one, 400_000)
    door.now += 2
    with contextlib.suppress(OverloadedError):
        door.doorman.begin_answer(one, "answer", 300_000)
    assert one.wire.is_closing()


async def test_who_waits_for_bytes_may_be_cut_off_to_make_room_for_itself(door: Door) -> None:
    door.budget.take(300_000)
    one = door.connection(PROXY)
    assert door.hold(one, 300_000)
    one.inbound.feed(frame(DATA, 0, 1, bytes(10_000)) * 25, door.now)
    door.doorman.shares.weigh(one)
    door.now += 2
    door.doorman.shares.feed()
    assert one.wire.is_closing()
    door.budget.give_back(300_000)


async def test_each_message_has_its_own_time(door: Door) -> None:
    one = door.connection("10.0.0.1")
    assert door.hold(one, 100_000, stream=1)
    for stream in range(3, 9, 2):
        door.now += 0.9
        assert door.hold(one, 100_000, stream)
        one.inbound.feed(frame(DATA, 1, stream - 2, bytes(MB - 100_000)), door.now)
        door.doorman.shares.weigh(one)
        assert not door.budget.has_owed_for_long(one)
        assert 0 < door.budget.taken < 100_000
    door.now += 1.1
    assert door.budget.has_owed_for_long(one)


async def test_a_message_is_long_by_what_its_head_says(door: Door) -> None:
    # More than the three quarters that long ones may have would be held.
    door.budget.take(720_000)
    one = door.connection("10.0.0.1")
    assert not door.hold(one, 100_000)
    door.budget.give_back(720_000)


async def test_who_sends_much_is_read_from_in_its_turn(door: Door) -> None:
    one, two, few = (door.connection(address) for address in ("10.0.0.1", "10.0.0.2", "10.0.0.3"))
    for sending in (one, two):
        sending.data_received(bytes(LONG_PIECE))
    few.data_received(bytes(LONG_PIECE - 1))
    assert [made.wire.is_read for made in door.made] == [False, False, True]
    await asyncio.sleep(0)
    # One turn has room for one of them, the next one for the other.
    assert [made.wire.is_read for made in door.made] == [True, False, True]
    await asyncio.sleep(0)
    assert all(made.wire.is_read for made in door.made)


async def test_who_has_no_room_is_not_read_from_in_its_turn_either(door: Door) -> None:
    one = door.connection("10.0.0.1")
    one.data_received(bytes(LONG_PIECE))
    one.block(True)
    for _ in range(2):
        await asyncio.sleep(0)
    assert not one.wire.is_read
    one.block(False)
    assert one.wire.is_read


async def test_of_what_comes_before_grpcio_is_there_little_is_read(door: Door) -> None:
    one = door.connection("10.0.0.1")
    for _ in range(4):
        one.data_received(bytes(LONG_PIECE))
        await asyncio.sleep(0)
        assert one.wire.is_read
    one.data_received(b"1")
    await asyncio.sleep(0)
    assert not one.wire.is_read
