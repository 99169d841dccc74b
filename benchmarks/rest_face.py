"""REST: answers a second on one core, beside a bare FastAPI echo and raw ASGI of the same day.

`python -m benchmarks.rest_face`: server and client are pinned to different cores; the servers
take turns, so that a busy machine is busy for all of them. What a caller's token costs is measured
with several pairs of processes, since where the memory of one happens to lie moves its figure by a
fifth; and so is what a trace costs. About 3 minutes.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import statistics
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, cast

import msgspec
import uvicorn
import uvloop
from fastapi import Body, FastAPI
from prometheus_client import CollectorRegistry
from pydantic import BaseModel

from bailiff.access import AccessSettings, Caller, Guard, Right
from bailiff.bootstrap.process import freeze_start_up
from bailiff.clock import SystemClock
from bailiff.decisions import Options
from bailiff.rest_api import RestServer, RestSettings, create_app
from bailiff.rest_api.examples.nodes import ONE_POD
from bailiff.tracing import NO_TRACER, Tracer
from bailiff.tracing.settings import TracingSettings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.types import ASGIApp, Receive, Scope, Send

SERVERS = ("fastapi-echo", "raw-asgi", "bailiff", "bailiff-token")
# By how many of a million traces each keeps.
TRACED = {"bailiff-traced": 1_000_000, "bailiff-sampled": 10_000}
# As long as one of a service account, which is a JSON Web Token.
TOKEN = "t" * 1000
CONNECTIONS = 16
ROUNDS = 3
PAIRS = 9
SECONDS = 1.2
WARM_UP = 0.3
BATCH = 100
LENGTH = re.compile(rb"content-length: (\d+)")

POD, NODE = ONE_POD["timed"].body["pod"], ONE_POD["timed"].body["node"]
ONE = msgspec.json.encode(ONE_POD["timed"].body)
MANY = msgspec.json.encode({"node": NODE, "pods": [POD] * BATCH, "now": "2026-05-04T12:00:00Z"})


class Toleration(BaseModel):
    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    tolerationSeconds: int | None = None  # noqa: N815 - Kubernetes' name


class Question(BaseModel):
    """The body as a FastAPI program would have it."""

    class Pod(BaseModel):
        class Spec(BaseModel):
            nodeName: str = ""  # noqa: N815 - Kubernetes' name
            tolerations: list[Toleration] = []

        metadata: dict[str, Any] = {}
        spec: Spec = Spec()
        status: dict[str, Any] = {}

    pod: Pod
    node: dict[str, Any]
    now: str | None = None


def fastapi_echo() -> FastAPI:
    app = FastAPI()

    @app.post("/v1/decisions")
    async def echo(question: Annotated[Question, Body()]) -> Question:
        return question

    return app


def raw_asgi() -> ASGIApp:
    async def app(_scope: Scope, receive: Receive, send: Send) -> None:
        message = await receive()
        answer = Question.model_validate_json(message["body"]).model_dump_json().encode()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(answer)).encode()),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": answer})

    return app


class Reviewer:
    """An API server that knows everybody; it is asked once, and then its answer is kept."""

    async def who(self, token: str) -> Caller:  # noqa: ARG002 - everybody
        await asyncio.sleep(0.001)
        return Caller(name="system:serviceaccount:shop:drainer")

    async def may(self, caller: Caller, right: Right) -> bool:  # noqa: ARG002 - as above
        return True


def knowing_guard() -> Guard:
    # The quota is far above what one client can ask.
    settings = AccessSettings(
        max_requests_per_second=1e9, max_burst_requests=10**9, max_burst_bytes=10**12
    )
    return Guard(settings, SystemClock(), reviewer=Reviewer())


def tracer_of(per_million: int) -> Tracer:
    """One whose spans are encoded and thrown away, as a collector on another machine has it."""
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import (  # noqa: PLC0415
        encode_spans,
    )
    from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult  # noqa: PLC0415

    from bailiff.tracing.sending import Told, Tracing  # noqa: PLC0415 - where it is measured alone

    class Encoded(SpanExporter):
        def export(self, spans: Any) -> SpanExportResult:  # noqa: ANN401 - the SDK's
            encode_spans(spans).SerializeToString()
            return SpanExportResult.SUCCESS

    settings = TracingSettings(endpoint="http://nowhere", per_million=per_million)
    told = Told(lambda fate, spans: None, lambda event, **facts: None)  # noqa: ARG005
    return Tracing(settings, "bench", told, Encoded()).tracer


async def serve(name: str) -> None:
    """Serve until standard input ends; the first line printed is the port."""
    if name.startswith("bailiff"):
        settings = RestSettings(port=0)
        guard = knowing_guard() if name == "bailiff-token" else None
        tracer = tracer_of(TRACED[name]) if name in TRACED else NO_TRACER
        given = (settings, SystemClock(), CollectorRegistry(), Options())
        app = create_app(*given, guard=guard, tracer=tracer)
        server = RestServer(app, settings)
        port = await server.start()
        freeze_start_up()  # as `bailiff serve` does, and a plain FastAPI application does not
        print(port, flush=True)
    else:
        plain_app = fastapi_echo() if name == "fastapi-echo" else raw_asgi()
        config = uvicorn.Config(
            plain_app,
            port=0,
            http="httptools",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
        )
        config.load()
        plain = uvicorn.Server(config)
        plain.lifespan = config.lifespan_class(config)
        await plain.startup()
        print(plain.servers[0].sockets[0].getsockname()[1], flush=True)
        asyncio.get_running_loop().create_task(plain.main_loop())
    await asyncio.to_thread(sys.stdin.read)
    os._exit(0)


class Server(NamedTuple):
    """A server under load."""

    port: int
    pid: int

    def cpu_seconds(self) -> float:
        """User and system time so far; proc(5)."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Run(NamedTuple):
    """What one server did in one turn."""

    per_second: float
    per_cpu_second: float
    p99_ms: float


