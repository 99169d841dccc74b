"""`python -m tests.attack.crowd rest|grpc`: twice the connections admitted, for a minute.

Every client asks again as soon as it is answered; one that is refused comes again a second later.
In the middle of it all the server is told to end. Promised is: who is beyond the bound is refused
in the face's own way, whoever is let in is answered in time, the memory stays flat, and no request
that was under way when the server was told to end is lost.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import signal
import struct
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import uvloop

from bailiff.v1 import eviction_decision_service_pb2 as pb
from bailiff.v1 import kubernetes_pb2 as core
from tests.attack.attacks import Port
from tests.attack.cgroup import MIB, why_not
from tests.attack.clients import connected, crowd
from tests.attack.grpc_attacks import SERVICE
from tests.attack.http2 import connect
from tests.attack.http_attacks import request
from tests.attack.stage import Target, serve_alone
from tests.attack.verdict import percentile
from tests.harness.kube.programs import Program

ADMITTED = 1000
# Seconds that a request waits at most before it is refused, and what answering it may take besides.
QUEUE_AGE, MARGIN = 1.0, 0.05
# A request that was sent so long before the signal had been taken by then.
_TAKEN_AFTER = 0.3
_AGAIN = 1.0
_FACTS = b'{"pod":{"metadata":{"name":"p"}},"node":{"metadata":{"name":"n"}}}'


@dataclass
class Tally:
    """What came of all requests.

    Attributes:
        refused: by how the server said so.
        lost: under way when the server was told to end, and never answered.
        told_at: when it was told, on the monotonic clock.
    """

    seconds: list[float] = field(default_factory=list)
    refused: dict[str, int] = field(default_factory=dict)
    lost: int = 0
    told_at: float = float("inf")

    def refuse(self, how: str) -> None:
        """Count one."""
        self.refused[how] = self.refused.get(how, 0) + 1

    def cut(self, sent_at: float | None, how: str) -> None:
        """A connection has ended; `sent_at`: of a request on one that had been let in."""
        self.refuse(how)
        if sent_at is None or time.monotonic() < self.told_at:
            return
        if sent_at < self.told_at - _TAKEN_AFTER:
            self.lost += 1


class RestClient:
    """One that asks over HTTP."""

    def __init__(self, port: int, source: str, tally: Tally) -> None:
        self._port, self._source, self._tally = port, source, tally
        self._sent_at: float | None = None
        self._is_in = False

    async def run(self) -> None:
        """Ask until the connection ends."""
        asked = request("POST", "/v1/decisions", _FACTS)
        self._sent_at, self._is_in = None, False
        try:
            async with connected(self._port, self._source) as (reader, writer):
                while True:
                    writer.write(asked)
                    self._sent_at = time.monotonic()
                    status = await self._status(reader)
                    took, self._sent_at = time.monotonic() - self._sent_at, None
                    if status != "200":
                        self._tally.refuse(status)
                        return
                    self._tally.seconds.append(took)
                    self._is_in = True
        except (OSError, asyncio.IncompleteReadError, TimeoutError) as error:
            self._tally.cut(self._sent_at if self._is_in else None, type(error).__name__)

    async def _status(self, reader: asyncio.StreamReader) -> str:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = head.partition("content-length: ")[2].partition("\r\n")[0]
        await reader.readexactly(int(length or 0))
        return head[9:12]


class GrpcClient:
    """One that asks over gRPC, by frames of its own: thousands of channels would be too many."""

    def __init__(self, port: int, source: str, tally: Tally) -> None:
        self._port, self._source, self._tally = port, source, tally

    async def run(self) -> None:
        """Ask until the connection ends."""
        node = core.Node(metadata=core.ObjectMeta(name="n"))
        asked = pb.DecideRequest(pod=core.Pod(metadata=core.ObjectMeta(name="p")), node=node)
        data = asked.SerializeToString()
        message = struct.pack(">BI", 0, len(data)) + data
        sent_at: float | None = None
        is_in = False
        try:
            async with asyncio.timeout(5):
                connection = await connect(self._port, self._source)
            with contextlib.closing(connection):
                while not connection.gone:
                    stream = connection.open(SERVICE + "Decide")
                    sent_at = time.monotonic()
                    await connection.send(stream, message, end=True)
                    answered = await connection.ended(stream)
                    took, sent_at = time.monotonic() - sent_at, None
                    if not answered:
                        self._tally.refuse("no answer but a status")
                        await asyncio.sleep(_AGAIN)
                        continue
                    self._tally.seconds.append(took)
                    is_in = True
                self._tally.refuse("GOAWAY")
        except (OSError, TimeoutError) as error:
            self._tally.cut(sent_at if is_in else None, type(error).__name__)


async def _again_and_again(act: Callable[[], Awaitable[None]]) -> None:
    while True:
        await act()
        await asyncio.sleep(_AGAIN)


async def run(face: Port, seconds: float) -> bool:
    """Everything; whether all was as promised."""
    tally = Tally()
    kind = RestClient if face is Port.REST else GrpcClient
    prefix = f"BAILIFF_{face.value.upper()}_MAX_CONNECTIONS"
    os.environ |= {prefix: str(ADMITTED), f"{prefix}_PER_PEER": str(ADMITTED)}
    with serve_alone() as target:
        await target.wait()
        port = target.ports[face]
        clients = [kind(port, source, tally) for source in crowd(2 * ADMITTED)]
        tasks = [asyncio.create_task(_again_and_again(one.run)) for one in clients]
        await asyncio.sleep(seconds / 6)
        early = target.cgroup.anonymous
        await asyncio.sleep(seconds * 5 / 6)
        late = target.cgroup.anonymous
        tally.told_at = time.monotonic()
        os.kill(target.program.pid, signal.SIGTERM)
        await _end_of(target.program)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return _told(face, tally, early, late, target)


async def _end_of(program: Program) -> None:
    async with asyncio.timeout(30):
        while program.running:
            await asyncio.sleep(0.1)
    await asyncio.sleep(0.5)


def _told(face: Port, tally: Tally, early: int, late: int, target: Target) -> bool:
    p99 = percentile(tally.seconds, 0.99)
    print(f"{face.value}: {len(tally.seconds):,} answers, p99 {p99 * 1000:.0f} ms")
    print(f"refused: {tally.refused}; lost at the end: {tally.lost}")
    peak, limit = target.cgroup.peak / MIB, target.limit / MIB
    print(f"memory {early / MIB:.0f} -> {late / MIB:.0f} MiB, peak {peak:.0f} of {limit:.0f}")
    flat = late < early * 1.1
    kept = p99 < QUEUE_AGE + MARGIN and tally.lost == 0 and flat and bool(tally.refused)
    print("kept" if kept else "BROKEN")
    return kept


def main() -> int:
    """Exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.attack.crowd")
    parser.add_argument("face", choices=[Port.REST.value, Port.GRPC.value])
    parser.add_argument("--seconds", type=float, default=60.0)
    given = parser.parse_args()
    if reason := why_not():
        print(reason)
        return 3
    return int(not uvloop.run(run(Port(given.face), given.seconds)))


if __name__ == "__main__":
    sys.exit(main())
