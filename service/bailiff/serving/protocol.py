"""A connection of HTTP whose client owes: a clock runs, and all that is held for it is counted."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from bailiff.serving.admission import SINCE, TURN
from bailiff.serving.bounds import Reason, written
from bailiff.serving.byte_budget import SMALL
from bailiff.serving.flow import Flow
from bailiff.serving.reading import Reading

if TYPE_CHECKING:
    import asyncio

    from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

    from bailiff.serving.bounds import Bounds, Refuse
    from bailiff.serving.byte_budget import ByteBudget
    from bailiff.serving.edge import Edge
    from bailiff.serving.intake import Intake
    from bailiff.serving.places import Place
    from bailiff.serving.refusals import Refusals

# Bytes of an answer that a connection takes at once, as asyncio has it without TLS. More than that
# is counted in the budget, until the client has read the most of it.
_HIGH_WATER = 64 * 1024
# Seconds. A clock that is set anew for less would run round and round.
_SHORTEST_CLOCK = 0.05
# Seconds for a client to read why it is refused.
_FAREWELL_SECONDS = 1.0
_NO_ROOM = "too many bytes are under way"


class BoundedProtocol(Reading):
    """Cuts off who sends or reads too slowly, or has too many bytes kept for it.

    Its clocks cost nothing where a request comes in one piece, and the answer goes in one, as
    nearly all do: a timer is set only while something is owed. Bodies count in the budget from
    their arrival to the end of the answer, answers while the client does not read them.
    """

    refuse_as: Refuse
    budget: ByteBudget
    intake: Intake
    refusals: Refusals
    place: Place

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - uvicorn's, passed on
        super().__init__(*args, **kwargs)
        self._sending_clock: asyncio.TimerHandle | None = None
        self._reading_clock: asyncio.TimerHandle | None = None
        # How long we had not read from it when the sending clock was set.
        self._paused_before = 0.0
        # Requests that have come, and those that were answered.
        self._acts = 0
        # What is being answered; `cycle` is the latest that was asked.
        self._answered: RequestResponseCycle | None = None
        # Bytes in the budget: of bodies, and of the answer that is not read.
        self._bodies = self._unread = 0

    # asyncio says BaseTransport, and hands over a Transport to a stream protocol; so does uvicorn.
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # noqa: D102
        super().connection_made(transport)
        # Until now, while TLS was being agreed on, the listener could give the place up.
        self.place.holder = self
        self.place.acts = lambda: self._acts
        self.flow = self._flow = Flow(transport)
        transport.set_write_buffer_limits(high=_HIGH_WATER)
        self.wait_for(Reason.SLOW_HEAD)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: D102 - uvicorn's
        self.place.leave()
        self.arrived()
        self._answer_read()
        self._give_back_bodies()
        self._tell_to_have_gone()
        super().connection_lost(exc)
        if self.pipeline:
            # Those hold the connection until they are answered, which they never will be.
            self.pipeline.clear()
            self.cycle = cast("RequestResponseCycle", self._answered)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:  # noqa: ANN401
        scope: Any = cycle.scope
        scope[SINCE] = self._came or monotonic()
        self._answered = cycle
        self._acts += 1
        super()._start_asgi_task(cycle, app)

    # What is owed to us.

    def wait_for(self, reason: Reason) -> None:
        """As Reading's; SLOW_HEAD or SLOW_BODY."""
        if self._sending_clock is None:
            of_head = reason is Reason.SLOW_HEAD
            bounds = self.bounds
            seconds = bounds.header_timeout_seconds if of_head else bounds.body_timeout_seconds
            self._set_sending_clock(seconds, reason)
            if not of_head:
                self.budget.owes(self, self.place.peer)

    def _set_sending_clock(self, seconds: float, reason: Reason) -> None:
        self._paused_before = self._flow.paused_seconds
        self._sending_clock = self.loop.call_later(seconds, self._sent_too_slowly, reason)

    def arrived(self) -> None:
        """As Reading's."""
        if self._sending_clock is not None:
            self._sending_clock.cancel()
            self._sending_clock = None
            self._settle()

    def _sent_too_slowly(self, reason: Reason) -> None:
        self._sending_clock = None
        paused = self._flow.paused_seconds - self._paused_before
        if paused:
            # For so long it was us who did not read.
            self._set_sending_clock(max(paused, _SHORTEST_CLOCK), reason)
        elif reason is Reason.SLOW_HEAD:
            self.refusals.count(reason, self._peer)
            self._hang_up()
        else:
            seconds = self.bounds.body_timeout_seconds
            self.refuse(reason, f"the body must arrive within {seconds:g} s")

    def _wait_for_reader(self) -> None:
        if self._reading_clock is None:
            seconds = self.bounds.answer_timeout_seconds
            self._reading_clock = self.loop.call_later(seconds, self._read_too_slowly)

    def _answer_read(self) -> None:
        if self._reading_clock is not None:
            self._reading_clock.cancel()
            self._reading_clock = None
            self._settle()
        self._give_back_unread()

    def _read_too_slowly(self) -> None:
        self.refusals.count(Reason.SLOW_READER, self._peer)
        self.transport.abort()

    def _settle(self) -> None:
        if self._sending_clock is None and self._reading_clock is None:
            self.budget.settled(self)

    def sent_much(self, length: int) -> None:
        """As Reading's."""
        if not self.transport.is_closing() and not self._flow.is_held:
            self._flow.hold()
            self.intake.wait(self._peer, length, self._flow.let_go)

    # What is held for the client.

    def on_body(self, body: bytes) -> None:  # noqa: D102 - uvicorn's
        if self.cycle.response_complete or self._is_over():
            return  # nobody will read it
        size = len(body)
        if not self._take(size, long=self._bodies + size > SMALL):
            self._refuse_bytes()
            return
        self._bodies += size
        Reading.on_body(self, body)

    def on_response_complete(self) -> None:  # noqa: D102 - uvicorn's
        self._acts += 1
        if self._bodies and self.cycle.response_complete:  # the latest that was asked
            self._give_back_bodies()
        HttpToolsProtocol.on_response_complete(self)
        if self.transport.is_closing():
            # It stays open until the client has read what is left.
            self._wait_for_reader()

    def pause_writing(self) -> None:  # noqa: D102 - uvicorn's
        super().pause_writing()
        self._wait_for_reader()
        size = self.transport.get_write_buffer_size()
        if self._take(size, long=size > SMALL):
            self._unread += size
            self.budget.owes(self, self.place.peer)
        else:
            self.refusals.count(Reason.BYTES, self._peer, _NO_ROOM)
            self.loop.call_soon(self.transport.abort)  # who writes here has not finished

    def resume_writing(self) -> None:  # noqa: D102 - uvicorn's
        super().resume_writing()
        if not self.transport.is_closing():
            self._answer_read()

    def cut(self) -> None:
        """Give back all that is held, and hang up: others need the room.

        Who has been refused has its answer, and loses the time to read it.
        """
        self._give_back_bodies()
        if self._unread or self._is_over():
            self._give_back_unread()
            self.refusals.count(Reason.BYTES, self._peer, _NO_ROOM)
            self.transport.abort()
        else:
            self._refuse_bytes()

    def _take(self, size: int, *, long: bool) -> bool:
        return self.budget.take(size, long=long, peer=self.place.peer)

    def _give_back_bodies(self) -> None:
        self.budget.give_back(self._bodies, self.place.peer)
        self._bodies = 0

    def _give_back_unread(self) -> None:
        self.budget.give_back(self._unread, self.place.peer)
        self._unread = 0

    # The end.

    def refuse(self, reason: Reason, detail: str) -> None:
        """Count it, answer it unless an answer has begun, and hang up."""
        self.refusals.count(reason, self._peer, detail)
        self._tell_to_have_gone()
        if not self._has_been_answered():
            self.transport.write(written(reason, *self.refuse_as(reason.status, detail)))
            if self.transport.can_write_eof():  # TLS has no half that could be closed
                self._linger()
                return
        self._hang_up()

    def _has_been_answered(self) -> bool:
        """A refusal would be taken for something else: an answer has begun, or is all there."""
        latest: RequestResponseCycle | None = self.cycle
        if latest is None or not latest.response_started:
            return False
        is_of_latest = self._in_message and not self._in_head
        return is_of_latest or not latest.response_complete

    def _linger(self) -> None:
        """Let the client read why, which it could not if it were hung up on while it sends."""
        self._is_refused = True
        self.transport.write_eof()
        self.flow.resume_reading()
        self._answer_read()
        self._reading_clock = self.loop.call_later(_FAREWELL_SECONDS, self.transport.abort)

    def _refuse_bytes(self) -> None:
        self.refuse(Reason.BYTES, _NO_ROOM)

    def make_room(self) -> bool:
        """End it for another's sake, unless it is our turn to do something for it."""
        if not (self._is_quiet() or self.budget.has_owed_for_long(self)):
            return False
        self.refusals.count(Reason.ROOM, self._peer)
        self._tell_to_have_gone()
        self.place.leave()
        self.transport.abort()
        return True

    def _is_quiet(self) -> bool:
        """Nothing is being answered, nor on its way to the client."""
        one = self._answered
        # One that waits for its turn has cost us nothing yet.
        is_at_work = (
            one is not None and not one.response_complete and TURN in cast("Any", one.scope)
        )
        return self._is_refused or not (is_at_work or self._unread)

    def timeout_keep_alive_handler(self) -> None:
        """Uvicorn's, for a connection that is idle."""
        self._hang_up()

    def _hang_up(self) -> None:
        """Close, which waits for the client to read what is left; but not for as long as it likes.

        Whoever answers the client is told at once that it has gone.
        """
        self._tell_to_have_gone()
        self.transport.close()
        self._wait_for_reader()

    def _tell_to_have_gone(self) -> None:
        for cycle in (self._answered, self.cycle):
            if cycle is not None and not cycle.response_complete:
                cycle.disconnected = True
                cycle.body = bytearray()  # nobody will read it
                cycle.message_event.set()


def bounded_protocol(bounds: Bounds, refuse: Refuse, edge: Edge) -> type[BoundedProtocol]:
    """The protocol with these bounds, and these words for what is beyond them."""
    of_port = {
        "budget": edge.budget,
        "intake": edge.intake,
        "pieces": edge.pieces,
        "refusals": edge.refusals,
        "bounds": bounds,
        "refuse_as": staticmethod(refuse),
    }
    return type("Bounded", (BoundedProtocol,), of_port)
