"""Who is let in: a place for each call, its message in time, its answer read in time.

grpcio reads the message of a call with one request before it asks us, for as long as that takes. So
such methods are served as if they had a stream of requests, which is the same on the wire, and the
one message is read here.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import grpc

from bailiff.grpc_api.byte_shares import FREE_BYTES
from bailiff.grpc_api.errors import IdleError, MalformedError, OverloadedError, SlowBodyError
from bailiff.grpc_api.following import Following
from bailiff.turns import ASKED_FROM, WaitedTooLongError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from bailiff.grpc_api.connection import Connection
    from bailiff.grpc_api.doorman import Doorman
    from bailiff.grpc_api.interceptors import Behaviour, Context
    from bailiff.grpc_api.places import Place, Places
    from bailiff.serving import Gate


class Waiting(NamedTuple):
    """How many seconds calls of one kind may wait for their clients.

    Attributes:
        first: for the one message that they have.
        between: for each message of those that have several; None: they have one.
        follow: they are answered for as long as their clients like, and make room for others then.
    """

    first: float
    between: float | None = None
    follow: bool = False


class Admission:
    """Lets calls in, to read their messages and to be answered."""

    def __init__(
        self,
        places: Places,
        doorman: Doorman,
        waiting: Waiting,
        queue_age: float = math.inf,
        gate: Gate | None = None,
    ) -> None:
        """Prepare.

        Args:
            places: what such calls take.
            doorman: who knows their connections.
            waiting: how long they may wait for their clients.
            queue_age: seconds that they may have waited for us.
            gate: through which what is read is answered; None: at once.
        """
        self._gate = gate
        self._queue_age = queue_age
        self._places = places
        self._doorman = doorman
        self._waiting = waiting

    def around(self, method: str, serve: Behaviour) -> Behaviour:  # noqa: ARG002 - alike for all
        """As `serve`, for calls that are let in; it gets the message, or an iterator of them."""
        waiting = self._waiting
        if waiting.follow:
            return self._around_follower(serve, waiting.first)
        if waiting.between is None:
            return self._around_one(serve, waiting.first)
        return self._around_many(serve, waiting.between)

    def _around_one(self, serve: Behaviour, seconds: float) -> Behaviour:
        places, doorman, gate = self._places, self._doorman, self._gate

        async def admitted(_requests: Any, context: Context) -> bytes | None:  # noqa: ANN401 - see Behaviour
            connection = self._connection(context)
            with places.enter(connection.counted_as, seconds) as place:
                data = await _only_message(context)
                places.work(place)
                if gate is not None and not gate.enter():
                    await self._wait(gate, connection)
                answer = await serve(data, _watched(context, connection, doorman))
            if answer is not None and _length(answer) > FREE_BYTES:
                # grpcio writes it once we are through, and tells when it is written.
                doorman.begin_answer(connection, context, _length(answer))
                context.add_done_callback(cast("Any", connection.end_answer))
            return answer

        return admitted

    def _around_follower(self, serve: Behaviour, seconds: float) -> Behaviour:
        places, doorman = self._places, self._doorman

        async def admitted(_requests: Any, context: Context) -> bytes | None:  # noqa: ANN401 - see Behaviour
            connection = self._connection(context)
            with places.enter(connection.counted_as, seconds) as place:
                data = await _only_message(context)
                places.wait(place, math.inf)
                following = Following(_watched(context, connection, doorman), connection)
                try:
                    return await serve(data, cast("Context", following))
                finally:
                    await following.end()

        return admitted

    def _around_many(self, serve: Behaviour, seconds: float) -> Behaviour:
        places, doorman, gate = self._places, self._doorman, self._gate

        async def admitted(_requests: Any, context: Context) -> bytes | None:  # noqa: ANN401 - see Behaviour
            connection = self._connection(context)

            async def messages(place: Place) -> AsyncIterator[Any]:
                read: Callable[[], Awaitable[Any]] = context.read
                while (data := await read()) is not grpc.aio.EOF:
                    places.work(place)
                    if gate is not None and not gate.enter():
                        await self._wait(gate, connection)
                    yield data
                    places.wait(place, seconds)

            with places.enter(connection.counted_as, seconds) as place:
                return await serve(messages(place), _watched(context, connection, doorman))

        return admitted

    async def _wait(self, gate: Gate, connection: Connection) -> None:
        """Until a turn of the event loop has room for what was read."""
        try:
            await gate.wait(connection.address, self._queue_age)
        except WaitedTooLongError as error:
            raise OverloadedError(f"the message has waited: {error}") from error

    def _connection(self, context: Context) -> Connection:
        connection = self._doorman.find(context.peer())
        if connection is None:
            raise OverloadedError("the connection has ended")
        return connection


class Beginning:
    """Tells the door of each call that grpcio has handed over, and refuses those that come late."""

    def __init__(self, doorman: Doorman, queue_age: float) -> None:
        """Prepare; calls may have waited for so many seconds."""
        self._doorman = doorman
        self._queue_age = queue_age

    def around(self, method: str, serve: Behaviour) -> Behaviour:  # noqa: ARG002 - alike for all
        """As `serve`, for calls that come in time."""
        find, now, most = self._doorman.find, self._doorman.now, self._queue_age

        async def begun(request: Any, context: Context) -> bytes | None:  # noqa: ANN401 - see Behaviour
            connection = find(context.peer())
            if connection is None:
                return await serve(request, context)  # which refuses it where that matters
            came = connection.inbound.serve()
            ASKED_FROM.set(connection.counted_as)
            connection.active += 1
            try:
                if came is not None and now() - came > most:
                    raise OverloadedError(f"the call has waited for more than {most:g} s")
                return await serve(request, context)
            finally:
                connection.active -= 1

        return begun


async def _only_message(context: Context) -> Any:  # noqa: ANN401 - bytes, or a message of a standard service
    data: Any = await context.read()
    if data is grpc.aio.EOF:
        raise MalformedError("the call has no message")
    return data


def _length(answer: object) -> int:
    """Bytes of an answer; those of the standard services are short."""
    return len(answer) if isinstance(answer, bytes) else 0


def _watched(context: Context, connection: Connection, doorman: Doorman) -> Context:
    return cast("Context", Writing(context, connection, doorman))


class Writing:
    """A call's context, of which the answers that are not read are known."""

    __slots__ = ("_connection", "_context", "_doorman")

    def __init__(self, context: Context, connection: Connection, doorman: Doorman) -> None:
        self._context = context
        self._connection = connection
        self._doorman = doorman

    async def write(self, answer: Any) -> None:  # noqa: ANN401 - bytes, or a message of a standard service
        """Write an answer; waits while the client does not read."""
        self._doorman.begin_answer(self._connection, self, _length(answer))
        try:
            await self._context.write(answer)
        finally:
            self._connection.end_answer(self)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever grpcio has
        return getattr(self._context, name)


def too_slow(seconds: float) -> Callable[[], SlowBodyError]:
    """What a call is told that has not sent its message in so many seconds."""
    return lambda: SlowBodyError(f"the message did not come within {seconds:g} s")


def too_idle(seconds: float) -> Callable[[], IdleError]:
    """The same of a stream."""
    return lambda: IdleError(f"nothing was sent in this stream for {seconds:g} s")
