"""What the gRPC face does in a second, beside bare grpcio with the same bytes.

    python benchmarks/grpc_face.py [--seconds 2] [--uvloop]

The server runs on one core, the client on another. `bare` returns a ready answer of the same
length; `messages` also parses and serialises the published messages. A figure is what the server
could do with its core to itself: calls by the CPU time that it used; the wall clock's is beside it.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import grpc
from prometheus_client import CollectorRegistry

from bailiff.bootstrap.process import freeze_start_up
from bailiff.clock import SystemClock
from bailiff.decisions import Options
from bailiff.grpc_api import GrpcSettings, create_server
from bailiff.v1 import eviction_decision_service_pb2 as pb
from bailiff.v1 import kubernetes_pb2 as kube

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from google.protobuf.message import Message

    Context: TypeAlias = grpc.aio.ServicerContext[bytes, bytes]
    Handlers: TypeAlias = dict[str, grpc.RpcMethodHandler[bytes, bytes]]
    Unary: TypeAlias = grpc.aio.UnaryUnaryMultiCallable[bytes, bytes]
    Stream: TypeAlias = grpc.aio.StreamStreamMultiCallable[bytes, bytes]

SERVICE = "bailiff.v1.EvictionDecisionService"
PODS = 100
IN_FLIGHT = 32
STREAMS = 4
KEYS = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


def pod(index: int) -> kube.Pod:
    """As a Deployment makes them, with the default tolerations and some with their own."""
    tolerations = [
        kube.Toleration(key=key, operator="Exists", effect="NoExecute", toleration_seconds=300)
        for key in KEYS
    ]
    if index % 5 == 0:
        tolerations.append(kube.Toleration(key="dedicated", operator="Equal", value="batch"))
    meta = kube.ObjectMeta(
        name=f"web-7d9c5b8f6-{index:05x}", namespace="shop", uid=f"0f3c8a52-77aa-4d5e-{index:016x}"
    )
    meta.creation_timestamp.seconds = 1_780_000_000 + index % 7
    spec = kube.PodSpec(node_name="node-1", tolerations=tolerations)
    return kube.Pod(metadata=meta, spec=spec, status=kube.PodStatus(phase="Running"))


def node() -> kube.Node:
    taint = kube.Taint(key=KEYS[1], effect="NoExecute")
    # Far ahead, so that the answer is EVICT_AT whatever the clock says.
    taint.time_added.seconds = 2_000_000_000
    return kube.Node(metadata=kube.ObjectMeta(name="node-1"), spec=kube.NodeSpec(taints=[taint]))


ONE = pb.DecideRequest(pod=pod(1), node=node(), options=pb.Options(explain=False))
EXPLAINED = pb.DecideRequest(pod=pod(1), node=node())
BATCH = pb.DecideBatchRequest(node=node(), pods=[pod(index) for index in range(PODS)])
STREAMED = pb.DecideStreamRequest(request_id="1", batch=BATCH)
WORK: dict[str, tuple[str, bytes, int]] = {
    "unary": ("Decide", ONE.SerializeToString(), 1),
    "unary, explained": ("Decide", EXPLAINED.SerializeToString(), 1),
    f"batch of {PODS}": ("DecideBatch", BATCH.SerializeToString(), PODS),
    f"stream of {PODS}": ("DecideStream", STREAMED.SerializeToString(), PODS),
}


class Bare:
    """Handlers of one method that know every answer already."""

    def __init__(self, method: str, answers: dict[bytes, bytes], parse: bool) -> None:
        self.answers = answers
        self.parse = parse
        self.request = getattr(pb, f"{method}Request")
        self.response = getattr(pb, f"{method}Response")
        self.ready: dict[bytes, Message] = {}

    async def unary(self, data: bytes, _: object) -> bytes:
        return self.answer(data)

    async def stream(self, requests: AsyncIterator[bytes], context: Context) -> None:
        async for data in requests:
            await context.write(self.answer(data))

    def answer(self, data: bytes) -> bytes:
        if not self.parse:
            return self.answers[data]
        self.request.FromString(data)
        if data not in self.ready:
            self.ready[data] = self.response.FromString(self.answers[data])
        return self.ready[data].SerializeToString()


def bare(
    answers: dict[bytes, bytes], parse: bool
) -> dict[str, grpc.RpcMethodHandler[bytes, bytes]]:
    handlers: dict[str, grpc.RpcMethodHandler[bytes, bytes]] = {
        name: grpc.unary_unary_rpc_method_handler(Bare(name, answers, parse).unary)
        for name in ("Decide", "DecideBatch")
    }
    stream = Bare("DecideStream", answers, parse).stream
    handlers["DecideStream"] = grpc.stream_stream_rpc_method_handler(stream)
    return handlers


async def serve(kind: str) -> None:
    face = create_server(
        GrpcSettings(port=0, max_connection_age_seconds=None),
        SystemClock(),
        CollectorRegistry(),
        Options(),
    )
    port = await face.start()
    if kind != "face":
        answers = await ready_answers(port)
        server = grpc.aio.server()
        server.add_registered_method_handlers(SERVICE, bare(answers, kind == "messages"))
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
    if kind == "face":
        freeze_start_up()  # as `bailiff serve` does, and plain grpcio does not
    print(port, flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    os._exit(0)


async def ready_answers(port: int) -> dict[bytes, bytes]:
    answers = {}
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        for method, data, _ in WORK.values():
            if method == "DecideStream":
                many: Stream = channel.stream_stream(f"/{SERVICE}/{method}")
                answers[data] = b"".join([answer async for answer in many(iter([data]))])
            else:
                one: Unary = channel.unary_unary(f"/{SERVICE}/{method}")
                answers[data] = await one(data)
    return answers


async def load(port: int, method: str, data: bytes, seconds: float) -> int:
    """Calls or messages that were answered."""
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        end = time.monotonic() + seconds
        path = f"/{SERVICE}/{method}"
        if method == "DecideStream":
            calls = [stream(channel.stream_stream(path), data, end) for _ in range(STREAMS)]
        else:
            width = IN_FLIGHT if method == "Decide" else STREAMS
            calls = [repeat(channel.unary_unary(path), data, end) for _ in range(width)]
        return sum(await asyncio.gather(*calls))


async def repeat(call: Unary, data: bytes, end: float) -> int:
    count = 0
    while time.monotonic() < end:
        await call(data)
        count += 1
    return count


async def stream(method: Stream, data: bytes, end: float) -> int:
    call, count = method(), 0
    while time.monotonic() < end:
        await call.write(data)
        await call.read()
        count += 1
    await call.done_writing()
    return count


class Server:
    """A server process on the first core."""

    def __init__(self, kind: str, uvloop: bool) -> None:
        module = [sys.executable, "-m", "benchmarks.grpc_face"]
        command = [*module, "--serve", kind, *["--uvloop"] * uvloop]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline())

    def cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        self.process.communicate("")


async def measure(server: Server, name: str, seconds: float) -> tuple[float, float]:
    """Items a second: by the server's CPU time, by the wall clock."""
    method, data, items = WORK[name]
    await load(server.port, method, data, 0.2)
    cpu, wall = server.cpu_seconds(), time.monotonic()
    done = await load(server.port, method, data, seconds) * items
    return done / (server.cpu_seconds() - cpu), done / (time.monotonic() - wall)