@contextmanager
def started(name: str, core: int) -> Iterator[Server]:
    program = [sys.executable, "-m", "benchmarks.rest_face", "--serve", name, "--core", str(core)]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield Server(int(process.stdout.readline()), process.pid)
        finally:
            process.stdin.close()


class Client(asyncio.Protocol):
    """One connection: the next request goes out when the last answer is in."""

    def __init__(self, request: bytes, seconds: list[float]) -> None:
        self._request = request
        self._seconds = seconds
        self._buffer = b""
        self._sent = 0.0
        self.stopping = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self._send()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        end = self._buffer.find(b"\r\n\r\n")
        length = LENGTH.search(self._buffer, 0, end) if end > 0 else None
        if length is None or len(self._buffer) < end + 4 + int(length[1]):
            return
        assert self._buffer.startswith(b"HTTP/1.1 200"), self._buffer
        self._buffer = b""
        self._seconds.append(time.perf_counter() - self._sent)
        if not self.stopping:
            self._send()

    def _send(self) -> None:
        self._sent = time.perf_counter()
        self.transport.write(self._request)


async def load(server: Server, request: bytes, seconds: float) -> Run:
    """Ask as fast as CONNECTIONS can."""
    taken: list[float] = []
    loop = asyncio.get_running_loop()
    clients = [
        (await loop.create_connection(lambda: Client(request, taken), "127.0.0.1", server.port))[1]
        for _ in range(CONNECTIONS)
    ]
    await asyncio.sleep(WARM_UP)
    taken.clear()
    begun, cpu = time.perf_counter(), server.cpu_seconds()
    await asyncio.sleep(seconds)
    answers, begun, cpu = len(taken), time.perf_counter() - begun, server.cpu_seconds() - cpu
    p99 = statistics.quantiles(taken, n=100)[98] * 1000
    for client in clients:
        client.stopping = True
        client.transport.close()
    await asyncio.sleep(0.05)
    return Run(answers / begun, answers / cpu, p99)


def request(path: str, body: bytes, *, token: str = "") -> bytes:
    bearer = f"Authorization: Bearer {token}\r\n" if token else ""
    head = (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"{bearer}Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def measure() -> None:
    server_core, client_core = sorted(os.sched_getaffinity(0))[:2]
    os.sched_setaffinity(0, {client_core})
    one, many = request("/v1/decisions", ONE), request("/v1/decisions/batch", MANY)
    results: dict[str, list[Run]] = {}
    with ExitStack() as stack:
        servers = {name: stack.enter_context(started(name, server_core)) for name in SERVERS}
        known = request("/v1/decisions", ONE, token=TOKEN)
        asked_of = {"bailiff-token": known}
        tasks = [(name, servers[name], asked_of.get(name, one)) for name in SERVERS]
        tasks.append((f"bailiff, {BATCH} a batch", servers["bailiff"], many))
        for _ in range(ROUNDS):
            for name, server, asked in tasks:
                outcome = uvloop.run(load(server, asked, SECONDS))
                results.setdefault(name, []).append(outcome)
    show(results)
    ratios = sorted(ratio(server_core, "bailiff-token", one, known) for _ in range(PAIRS))
    print(
        f"an answer to a caller whose token is kept takes {statistics.median(ratios):.2f} times the"
        f" CPU, median of {PAIRS} pairs of processes ({ratios[0]:.2f} to {ratios[-1]:.2f})"
    )
    for name, kept in TRACED.items():
        ratios = sorted(ratio(server_core, name, one, one) for _ in range(PAIRS))
        print(
            f"with {kept / 10_000:g} % of traces kept an answer takes"
            f" {statistics.median(ratios):.2f} times the CPU, likewise"
            f" ({ratios[0]:.2f} to {ratios[-1]:.2f})"
        )


def ratio(core: int, name: str, asked: bytes, known: bytes) -> float:
    """CPU of an answer of one server, beside one of the plain one, of two new processes."""
    with started("bailiff", core) as bare, started(name, core) as asking:
        answers: tuple[list[float], list[float]] = [], []
        for _ in range(ROUNDS):
            for of, server, question in zip(answers, (bare, asking), (asked, known), strict=True):
                of.append(uvloop.run(load(server, question, SECONDS / 2)).per_cpu_second)
    return statistics.median(answers[0]) / statistics.median(answers[1])


def show(results: dict[str, list[Run]]) -> None:
    """The medians. Where the client is too slow for a server, its CPU time still tells."""
    middle = {
        name: Run(*map(statistics.median, zip(*r, strict=True))) for name, r in results.items()
    }
    echo = middle["fastapi-echo"]
    print(f"one core, {CONNECTIONS} connections, body {len(ONE)} bytes, median of {ROUNDS} runs")
    for name, run in middle.items():
        times = BATCH if name.endswith("batch") else 1
        print(
            f"{name:22} {run.per_second * times:9,.0f} answers/s"
            f" {run.per_cpu_second * times:9,.0f} a CPU second, p99 {run.p99_ms:6.2f} ms;"
            f" {run.per_second * times / echo.per_second:5.2f}x echo,"
            f" by CPU {run.per_cpu_second * times / echo.per_cpu_second:5.2f}x"
        )


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--serve", choices=(*SERVERS, *TRACED))
    arguments.add_argument("--core", type=int, default=0)
    given = arguments.parse_args()
    if given.serve is None:
        measure()
        return
    os.sched_setaffinity(0, {given.core})
    uvloop.run(serve(given.serve))


if __name__ == "__main__":
    main()
