"""The loop of the health port: accepts, reads one short request, answers, hangs up."""

from __future__ import annotations

import contextlib
import selectors
import socket
import time
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import httptools

from bailiff.serving.pace import Pace

if TYPE_CHECKING:
    from collections.abc import Callable

    from bailiff.serving.pulse import Answer, Pulse

# Connections that are accepted in one round: some 5 ms of work.
_ROUND = 256
# Of a request; the kubelet's have about 120.
_MAX_BYTES = 4096
# Of an answer; it fits into any socket, so that no answer is waited for.
_MAX_TEXT = 2000
# Seconds after which accepting is tried again where the process has no file descriptor left.
_NO_ROOM = 0.1

_REASONS = {
    200: "OK",
    400: "Bad Request",
    404: "Not Found",
    405: "Method Not Allowed",
    431: "Request Header Fields Too Large",
    503: "Service Unavailable",
}


class ProbeBounds(NamedTuple):
    """What the port bears.

    Attributes:
        connections: at a time; of more the oldest are closed.
        patience: seconds for a request to come.
        share: of one core that the thread takes; a tenth answers some thousand probes a second.
    """

    connections: int = 64
    patience: float = 5.0
    share: float = 0.1


class _Waiting:
    """A connection whose request has not come in whole."""

    __slots__ = ("got", "socket", "until")

    def __init__(self, connection: socket.socket, until: float) -> None:
        self.socket, self.until = connection, until
        self.got = b""


class _Head:
    """Takes in what the parser reads."""

    def __init__(self) -> None:
        self.url = b""

    def on_url(self, url: bytes) -> None:
        """A piece of the target."""
        self.url += url


class Probes:
    """Answers until it is told to stop. One thread owns it."""

    def __init__(
        self, pulse: Pulse, listener: socket.socket, told: socket.socket, bounds: ProbeBounds
    ) -> None:
        """Prepare.

        Args:
            pulse: what is answered by.
            listener: listens, and never blocks; closed at the end.
            told: readable as soon as this is to stop; closed at the end.
            bounds: see there.
        """
        self._pages: dict[bytes, Callable[[], Answer]] = {
            b"/healthz": pulse.health,
            b"/readyz": pulse.readiness,
        }
        self._listener, self._told = listener, told
        self._bounds = bounds
        # The one that has waited for longest is the first.
        self._waiting: dict[socket.socket, _Waiting] = {}
        # Those that the latest round has accepted.
        self._new: list[_Waiting] = []

    def run(self) -> None:
        """Answer; returns soon after it has been told to stop."""
        pace = Pace(self._bounds.share)
        with self._listener, self._told, selectors.DefaultSelector() as self._ready:
            for one in (self._listener, self._told):
                self._ready.register(one, selectors.EVENT_READ)
            try:
                while self._round():
                    time.sleep(pace.pause())
            finally:
                for one in list(self._waiting):
                    self._drop(one)
                for new in self._new:
                    new.socket.close()

    def _round(self) -> bool:
        """Look at whatever is ready; False: it is time to stop."""
        ready = {key.fileobj for key, _ in self._ready.select(self._time_left())}
        # Those that are here already come before those that are new, which may take their places.
        for one in ready & self._waiting.keys():
            there = cast("socket.socket", one)
            if self._is_over(self._waiting[there]):
                self._drop(there)
        if self._listener in ready:
            self._accept()
        self._drop_late()
        return self._told not in ready

    def _time_left(self) -> float | None:
        """Seconds until the oldest has waited too long; None: there is none."""
        first = next(iter(self._waiting.values()), None)
        return None if first is None else max(0.0, first.until - time.monotonic())

    def _drop_late(self) -> None:
        now = time.monotonic()
        while self._waiting:
            one, waiting = next(iter(self._waiting.items()))
            if waiting.until > now:
                return
            self._drop(one)

    def _accept(self) -> None:
        """Take those that are new; who asks at once, as the kubelet does, is answered at once."""
        silent = []
        self._new = self._accepted()
        for one in self._new:
            if self._is_over(one):
                one.socket.close()
            else:
                silent.append(one)
        # To have one watched takes the kernel as long as to accept it: not those that go at once.
        going = max(0, len(silent) - self._bounds.connections)
        for one in silent[:going]:
            one.socket.close()
        for one in silent[going:]:
            self._keep(one)

    def _accepted(self) -> list[_Waiting]:
        """As many as a round may have."""
        until = time.monotonic() + self._bounds.patience
        accepted: list[_Waiting] = []
        while len(accepted) < _ROUND:
            try:
                accepted.append(_Waiting(self._listener.accept()[0], until))
            except BlockingIOError:
                break
            except ConnectionError:  # it has hung up already
                continue
            except OSError:  # no file descriptor is left; the connection stays in the queue
                time.sleep(_NO_ROOM)
                break
        return accepted

    def _keep(self, one: _Waiting) -> None:
        """Wait for its request; the one that has waited for longest makes room."""
        if len(self._waiting) >= self._bounds.connections:
            self._drop(next(iter(self._waiting)))
        self._waiting[one.socket] = one
        self._ready.register(one.socket, selectors.EVENT_READ)

    def _is_over(self, one: _Waiting) -> bool:
        """Read, and answer what has come in whole; whether that was all, and it is to be closed."""
        try:
            data = one.socket.recv(_MAX_BYTES, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except OSError:  # reset by the client
            data = b""
        one.got += data
        if len(one.got) > _MAX_BYTES:
            _answer(one.socket, 431, f"at most {_MAX_BYTES} bytes are allowed")
        elif b"\r\n\r\n" in one.got:
            _answer(one.socket, *self._look_up(one.got))
        elif data:
            return False
        return True

    def _look_up(self, request: bytes) -> tuple[int, str, bool]:
        """Status and text of the answer to a whole head, and whether the text is asked for."""
        method, path = _read_head(request)
        page = self._pages.get(path)
        if not method:
            return 400, "not an HTTP request", True
        if page is None:
            return 404, "here are /healthz and /readyz", True
        if method not in {b"GET", b"HEAD"}:
            return 405, "only GET and HEAD are answered", True
        is_well, text = page()
        return 200 if is_well else 503, text, method == b"GET"

    def _drop(self, one: socket.socket) -> None:
        del self._waiting[one]
        self._ready.unregister(one)
        one.close()


def _answer(one: socket.socket, status: int, text: str, wanted: bool = True) -> None:
    body = text[:_MAX_TEXT].encode()
    allow = "Allow: GET, HEAD\r\n" if status == 405 else ""
    head = (
        f"HTTP/1.1 {status} {_REASONS[status]}\r\n"
        f"Content-Type: text/plain; charset=utf-8\r\nContent-Length: {len(body)}\r\n"
        f"{allow}Connection: close\r\n\r\n"
    )
    with contextlib.suppress(OSError):  # the client has gone
        one.send(head.encode() + (body if wanted else b""), socket.MSG_DONTWAIT)


def _read_head(request: bytes) -> tuple[bytes, bytes]:
    """Method and path; both empty: it is no HTTP."""
    head = _Head()
    parser = httptools.HttpRequestParser(head)
    try:
        with contextlib.suppress(httptools.HttpParserUpgrade):
            parser.feed_data(request)
        url: Any = httptools.parse_url(head.url)
    except (httptools.HttpParserError, httptools.HttpParserInvalidURLError):
        return b"", b""
    return parser.get_method(), url.path or b"/"