async def compare(seconds: float, uvloop: bool) -> None:
    kinds = ("bare", "messages", "face")
    servers = {kind: Server(kind, uvloop) for kind in kinds}
    print(f"grpcio {grpc.__version__}, decisions/s per core of the server (by the wall clock)")
    try:
        for name in WORK:
            rates = {kind: await measure(servers[kind], name, seconds) for kind in kinds}
            shown = "   ".join(
                f"{k} {cpu:9,.0f} ({wall:9,.0f})" for k, (cpu, wall) in rates.items()
            )
            face = rates["face"][0]
            ratios = ", ".join(f"{face / rates[k][0]:.2f}x {k}" for k in kinds[:2])
            print(f"{name:17} {shown}   face: {ratios}")
    finally:
        for server in servers.values():
            server.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seconds", type=float, default=1.5, help="for each figure, of twelve")
    parser.add_argument("--uvloop", action="store_true")
    parser.add_argument("--serve", choices=("bare", "messages", "face"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[0] if arguments.serve else cores[-1]})
    work = (
        serve(arguments.serve) if arguments.serve else compare(arguments.seconds, arguments.uvloop)
    )
    if arguments.uvloop:
        import uvloop  # noqa: PLC0415 - yardsticks need none

        uvloop.run(work)
    else:
        asyncio.run(work)


if __name__ == "__main__":
    main()
